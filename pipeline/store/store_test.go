package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// open gives an open database with one table that is written as a migration would.
func open(t *testing.T, url string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	ddl := `CREATE TABLE things (id TEXT NOT NULL PRIMARY KEY, n BIGINT NOT NULL, note TEXT COLLATE "C", raw BYTEA, CHECK (n >= 0))`
	if db.Engine() == "sqlite" {
		ddl = `CREATE TABLE things (id TEXT NOT NULL PRIMARY KEY, n INTEGER NOT NULL, note TEXT, raw BLOB, CHECK (n >= 0)) STRICT`
	}
	update(t, db, func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), ddl)
		return err
	})
	return db
}

func update(t *testing.T, db *store.DB, fn func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func insert(ctx context.Context, tx *store.Tx, id string, n int) error {
	_, err := tx.Exec(ctx, `INSERT INTO things (id, n) VALUES ($1, $2)`, id, n)
	return err
}

func count(t *testing.T, db *store.DB) (n int) {
	t.Helper()
	err := db.View(t.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM things`).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRollback(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		boom := errors.New("boom")
		err := db.Update(ctx, func(tx *store.Tx) error {
			if err := insert(ctx, tx, "a", 1); err != nil {
				t.Error(err)
			}
			return boom
		})
		if !errors.Is(err, boom) {
			t.Errorf("error of the closure: got %v", err)
		}
		func() {
			defer func() {
				if r := recover(); r != "panic" {
					t.Errorf("recovered %v, want the closure's own panic", r)
				}
			}()
			_ = db.Update(ctx, func(tx *store.Tx) error {
				if err := insert(ctx, tx, "b", 1); err != nil {
					t.Error(err)
				}
				panic("panic")
			})
		}()
		done := make(chan struct{})
		go func() { // as testing.T.FailNow does
			defer close(done)
			_ = db.Update(ctx, func(tx *store.Tx) error {
				if err := insert(ctx, tx, "c", 1); err != nil {
					t.Error(err)
				}
				runtime.Goexit()
				return nil
			})
		}()
		<-done
		if n := count(t, db); n != 0 {
			t.Errorf("%d rows left after rollback, want 0", n)
		}
		update(t, db, func(tx *store.Tx) error { return insert(ctx, tx, "d", 1) })
		if n := count(t, db); n != 1 {
			t.Errorf("%d rows after a commit, want 1", n)
		}
	})
}

func TestPoisonedTransaction(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		var first, second error
		err := db.Update(ctx, func(tx *store.Tx) error {
			if err := insert(ctx, tx, "a", 1); err != nil {
				return err
			}
			first = insert(ctx, tx, "a", 2)
			second = insert(ctx, tx, "b", 2)
			return nil // swallowed
		})
		if !errors.Is(first, store.ErrConflict) {
			t.Errorf("second insert: got %v, want ErrConflict", first)
		}
		if !errors.Is(second, store.ErrConflict) || !strings.Contains(second.Error(), "failed before") {
			t.Errorf("statement after a failed one: got %v", second)
		}
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("Update with a swallowed error: got %v, want ErrConflict", err)
		}
		if n := count(t, db); n != 0 {
			t.Errorf("%d rows left, want 0", n)
		}
	})
}

func TestErrorKinds(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		secret := "someone@example.org"
		tests := []struct {
			name string
			want error
			fn   func(tx *store.Tx) error
		}{
			{"unique key", store.ErrConflict, func(tx *store.Tx) error {
				if err := insert(ctx, tx, secret, 1); err != nil {
					return err
				}
				return insert(ctx, tx, secret, 1)
			}},
			{"check", store.ErrConstraint, func(tx *store.Tx) error { return insert(ctx, tx, secret, -1) }},
			{"not null", store.ErrConstraint, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, `INSERT INTO things (id, n) VALUES ($1, $2)`, secret, nil)
				return err
			}},
			{"NUL byte", store.ErrText, func(tx *store.Tx) error { return insert(ctx, tx, secret+"\x00", 1) }},
			{"not UTF-8", store.ErrText, func(tx *store.Tx) error { return insert(ctx, tx, secret+"\xff", 1) }},
			{"no row", store.ErrNoRows, func(tx *store.Tx) error {
				var n int
				return tx.QueryRow(ctx, `SELECT n FROM things WHERE id = $1`, "none").Scan(&n)
			}},
			{"text for a number", nil, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, `INSERT INTO things (id, n) VALUES ($1, $2)`, "x", secret)
				return err
			}},
			{"unknown table", nil, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, `DELETE FROM nothing WHERE id = $1`, secret)
				return err
			}},
			{"too few arguments", nil, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, `DELETE FROM things WHERE id = $1 AND n = $2`, secret)
				return err
			}},
			{"too many arguments", nil, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, `DELETE FROM things WHERE id = $1`, secret, 2)
				return err
			}},
			{"unsupported argument", nil, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, `DELETE FROM things WHERE id = $1`, 1.5)
				return err
			}},
		}
		for _, tt := range tests {
			err := db.Update(ctx, tt.fn)
			if err == nil {
				t.Errorf("%s: no error", tt.name)
				continue
			}
			if tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the message holds the value: %v", tt.name, err)
			}
		}
		if n := count(t, db); n != 0 {
			t.Errorf("%d rows left, want 0", n)
		}
		err := db.View(ctx, func(tx *store.Tx) error { return insert(ctx, tx, "v", 1) })
		if !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("write in a View: got %v, want ErrReadOnly", err)
		}
		err = db.View(ctx, func(tx *store.Tx) error { return tx.Lock(ctx, "x") })
		if !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("lock in a View: got %v, want ErrReadOnly", err)
		}
	})
}

func TestConcurrentReadModifyWrite(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		update(t, db, func(tx *store.Tx) error { return insert(ctx, tx, "counter", 0) })
		const workers, rounds = 6, 10
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for range rounds {
					err := db.Update(ctx, func(tx *store.Tx) error {
						var n int
						query := `SELECT n FROM things WHERE id = $1` + tx.ForUpdate()
						if w%2 == 0 {
							query = `SELECT n FROM things WHERE id = $1`
						}
						// Half of the workers use the named lock and all of them the row lock of the UPDATE: both must add up.
						if err := tx.Lock(ctx, "counter"); err != nil {
							return err
						}
						if err := tx.QueryRow(ctx, query, "counter").Scan(&n); err != nil {
							return err
						}
						_, err := tx.Exec(ctx, `UPDATE things SET n = $2 WHERE id = $1`, "counter", n+1)
						return err
					})
					if err != nil {
						t.Errorf("worker %d: %v", w, err)
					}
				}
			})
		}
		wg.Wait()
		var n int
		update(t, db, func(tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT n FROM things WHERE id = $1`, "counter").Scan(&n)
		})
		if n != workers*rounds {
			t.Errorf("counter is %d, want %d", n, workers*rounds)
		}
	})
}

// rowSource gives n rows to Load.
type rowSource struct {
	at, n int
	fail  error
	panic bool
}

func (s *rowSource) Next() bool { s.at++; return s.at <= s.n }
func (s *rowSource) Err() error { return s.fail }
func (s *rowSource) Values(dst []store.Value) {
	if s.panic && s.at == s.n {
		panic("source")
	}
	dst[0] = store.Value{Kind: store.Text, Text: fmt.Sprintf("row-%07d", s.at)}
	dst[1] = store.Value{Kind: store.Int, Int: int64(s.at)}
	dst[2] = store.Value{}
	if s.at%3 == 0 {
		dst[2] = store.Value{Kind: store.Text, Text: "ünïcode ✓ 漢字 " + strings.Repeat("x", s.at%50)}
	}
}

var loadColumns = []string{"id", "n", "note"}

func TestLoad(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		const rows = 100_000
		stop := errors.New("stop")
		err := db.Update(ctx, func(tx *store.Tx) error {
			if err := insert(ctx, tx, "before", 1); err != nil {
				return err
			}
			n, err := tx.Load(ctx, "things", loadColumns, &rowSource{n: rows})
			if err != nil || n != rows {
				t.Errorf("Load: %d, %v", n, err)
			}
			if err := insert(ctx, tx, "after", 1); err != nil {
				return err
			}
			var got, sum int64
			var notes int
			if err := tx.QueryRow(ctx, `SELECT COUNT(*), SUM(n), COUNT(note) FROM things WHERE id LIKE 'row-%'`).Scan(&got, &sum, &notes); err != nil {
				return err
			}
			if got != rows || sum != rows*(rows+1)/2 || notes != rows/3 {
				t.Errorf("loaded %d rows, sum %d, %d notes", got, sum, notes)
			}
			return stop
		})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		if n := count(t, db); n != 0 {
			t.Errorf("%d rows left after rollback, want 0", n)
		}
		for _, n := range []int{0, 1, 31, 32, 33, 64, 65} {
			update(t, db, func(tx *store.Tx) error {
				if _, err := tx.Exec(ctx, `DELETE FROM things`); err != nil {
					return err
				}
				got, err := tx.Load(ctx, "things", loadColumns, &rowSource{n: n})
				if err == nil && got != int64(n) {
					t.Errorf("Load of %d rows says %d", n, got)
				}
				return err
			})
			if got := count(t, db); got != n {
				t.Errorf("%d rows, want %d", got, n)
			}
		}
	})
}

func TestLoadFails(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		load := func(src store.Source) error {
			return db.Update(ctx, func(tx *store.Tx) error {
				_, _ = tx.Load(ctx, "things", loadColumns, src)
				return nil
			})
		}
		broken := errors.New("broken")
		if err := load(&rowSource{n: 1000, fail: broken}); !errors.Is(err, broken) {
			t.Errorf("source error: got %v", err)
		}
		if err := load(&values{{text("a"), number(1), text("x\x00")}}); !errors.Is(err, store.ErrText) {
			t.Errorf("NUL byte: got %v, want ErrText", err)
		}
		if err := load(&values{{text("a"), number(1), {}}, {text("a"), number(2), {}}}); !errors.Is(err, store.ErrConflict) {
			t.Errorf("same key twice: got %v, want ErrConflict", err)
		}
		if err := load(&values{{text("a"), {}, {}}}); !errors.Is(err, store.ErrConstraint) {
			t.Errorf("NULL in a NOT NULL column: got %v, want ErrConstraint", err)
		}
		if err := load(&values{{text("a"), text("no number"), {}}}); !errors.Is(err, store.ErrConstraint) {
			t.Errorf("text in a number column: got %v, want ErrConstraint", err)
		}
		func() {
			defer func() {
				if r := recover(); r != "source" {
					t.Errorf("recovered %v, want the source's own panic", r)
				}
			}()
			_ = load(&rowSource{n: 500, panic: true})
		}()
		if n := count(t, db); n != 0 {
			t.Errorf("%d rows left, want 0", n)
		}
		update(t, db, func(tx *store.Tx) error {
			_, err := tx.Load(ctx, "things", loadColumns, &values{{number(7), text("8"), number(9)}})
			return err
		})
		var id, note string
		var n int64
		update(t, db, func(tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT id, n, note FROM things`).Scan(&id, &n, &note)
		})
		if id != "7" || n != 8 || note != "9" {
			t.Errorf("numbers as text and the other way: got %q %d %q", id, n, note)
		}
	})
}

// What is there already is left out by its key, and by its key only.
func TestLoadNew(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		unique := `CREATE UNIQUE INDEX things_note ON things (note)`
		update(t, db, func(tx *store.Tx) error { _, err := tx.Exec(ctx, unique); return err })
		load := func(src *values) (n int64, err error) {
			err = db.Update(ctx, func(tx *store.Tx) error {
				n, err = tx.LoadNew(ctx, "things", loadColumns, "id", src)
				return err
			})
			return n, err
		}
		var rows values
		for i := range 100 {
			rows = append(rows, []store.Value{text(fmt.Sprintf("%03d", 2*i)), number(int64(i)), {}})
		}
		if n, err := load(&rows); n != 100 || err != nil {
			t.Fatalf("into an empty table: %d, %v", n, err)
		}
		for i := range 200 {
			rows = append(rows, []store.Value{text(fmt.Sprintf("%03d", i)), number(1000), text(fmt.Sprint(i))})
		}
		all := slices.Clone(rows)
		if n, err := load(&rows); n != 100 || err != nil {
			t.Fatalf("half of them new: %d, %v", n, err)
		}
		if n, err := load(&all); n != 0 || err != nil {
			t.Fatalf("none of them new: %d, %v", n, err)
		}
		var kept, sum int64
		update(t, db, func(tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT COUNT(*), SUM(n) FROM things`).Scan(&kept, &sum)
		})
		if kept != 200 || sum != 99*100/2+100*1000 {
			t.Errorf("%d rows, sum %d", kept, sum)
		}
		for name, tt := range map[string]struct {
			row  []store.Value
			want error
		}{
			"another unique column": {[]store.Value{text("new"), number(1), text("7")}, store.ErrConflict},
			"NULL in a NOT NULL":    {[]store.Value{text("new"), {}, {}}, store.ErrConstraint},
			"text with a NUL":       {[]store.Value{text("n\x00"), number(1), {}}, store.ErrText},
		} {
			if _, err := load(&values{tt.row}); !errors.Is(err, tt.want) {
				t.Errorf("%s: %v, want %v", name, err, tt.want)
			}
		}
		if n := count(t, db); n != 200 {
			t.Errorf("%d rows after refusals, want 200", n)
		}
	})
}

// A statement keeps what was bound for the row before; no row may get another's values by that.
func TestLoadOfRowsThatRepeatValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		rnd := rand.New(rand.NewPCG(1, 2))
		kinds := []store.Value{{}, text(""), text("a"), text("b"), number(1), number(0), text(strings.Repeat("é", 300))}
		var rows values
		for i := range 1000 {
			rows = append(rows, []store.Value{text(fmt.Sprintf("%04d", i)), number(int64(rnd.IntN(3))), kinds[rnd.IntN(len(kinds))]})
		}
		want := slices.Clone(rows)
		update(t, db, func(tx *store.Tx) error { _, err := tx.Load(ctx, "things", loadColumns, &rows); return err })
		update(t, db, func(tx *store.Tx) error {
			got, err := tx.Query(ctx, `SELECT n, note FROM things ORDER BY id`)
			if err != nil {
				return err
			}
			defer got.Close()
			for i := 0; got.Next(); i++ {
				var n int64
				var note *string
				if err := got.Scan(&n, &note); err != nil {
					return err
				}
				w := want[i][2]
				if w.Kind == store.Int {
					w = text(fmt.Sprint(w.Int))
				}
				if n != want[i][1].Int || (note == nil) != (w.Kind == store.Null) || note != nil && *note != w.Text {
					t.Fatalf("row %d: %d and %v, want %v", i, n, note, want[i])
				}
			}
			return got.Err()
		})
	})
}

type values [][]store.Value

func (v *values) Next() bool { return len(*v) > 0 }
func (v *values) Err() error { return nil }
func (v *values) Values(dst []store.Value) {
	copy(dst, (*v)[0])
	*v = (*v)[1:]
}

func text(s string) store.Value  { return store.Value{Kind: store.Text, Text: s} }
func number(n int64) store.Value { return store.Value{Kind: store.Int, Int: n} }

func TestCancellation(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx, cancel := context.WithCancel(t.Context())
		err := db.Update(ctx, func(tx *store.Tx) error {
			if err := insert(ctx, tx, "a", 1); err != nil {
				return err
			}
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled before commit: got %v", err)
		}
		// A statement that would run for ages is stopped.
		ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		err = db.Update(ctx, func(tx *store.Tx) error {
			var n int64
			return tx.QueryRow(ctx, `
				WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 2000000000)
				SELECT COUNT(*) FROM c`).Scan(&n)
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled query: got %v", err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("cancelled query ended after %v", took)
		}
		// The next transactions work, and nothing was kept.
		if n := count(t, db); n != 0 {
			t.Errorf("%d rows left, want 0", n)
		}
		update(t, db, func(tx *store.Tx) error { return insert(t.Context(), tx, "b", 1) })
	})
}
