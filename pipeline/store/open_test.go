package store_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

func TestURLs(t *testing.T) {
	const password = "hunter2secret"
	for _, url := range []string{
		"", "register.db", "sqlite:", "sqlite::memory:", "sqlite:file:x.db?mode=memory", "sqlite:x.db?_pragma=synchronous(0)", "sqlite:x\x00",
		"mysql://u:" + password + "@h/db", "postgres:host", "postgres://u:" + password + "@h:notaport/db", "postgres://u:" + password + "@[/db",
		"postgres://u:" + password + "@h/db?sslmode=sometimes",
	} {
		db, err := store.Open(t.Context(), url)
		if err == nil {
			_ = db.Close()
		}
		if !errors.Is(err, store.ErrURL) {
			t.Errorf("%q: got %v, want ErrURL", url, err)
		} else if strings.Contains(err.Error(), password) {
			t.Errorf("%q: the message holds the password: %v", url, err)
		}
	}
}

// mustNotOpen checks the error of an Open that cannot work: its kind, and that it says reason and remedy in one sentence.
func mustNotOpen(t *testing.T, url string, kinds ...error) {
	t.Helper()
	db, err := store.Open(t.Context(), url)
	if err == nil {
		_ = db.Close()
		t.Errorf("%s: opened", url)
		return
	}
	for _, kind := range kinds {
		if !errors.Is(err, kind) {
			t.Errorf("%s: got %v, want %v", url, err, kind)
		}
	}
	if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, "cannot use database ") || !strings.Contains(text, "; ") {
		t.Errorf("%s: not one sentence with a remedy: %v", url, err)
	}
}

func TestPlacesThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	mustNotOpen(t, "sqlite:"+dir, store.ErrUnavailable)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("this is a text file, long enough to be looked at as a database header\n"+strings.Repeat("x", 4096)), 0o600); err != nil {
		t.Fatal(err)
	}
	mustNotOpen(t, "sqlite:"+file, store.ErrCorrupt)
	mustNotOpen(t, "sqlite:"+filepath.Join(file, "below.db"), store.ErrUnavailable)
	if content, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(content), "this is a text file") {
		t.Error("the file that was no database was written")
	}
	mustNotOpen(t, "sqlite:/dev/null", store.ErrUnavailable)

	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that nobody listens on once it is closed
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	const password = "hunter2secret"
	url := "postgres://ada:" + password + "@" + address + "/register?sslmode=disable"
	mustNotOpen(t, url, store.ErrUnavailable)
	_, err = store.Open(t.Context(), url)
	if strings.Contains(err.Error(), password) {
		t.Errorf("the message holds the password: %v", err)
	}
	if !strings.Contains(err.Error(), "postgres://ada@"+address+"/register") {
		t.Errorf("the message does not say which database: %v", err)
	}
	mustNotOpen(t, "postgres:///db?host="+dir, store.ErrUnavailable)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Open(ctx, url); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

func TestPostgresPlaces(t *testing.T) {
	url := storetest.Postgres(t)
	mustNotOpen(t, strings.Replace(url, "/t_", "/absent_", 1), store.ErrUnavailable)
	mustNotOpen(t, strings.Replace(url, "postgres@", "nobody_known@", 1), store.ErrUnavailable)
	mustNotOpen(t, url+"&options=-c%20default_transaction_read_only%3Don", store.ErrUnavailable, store.ErrReadOnly)
}

func TestFileModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "register.db")
	db, err := store.Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{
		path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, filepath.Dir(path): os.ModeDir | 0o700, filepath.Dir(filepath.Dir(path)): os.ModeDir | 0o700,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Error(err)
		} else if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", filepath.Base(name), info.Mode(), want)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind after Close: %v (%v)", entries, err)
	}
	if err := db.Update(t.Context(), func(*store.Tx) error { return nil }); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Update after Close: got %v, want ErrUnavailable", err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestReadOnlyFile(t *testing.T) {
	dir, err := os.MkdirTemp("", "store-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "register.db")
	db, err := store.Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for name, modes := range map[string][2]os.FileMode{"file": {0o777, 0o444}, "folder": {0o555, 0o666}, "unreadable": {0o777, 0o000}} {
		if err := errors.Join(os.Chmod(path, modes[1]), os.Chmod(dir, modes[0])); err != nil {
			t.Fatal(err)
		}
		out, err := unprivileged(t, process(t, "open", "sqlite:"+path)).CombinedOutput()
		if err == nil {
			t.Errorf("%s: opened", name)
		} else if text := string(out); !strings.HasPrefix(text, "cannot use database sqlite:"+path+": ") || !strings.Contains(text, "; ") {
			t.Errorf("%s: %v: %s", name, err, text)
		} else if name == "file" && !strings.Contains(text, "may not be written") {
			t.Errorf("%s: %s", name, text)
		}
		_ = os.Chmod(dir, 0o755)
	}
}

func TestCorruptFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "register.db")
	db, err := store.Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	update(t, db, func(tx *store.Tx) error {
		if _, err := tx.Exec(ctx, `CREATE TABLE things (id TEXT NOT NULL PRIMARY KEY, n INTEGER NOT NULL, note TEXT) STRICT`); err != nil {
			return err
		}
		_, err := tx.Load(ctx, "things", loadColumns, &rowSource{n: 5000})
		return err
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(16384); at < info.Size(); at += 16384 { // the first page holds the header and the schema
		if _, err := f.WriteAt([]byte(strings.Repeat("\xa5", 512)), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	db, err = store.Open(ctx, "sqlite:"+path)
	if err != nil {
		t.Fatal(err) // the damage is not where opening looks
	}
	defer db.Close()
	err = db.View(ctx, func(tx *store.Tx) error {
		var n int
		return tx.QueryRow(ctx, `SELECT SUM(n) FROM things`).Scan(&n)
	})
	if !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("read of damaged pages: got %v, want ErrCorrupt", err)
	}
	err = db.Update(ctx, func(tx *store.Tx) error { return insert(ctx, tx, "x", 1) })
	if !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("write to damaged pages: got %v, want ErrCorrupt", err)
	}
}

func TestTwoProcesses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		update(t, db, func(tx *store.Tx) error { return insert(ctx, tx, "counter", 0) })
		const rounds = 40
		other := process(t, "increment:40", url)
		out, err := other.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		for range rounds {
			if err := db.Update(ctx, increment(ctx)); err != nil {
				t.Error(err)
			}
		}
		said, _ := bufio.NewReader(out).ReadString(0)
		if err := other.Wait(); err != nil {
			t.Errorf("the other process: %v: %s", err, said)
		}
		var n int
		update(t, db, func(tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT n FROM things WHERE id = 'counter'`).Scan(&n)
		})
		if n != 2*rounds {
			t.Errorf("counter is %d, want %d", n, 2*rounds)
		}
	})
}

func TestKilledInsideTransaction(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		other := process(t, "hang", url)
		out, err := other.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		in, err := other.StdinPipe() // keeps it waiting
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if line != "written\n" {
			t.Fatalf("the other process said %q (%v)", line, err)
		}
		if n := count(t, db); n != 0 {
			t.Errorf("%d uncommitted rows are seen", n)
		}
		if err := other.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = other.Wait()
		update(t, db, func(tx *store.Tx) error { return insert(ctx, tx, "after", 1) })
		if n := count(t, db); n != 1 {
			t.Errorf("%d rows, want 1", n)
		}
	})
}

// A server that goes away under an open database.
func TestServerDown(t *testing.T) {
	storetest.Postgres(t) // skips where there is no server to start
	cluster, err := storetest.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Stop()
	db := open(t, cluster.URL)
	ctx := t.Context()
	err = db.Update(ctx, func(tx *store.Tx) error {
		if err := insert(ctx, tx, "a", 1); err != nil {
			t.Error(err)
		}
		return cluster.Stop()
	})
	if !errors.Is(err, store.ErrCommitUnknown) || !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("server gone before COMMIT was answered: got %v, want ErrCommitUnknown and ErrUnavailable", err)
	}
	err = db.Update(ctx, func(tx *store.Tx) error { return insert(ctx, tx, "b", 1) })
	if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrCommitUnknown) {
		t.Errorf("server gone: got %v, want ErrUnavailable", err)
	}
	if err := db.Migrate(ctx); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("Migrate: got %v, want ErrUnavailable", err)
	}
	mustNotOpen(t, cluster.URL, store.ErrUnavailable)
}
