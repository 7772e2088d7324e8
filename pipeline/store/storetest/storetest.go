// Package storetest gives tests their databases: a fresh one per call, on SQLite and on PostgreSQL.
//
// PostgreSQL is a server of the test's own, started once per process from the binaries in PATH or in
// /usr/lib/postgresql/*/bin, with its data in a temporary folder and a Unix socket instead of a port. It ends with the
// process, however that ends. If SHEETLIFT_TEST_POSTGRES holds the URL of a server (pgtest sets it to share one server
// among many packages), databases are made there instead.
//
// Without binaries tests of PostgreSQL are skipped and say so; they fail if CI or SHEETLIFT_REQUIRE_POSTGRES is set.
package storetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// URLVariable names the environment variable with the URL of a server to use.
const URLVariable = "SHEETLIFT_TEST_POSTGRES"

// Each runs fn as a subtest on a fresh database of each engine.
func Each(t *testing.T, fn func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { fn(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { fn(t, Postgres(t)) })
}

// SQLite is the URL of a database file that does not exist yet, in a folder that goes with the test.
func SQLite(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "test.db")
}

// Postgres is the URL of a fresh, empty database, dropped after the test. Its default collation sorts "a" before "B", other
// than bytes do, so that a query that leans on the collation is found.
func Postgres(t testing.TB) string {
	t.Helper()
	admin := server(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	name := "t_" + randomName()
	if err := adminExec(ctx, admin, `CREATE DATABASE `+name+` TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`); err != nil {
		// Built without ICU, or older than version 15.
		if err := adminExec(ctx, admin, `CREATE DATABASE `+name+` TEMPLATE template0 ENCODING 'UTF8'`); err != nil {
			t.Fatalf("storetest: create a database: %v", err)
		}
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := adminExec(ctx, admin, `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`); err != nil {
			t.Errorf("storetest: drop the database: %v", err)
		}
	})
	u, err := url.Parse(admin)
	if err != nil {
		t.Fatalf("storetest: the server's URL cannot be read")
	}
	u.Path = "/" + name
	return u.String()
}

// Main runs a package's tests and stops the server before the process ends. Tests do without it too (the server notices),
// but with it nothing runs on after them.
func Main(m *testing.M) {
	code := m.Run()
	shared.stop()
	os.Exit(code)
}

// shared is this process's server.
var shared struct {
	sync.Mutex
	tried   bool
	cluster *Cluster
	err     error
	stop    func()
}

func init() { shared.stop = stopShared }

func stopShared() {
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster != nil {
		_ = shared.cluster.Stop()
		shared.cluster = nil
	}
}

func server(t testing.TB) string {
	t.Helper()
	if admin := os.Getenv(URLVariable); admin != "" {
		return admin
	}
	shared.Lock()
	defer shared.Unlock()
	if !shared.tried {
		shared.tried = true
		shared.cluster, shared.err = Start()
	}
	if shared.err != nil {
		if os.Getenv("CI") != "" || os.Getenv("SHEETLIFT_REQUIRE_POSTGRES") != "" {
			t.Fatalf("storetest: PostgreSQL is required here: %v", shared.err)
		}
		t.Skipf("storetest: NOT TESTED ON POSTGRESQL: %v", shared.err)
	}
	return shared.cluster.URL
}

func adminExec(ctx context.Context, admin, sql string) error {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

func randomName() string {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
