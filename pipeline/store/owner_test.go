package store

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tableInSQL finds table names after SQL keywords, which are written in capitals here, also in the pieces of a text that is
// put together.
var tableInSQL = regexp.MustCompile(`\b(?:FROM|JOIN|INTO|UPDATE|TABLE)\s+"?([a-z_]+)"?`)

// foreignTables are the tables in an SQL text that belong to another package than dir.
func foreignTables(sql, dir string, owner map[string]string) (foreign []string) {
	for _, m := range tableInSQL.FindAllStringSubmatch(sql, -1) {
		if o := owner[m[1]]; o != "" && o != dir {
			foreign = append(foreign, m[1]+" of "+o)
		}
	}
	return foreign
}

// Each concept's tables are named by its own SQL only: whoever else needs them calls its functions. Tests may look.
func TestSQLNamesOwnTablesOnly(t *testing.T) {
	owner := owners(t, "sqlite")
	for sql, want := range map[string]int{
		"SELECT 1 FROM operations": 1, "\n\tUPDATE operations SET x = 1": 1, "SELECT a FROM x JOIN checkpoints c ON c.a = x.a": 1, " FROM operations": 1, "update operations please": 0,
	} {
		if got := foreignTables(sql, "pipeline/other", owner); len(got) != want {
			t.Errorf("%q: found %v, want %d", sql, got, want)
		}
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") && file != root {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				return true
			}
			for _, table := range foreignTables(text, filepath.ToSlash(dir), owner) {
				t.Errorf("%s: its SQL names table %s", set.Position(lit.Pos()), table)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
