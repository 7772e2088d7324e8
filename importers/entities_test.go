package importers_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"sheetlift/importers"
)

var updateEntities = flag.Bool("update-entities", false, "write docs/entities.md from the entity table")

// TestEntitiesPage holds docs/entities.md to the entity table.
func TestEntitiesPage(t *testing.T) {
	const path = "../docs/entities.md"
	want := entitiesPage()
	if *updateEntities {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/entities.md is not what the entity table says: go test ./importers -run EntitiesPage -update-entities")
	}
}

func entitiesPage() string {
	var b strings.Builder
	b.WriteString(`# Entities and their fields

What a batch can bring into the register, in the order of import. A mapping names these fields; the register's tables have them as
columns. Personal data of the class "none" may appear in reports as it is, everything else never does. "Stands for" names the ISO/IEC
TS 27560 field through the W3C DPV guide, or the letter of GDPR Article 30(1).
`)
	for i := range importers.Entities {
		e := &importers.Entities[i]
		fmt.Fprintf(&b, "\n## %s\n\n%s Stored in `%s`.\n\n| field | type | max | personal data | meaning | stands for |\n|---|---|---|---|---|---|\n", e.Name, e.Doc, strings.Join(e.Tables, "`, `"))
		for j := range e.Fields {
			f := &e.Fields[j]
			name, max, doc := "`"+f.Name+"`", "", f.Doc
			if f.Required {
				name += " (required)"
			}
			if f.Max > 0 {
				max = fmt.Sprint(f.Max)
			}
			if len(f.Terms) > 0 {
				var terms []string
				for _, term := range f.Terms {
					terms = append(terms, term.Name)
				}
				doc += ": " + strings.Join(terms, ", ")
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", name, f.Type, max, strings.ReplaceAll(string(f.Data), "_", " "), doc, f.Std)
		}
	}
	return b.String()
}
