// Package sheetlift_test holds the arrows of the house: who may import whom, who names a database driver, and whose SQL names
// which table.
package sheetlift_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "sheetlift"

type arrow struct {
	pkg    string
	may    []string
	reason string
}

// arrows lists, leaves first, which packages of ours a package may import. The first line that matches a package holds;
// "x/..." is x and all below it. A package that no line matches has no place in the house yet: give it one here.
var arrows = []arrow{
	{"manifests", nil, "frozen bytes and signatures must be checkable without knowing what they mean"},
	{"pipeline/finding", nil, "every stage speaks of findings, so findings know no stage"},
	{"pipeline/store/...", []string{"pipeline/store/..."}, "the database knows rows, and nothing of what they stand for"},
	{"mappings/strictyaml", nil, "a way to read YAML, whatever it configures"},
	{"importers/hugepage", nil, "advice about memory, whatever lies in it"},
	{"importers/memfile", nil, "memory, whatever lies in it"},
	{"importers/digest", nil, "digests of bytes, whatever they mean"},
	{"importers", []string{"importers/hugepage", "importers/memfile"}, "the rules of consent are pure: no file, no database, no mapping can bend them"},
	{"importers/source/...", []string{"importers/source/...", "importers/hugepage", "importers/digest"}, "reading a file must not depend on what its rows are for"},
	{"importers/staged", []string{"importers"}, "staged bytes hold entities, and know neither where they came from nor where they go"},
	{"mappings/...", []string{"mappings/...", "importers", "importers/memfile", "importers/source", "importers/staged", "pipeline/finding", "manifests"}, "a mapping turns blocks into staged records and findings; it reaches no database, so a dry-run can't write"},
	{"importers/register", []string{"importers", "importers/digest", "importers/staged", "manifests", "pipeline/store", "pipeline/finding"}, "the register loads staged records and never looks back at source or mapping"},
	{"pipeline/ledger", []string{"pipeline/store", "manifests"}, "the ledger proves that operations happened, whatever they do"},
	{"pipeline", []string{"manifests", "pipeline/finding", "pipeline/store", "pipeline/ledger", "importers/...", "mappings/..."}, "stages join everything below, and nothing that prints"},
	{"reports/...", []string{"reports/...", "pipeline", "pipeline/finding", "importers", "importers/source"}, "results are rendered from values; a report that asked the database could say something else than the run"},
	{"cmd/sheetlift/early", nil, "it must be initialized before anything that takes time"},
	{"cmd/sheetlift", []string{"reports/...", "pipeline", "pipeline/finding", "pipeline/store", "pipeline/ledger", "manifests", "importers/...", "mappings/..."}, "the program wires; nothing imports it"},
	{"samples/...", []string{"importers", "manifests", "mappings/...", "samples/..."}, "the sample generator writes files, and must not share code with what reads them"},
	{"tools/...", nil, "tools work on any module"},
}

func TestArrows(t *testing.T) {
	for _, p := range packages(t) {
		i := slices.IndexFunc(arrows, func(a arrow) bool { return matches(a.pkg, p.dir) })
		if i < 0 {
			t.Errorf("%s has no place in the house: add it to arrows with its reason", p.dir)
			continue
		}
		for imported, file := range p.imports {
			inner, ours := strings.CutPrefix(imported, module+"/")
			if ours && !slices.ContainsFunc(arrows[i].may, func(pattern string) bool { return matches(pattern, inner) }) {
				t.Errorf("%s imports %s; %s may not, because %s", file, imported, p.dir, arrows[i].reason)
			}
		}
	}
}

// Nothing calls back up: the order of the table is an order of the packages.
func TestArrowsPointDown(t *testing.T) {
	for i, a := range arrows {
		for _, b := range arrows[i+1:] {
			for _, pattern := range a.may {
				if pattern != a.pkg && matches(pattern, strings.TrimSuffix(b.pkg, "/...")) {
					t.Errorf("%s may import %s, which comes after it", a.pkg, b.pkg)
				}
			}
		}
	}
}

func TestOnlyTheStoreNamesADriver(t *testing.T) {
	drivers := []string{"database/sql/...", "github.com/jackc/pgx/...", "github.com/lib/pq/...", "github.com/mattn/go-sqlite3/...",
		"github.com/pressly/goose/...", "modernc.org/sqlite/...", "zombiezen.com/go/sqlite/..."}
	for _, p := range packages(t) {
		if matches("pipeline/store/...", p.dir) {
			continue
		}
		for imported, file := range p.imports {
			if slices.ContainsFunc(drivers, func(d string) bool { return matches(d, imported) }) {
				t.Errorf("%s imports %s; only pipeline/store may, so that one set of queries runs on both engines and errors carry one set of kinds", file, imported)
			}
		}
	}
}

func TestTheRulesOfConsentArePure(t *testing.T) {
	outside := []string{"os/...", "io/...", "net/http/...", "database/sql/...", "log/...", "math/rand/...", "crypto/rand"}
	for _, p := range packages(t) {
		if p.dir != "importers" {
			continue
		}
		for imported, file := range p.imports {
			if slices.ContainsFunc(outside, func(o string) bool { return matches(o, imported) }) {
				t.Errorf("%s imports %s; what a row proves must depend on nothing but the row and its configuration", file, imported)
			}
		}
		for _, file := range p.files {
			ast.Inspect(file.tree, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Now" {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
						t.Errorf("%s reads the clock; the instant is an argument", file.name)
					}
				}
				return true
			})
		}
	}
}

// Each concept owns its tables: a migration's first line names the owner, and nobody else's SQL names the tables.
func TestSQLNamesOnlyTablesOfItsOwner(t *testing.T) {
	owner := owners(t, "sqlite")
	if other := owners(t, "postgres"); !maps.Equal(owner, other) {
		t.Errorf("the engines' migrations differ in tables or owners: %v and %v", owner, other)
	}
	if len(owner) == 0 {
		t.Fatal("no tables found: this test looks in the wrong place")
	}
	named := regexp.MustCompile(`\b(?:FROM|INTO|UPDATE|JOIN|TABLE|ONLY)\s+"?([a-z_]+)`)
	for _, p := range packages(t) {
		for _, file := range p.files {
			ast.Inspect(file.tree, func(n ast.Node) bool {
				var tables []string
				switch n := n.(type) {
				case *ast.BasicLit:
					if n.Kind == token.STRING {
						for _, m := range named.FindAllStringSubmatch(n.Value, -1) {
							tables = append(tables, m[1])
						}
					}
				case *ast.CallExpr: // tx.Load(ctx, "table", …)
					if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Load" {
						for _, arg := range n.Args {
							if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
								if table, err := strconv.Unquote(lit.Value); err == nil {
									tables = append(tables, table)
								}
							}
						}
					}
				}
				for _, table := range tables {
					if who, ok := owner[table]; ok && who != p.dir {
						t.Errorf("%s names table %s, which %s owns; ask its package", file.name, table, who)
					}
				}
				return true
			})
		}
	}
}

// owners reads the owner of each table from the migrations of an engine.
func owners(t *testing.T, engine string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("pipeline", "store", "migrations", engine, "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	create := regexp.MustCompile(`(?mi)^\s*CREATE TABLE (?:IF NOT EXISTS )?([a-z_]+)`)
	out := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(data), "\n")
		who, ok := strings.CutPrefix(first, "-- owner: ")
		if !ok {
			t.Errorf("%s: the first line must name the owner: -- owner: PACKAGE", file)
			continue
		}
		who = strings.TrimSpace(who)
		if st, err := os.Stat(filepath.FromSlash(who)); err != nil || !st.IsDir() {
			t.Errorf("%s: owner %q is no package", file, who)
		}
		for _, m := range create.FindAllStringSubmatch(string(data), -1) {
			out[m[1]] = who
		}
	}
	return out
}

type goFile struct {
	name string
	tree *ast.File
}

type goPackage struct {
	dir     string            // slash-separated, relative to the module
	imports map[string]string // import path to a file that has it
	files   []goFile
}

// packages parses the non-test files of the module, whatever their build constraints.
func packages(t *testing.T) []*goPackage {
	t.Helper()
	found := map[string]*goPackage{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || base == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		dir := path.Dir(filepath.ToSlash(name))
		if !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go") || dir == "." {
			return nil
		}
		tree, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		p := found[dir]
		if p == nil {
			p = &goPackage{dir: dir, imports: map[string]string{}}
			found[dir] = p
		}
		p.files = append(p.files, goFile{name, tree})
		for _, spec := range tree.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			p.imports[imported] = name
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Fatalf("only %d packages found: this test looks in the wrong place", len(found))
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *goPackage) int { return strings.Compare(a.dir, b.dir) })
}

// matches reports whether a path is the pattern, or below it when the pattern ends in "/...".
func matches(pattern, name string) bool {
	if parent, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == parent || strings.HasPrefix(name, parent+"/")
	}
	return pattern == name
}
