package store

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"sheetlift/pipeline/store/storetest"
)

// migrated gives a fresh database with all tables.
func migrated(t *testing.T, url string) *DB {
	t.Helper()
	db := opened(t, url)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

func opened(t *testing.T, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// ownerLine is the first line of a migration: the import path of the concept that owns its tables.
var ownerLine = regexp.MustCompile(`^-- owner: ([a-z]+(?:/[a-z]+)*)$`)

var createTable = regexp.MustCompile(`(?m)^CREATE TABLE (?:IF NOT EXISTS )?"?([a-z_]+)"?`)

// owners reads who owns which table from the migrations of an engine.
func owners(t *testing.T, engine string) map[string]string {
	t.Helper()
	files, err := fs.Glob(migrations, path.Join("migrations", engine, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations of %s (%v)", engine, err)
	}
	owner := map[string]string{}
	for _, file := range files {
		data, err := fs.ReadFile(migrations, file)
		if err != nil {
			t.Fatal(err)
		}
		first, rest, _ := bytes.Cut(data, []byte("\n"))
		m := ownerLine.FindSubmatch(first)
		if m == nil {
			t.Errorf("%s: its first line names no owner (-- owner: PACKAGE)", file)
			continue
		}
		for _, table := range createTable.FindAllSubmatch(rest, -1) {
			owner[string(table[1])] = string(m[1])
		}
	}
	return owner
}

func TestMigrationsNameTheirOwner(t *testing.T) {
	lite, pg := owners(t, "sqlite"), owners(t, "postgres")
	for table, owner := range lite {
		if pg[table] != owner {
			t.Errorf("table %s: owner %q on SQLite, %q on PostgreSQL", table, owner, pg[table])
		}
	}
	for table := range pg {
		if lite[table] == "" {
			t.Errorf("table %s is not on SQLite", table)
		}
	}
}

// The schemas that the migrations really make are the same: tables, columns, order, types, NOT NULL.
func TestEnginesHaveTheSameTables(t *testing.T) {
	lite, pg := migrated(t, storetest.SQLite(t)), migrated(t, storetest.Postgres(t))
	ctx := t.Context()
	a, err := lite.Tables(ctx)
	if err != nil {
		t.Fatal(err)
	}
	b, err := pg.Tables(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(a) == 0 || !slices.Equal(a, b) {
		t.Errorf("tables on SQLite %v, on PostgreSQL %v", a, b)
	}
	owner := owners(t, "sqlite")
	for _, table := range a {
		if owner[table] == "" {
			t.Errorf("table %s has no owner", table)
		}
		ca, err := lite.Columns(ctx, table)
		if err != nil {
			t.Fatal(err)
		}
		cb, err := pg.Columns(ctx, table)
		if err != nil {
			t.Fatal(err)
		}
		if len(ca) == 0 || !slices.Equal(ca, cb) {
			t.Errorf("table %s:\nSQLite     %v\nPostgreSQL %v", table, ca, cb)
		}
	}
	if c, err := lite.Columns(ctx, "none"); err != nil || c != nil {
		t.Errorf("columns of no table: %v, %v", c, err)
	}
	err = lite.View(ctx, func(tx *Tx) error {
		loose, err := scanNames(ctx, tx, `SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict = 0 AND type = 'table'
			AND name NOT LIKE 'sqlite%' AND name <> 'goose_db_version'`)
		if len(loose) > 0 {
			t.Errorf("SQLite tables that are not STRICT: %v", loose)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Text sorts by bytes on both engines, or results would depend on the database they were made with.
func TestTextSortsByBytes(t *testing.T) {
	db := migrated(t, storetest.Postgres(t))
	err := db.View(t.Context(), func(tx *Tx) error {
		names, err := scanNames(t.Context(), tx, `
			SELECT table_name || '.' || column_name FROM information_schema.columns
			WHERE table_schema = current_schema() AND data_type = 'text' AND COALESCE(collation_name, '') <> 'C'`)
		for _, name := range names {
			t.Errorf(`column %s sorts by locale; write TEXT COLLATE "C"`, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestManyStarters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		const starters = 5
		var wg sync.WaitGroup
		for range starters {
			db := opened(t, url)
			wg.Go(func() {
				if err := db.Migrate(t.Context()); err != nil {
					t.Errorf("migrate: %v", err)
				}
			})
		}
		wg.Wait()
		db := opened(t, url)
		if tables, err := db.Tables(t.Context()); err != nil || len(tables) < 2 {
			t.Errorf("tables %v, %v", tables, err)
		}
		if err := db.Migrate(t.Context()); err != nil {
			t.Errorf("migrate once more: %v", err)
		}
	})
}

func TestMigrationsThatFail(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		ctx := t.Context()
		db := opened(t, url)
		one := &fstest.MapFile{Data: []byte("-- owner: a\n-- +goose Up\nCREATE TABLE one (id TEXT NOT NULL PRIMARY KEY);\n")}
		two := &fstest.MapFile{Data: []byte("-- owner: a\n-- +goose Up\nCREATE TABLE two (id TEXT NOT NULL PRIMARY KEY);\nINSERT INTO nowhere VALUES (1);\n")}
		err := db.migrate(ctx, fstest.MapFS{"00001_one.sql": one, "00002_two.sql": two})
		var mapped *Error
		if !errors.As(err, &mapped) || !strings.Contains(err.Error(), "00002_two.sql") {
			t.Errorf("failing migration: got %v, want an *Error that names the file", err)
		}
		tables, err := db.Tables(ctx)
		if err != nil || !slices.Equal(tables, []string{"one"}) {
			t.Errorf("tables %v (%v), want the first migration whole and nothing of the second", tables, err)
		}
		two.Data = []byte("-- owner: a\n-- +goose Up\nCREATE TABLE two (id TEXT NOT NULL PRIMARY KEY);\n")
		if err := db.migrate(ctx, fstest.MapFS{"00001_one.sql": one, "00002_two.sql": two}); err != nil {
			t.Errorf("mended migration: %v", err)
		}
		if err := db.migrate(ctx, fstest.MapFS{"00001_one.sql": one}); !errors.Is(err, ErrSchema) {
			t.Errorf("older program: got %v, want ErrSchema", err)
		}
		if err := db.migrate(ctx, fstest.MapFS{}); err != nil {
			t.Errorf("no migrations: %v", err)
		}
	})
}
