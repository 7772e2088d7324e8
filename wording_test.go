package sheetlift_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// things are the words that messages count with.
const things = `rows|words|keys|cells|records|files|sheets|columns|errors|warnings|infos|findings|values|dates|numbers|places|sources|receipts|` +
	`lines|bytes|decisions|hazards|entries|requests|consents|characters|assertions|results|cases|rules|snapshots|signs|seconds|days|hours`

var (
	countedThings = regexp.MustCompile(`(\S+ )?(\S+ )?%(?:\[\d+\])?[dsv] (?:of %d |[a-z-]+ )?(?:` + things + `)\b[^/]`)
	thingsAfter   = regexp.MustCompile(`^ (?:` + strings.NewReplacer("|bytes", "", "|entries", "").Replace(things) + `)\b`) // those two stand beyond limits
	templateCount = regexp.MustCompile(`\{\{(?:num|big) [^{}]*\}\} (?:` + things + `)\b`)
	limitBefore   = regexp.MustCompile(`(?:than|most|within|first|least|[Aa]t most) (?:\S+ )?%`)
)

// plainNumbers are messages whose number is never 1, or that are none for users.
var plainNumbers = []string{
	"the file has %d bytes; at most", // more than a limit
	"destinations for %d columns",    // faults of the program
	"parameter $%d, but %d arguments", "the statement has %d parameters",
	"staged file %s has %d columns", // of an entity: many
	"%s words or addresses of samples",
	"stored as text, %d as numbers", "%s: %s as numbers",
	"dated consents say",     // ten and more
	" rows will be rejected", // its rows, their rows
	" characters; ",          // more than a limit
}

// Messages that count have the word for one and for several: see finding.Count. "1 rows" reads as a slip, in a report that asks for trust.
func TestMessagesCountInWords(t *testing.T) {
	for _, p := range packages(t) {
		if matches("tools/...", p.dir) || matches("samples/...", p.dir) || strings.HasPrefix(p.dir, "samples") {
			continue
		}
		for _, file := range p.files {
			if strings.HasSuffix(file.name, "_test.go") {
				continue
			}
			ast.Inspect(file.tree, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BasicLit:
					if n.Kind != token.STRING || slices.ContainsFunc(plainNumbers, func(s string) bool { return strings.Contains(n.Value, s) }) {
						return true
					}
					if m := countedThings.FindString(n.Value); m != "" && !limitBefore.MatchString(m) {
						t.Errorf("%s: %s counts in one word for one and for several: use finding.Count", file.name, n.Value)
					}
				case *ast.BinaryExpr: // strconv.Itoa(n) + " rows"
					lit, ok := n.Y.(*ast.BasicLit)
					if ok && n.Op == token.ADD && lit.Kind == token.STRING && thingsAfter.MatchString(strings.Trim(lit.Value, "\"`")) && !limited(n.X) && !slices.Contains(plainNumbers, strings.Trim(lit.Value, "\"`")) {
						t.Errorf("%s: %s after a number: use finding.Count", file.name, lit.Value)
					}
				}
				return true
			})
		}
	}
	page, err := os.ReadFile(filepath.Join("reports", "review", "page.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range templateCount.FindAllString(string(page), -1) {
		t.Errorf("page.html: %s: use count", m)
	}
}

// limited reports whether a text that is put together says "more than" or the like before its number.
func limited(x ast.Expr) bool {
	b, ok := x.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	lit, ok := b.X.(*ast.BasicLit)
	return ok && regexp.MustCompile(`(?:than|most) "$`).MatchString(lit.Value)
}

var saysOne = regexp.MustCompile(`(?:^|[^0-9.,:#-])1 (?:` + things + `)\b`)

// What the documents and the tests' golden files show reads the same.
func TestNothingSaysOneOfMany(t *testing.T) {
	for _, dir := range []string{"README.md", "CHANGELOG.md", "docs", "samples", filepath.Join("reports", "testdata"), filepath.Join("cmd", "sheetlift", "testdata")} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !slices.Contains([]string{".md", ".txt", ".txtar", ".yaml", ".json"}, filepath.Ext(path)) {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for i, line := range strings.Split(string(data), "\n") {
				if m := saysOne.FindString(line); m != "" {
					t.Errorf("%s:%d: %q", path, i+1, m)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
