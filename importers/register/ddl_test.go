package register

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheetlift/importers"
)

// TestMigrationsFollowEntities holds the first migration of both engines to the entity table. When a field is added, a later migration
// adds its column and this test's expectation becomes the sum of both.
func TestMigrationsFollowEntities(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		path := filepath.Join("..", "..", "pipeline", "store", "migrations", engine, "00001_register.sql")
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range importers.Entities {
			e := &importers.Entities[i]
			for _, table := range e.Tables {
				want := ddl(e, table, engine)
				if !strings.Contains(string(got), want) {
					t.Errorf("%s: table %s is not as the entity table says; want\n%s", path, table, want)
				}
			}
		}
		if os.Getenv("PRINT_DDL") != "" {
			for i := range importers.Entities {
				for _, table := range importers.Entities[i].Tables {
					fmt.Println(ddl(&importers.Entities[i], table, engine))
				}
			}
		}
	}
}
