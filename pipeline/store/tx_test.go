package store_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

type named string

func TestValues(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		word := "ünïcode ✓ 漢字 '); DROP TABLE things; --"
		update(t, db, func(tx *store.Tx) error {
			n, err := tx.Exec(ctx, `INSERT INTO things (n, id, note, raw) VALUES ($2, $1, $3, $4), ($2, $5, $6, $7);
`,
				named("a"), int64(1)<<62, &word, []byte{0, 1, 0xff}, "b", (*string)(nil), nil)
			if n != 2 {
				t.Errorf("insert touched %d rows, want 2", n)
			}
			return err
		})
		err := db.View(ctx, func(tx *store.Tx) error {
			rows, err := tx.Query(ctx, `SELECT id, n, note, raw, n > 5 FROM things ORDER BY id`)
			if err != nil {
				return err
			}
			var id string
			var n int64
			var note *string
			var raw []byte
			var big bool
			if !rows.Next() {
				t.Fatal("no row")
			}
			if err := rows.Scan(&id, &n, &note, &raw, &big); err != nil {
				return err
			}
			if id != "a" || n != 1<<62 || note == nil || *note != word || !bytes.Equal(raw, []byte{0, 1, 0xff}) || !big {
				t.Errorf("row a: %q %d %v %v %v", id, n, note, raw, big)
			}
			if !rows.Next() {
				t.Fatal("no second row")
			}
			if err := rows.Scan(&id, &n, &note, &raw, &big); err != nil {
				return err
			}
			if id != "b" || note != nil || raw != nil {
				t.Errorf("row b: %q %v %v", id, note, raw)
			}
			var s string
			if err := rows.Scan(&id, &n, &s, &raw, &big); err == nil || !strings.Contains(err.Error(), "note") {
				t.Errorf("NULL into a string: %v", err)
			}
			if err := rows.Scan(&n, &n, &note, &raw, &big); err == nil || strings.Contains(err.Error(), `"b"`) {
				t.Errorf("text into an integer: %v", err)
			}
			if err := rows.Scan(&id); err == nil {
				t.Error("too few destinations")
			}
			if rows.Next() || rows.Err() != nil {
				t.Errorf("third row, or %v", rows.Err())
			}
			if err := rows.Scan(&id, &n, &note, &raw, &big); err == nil {
				t.Error("scan after the end")
			}
			var whole, small *int
			var flag *bool
			if err := tx.QueryRow(ctx, `SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($3 AS BIGINT)`, 7, nil, true).Scan(&whole, &small, &flag); err != nil {
				return err
			}
			if whole == nil || *whole != 7 || small != nil || flag == nil || !*flag {
				t.Errorf("pointers: %v %v %v", whole, small, flag)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestOneStatementAtATime(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		update(t, db, func(tx *store.Tx) error { return errors.Join(insert(ctx, tx, "a", 1), insert(ctx, tx, "b", 2)) })
		err := db.Update(ctx, func(tx *store.Tx) error {
			rows, err := tx.Query(ctx, `SELECT id FROM things`)
			if err != nil {
				return err
			}
			rows.Next()
			return insert(ctx, tx, "c", 3)
		})
		if err == nil || !strings.Contains(err.Error(), "still open") {
			t.Errorf("statement while rows are open: %v", err)
		}
		// Rows closed early, and rows left open at the end, do no harm.
		update(t, db, func(tx *store.Tx) error {
			for range 3 {
				rows, err := tx.Query(ctx, `SELECT id FROM things`)
				if err != nil {
					return err
				}
				rows.Next()
				if err := errors.Join(rows.Close(), rows.Close()); err != nil {
					return err
				}
			}
			_, err := tx.Query(ctx, `SELECT id FROM things`)
			return err
		})
		var kept *store.Tx
		update(t, db, func(tx *store.Tx) error { kept = tx; return insert(ctx, tx, "d", 4) })
		if err := insert(ctx, kept, "e", 5); err == nil {
			t.Error("a transaction was used after its end")
		}
		if n := count(t, db); n != 3 {
			t.Errorf("%d rows, want 3", n)
		}
		// What a statement touched, and that other statements touch nothing.
		update(t, db, func(tx *store.Tx) error {
			for sql, want := range map[string]int64{
				`UPDATE things SET n = 9 WHERE id <> 'd'`: 2, `UPDATE things SET n = 9 WHERE id = 'none'`: 0, `SELECT id FROM things`: 0,
			} {
				if n, err := tx.Exec(ctx, sql); err != nil || n != want {
					t.Errorf("%s: %d, %v, want %d", sql, n, err, want)
				}
			}
			return nil
		})
	})
}

func TestSnapshotAndClock(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		err := db.View(ctx, func(tx *store.Tx) error {
			var before, after int
			if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM things`).Scan(&before); err != nil {
				return err
			}
			update(t, db, func(tx *store.Tx) error { return insert(ctx, tx, "a", 1) })
			err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM things`).Scan(&after)
			if before != after {
				t.Errorf("a View saw %d rows, then %d", before, after)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		update(t, db, func(tx *store.Tx) error {
			a, err := tx.Now(ctx)
			if err != nil {
				return err
			}
			time.Sleep(2 * time.Millisecond)
			b, err := tx.Now(ctx)
			if b <= a || b-a > time.Minute.Microseconds() {
				t.Errorf("the clock went from %d to %d", a, b)
			}
			if off := time.Since(time.UnixMicro(b)); off.Abs() > time.Hour {
				t.Errorf("the clock is %v off", off)
			}
			return err
		})
	})
}

func TestLockWaits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		held, release := make(chan struct{}), make(chan struct{})
		done := make(chan error)
		go func() {
			done <- db.Update(ctx, func(tx *store.Tx) error {
				if err := tx.Lock(ctx, "import"); err != nil {
					return err
				}
				close(held)
				<-release
				return insert(ctx, tx, "first", 1)
			})
		}()
		<-held
		short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		err := db.Update(short, func(tx *store.Tx) error { return tx.Lock(short, "import") })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("lock held by another: got %v, want DeadlineExceeded", err)
		}
		second := make(chan error)
		go func() {
			second <- db.Update(ctx, func(tx *store.Tx) error {
				if err := tx.Lock(ctx, "import"); err != nil {
					return err
				}
				var n int
				err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM things`).Scan(&n)
				if n != 1 {
					t.Errorf("after the lock %d rows are seen, want what its holder wrote", n)
				}
				return err
			})
		}()
		time.Sleep(20 * time.Millisecond) // most likely waiting by now; the test holds either way
		close(release)
		if err := errors.Join(<-done, <-second); err != nil {
			t.Error(err)
		}
	})
}

func TestFailPoisons(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		mine := errors.New("must not stand")
		err := db.Update(ctx, func(tx *store.Tx) error {
			err := insert(ctx, tx, "a", 1)
			_ = tx.Fail(mine)
			if err := insert(ctx, tx, "b", 1); !errors.Is(err, mine) {
				t.Errorf("statement after Fail: %v", err)
			}
			return err
		})
		if !errors.Is(err, mine) {
			t.Errorf("got %v", err)
		}
		if n := count(t, db); n != 0 {
			t.Errorf("%d rows left, want 0", n)
		}
	})
}

// Two transactions that lock two rows in opposite order: PostgreSQL ends one of them. SQLite has no such thing.
func TestDeadlock(t *testing.T) {
	db := open(t, storetest.Postgres(t))
	ctx := t.Context()
	update(t, db, func(tx *store.Tx) error { return errors.Join(insert(ctx, tx, "a", 0), insert(ctx, tx, "b", 0)) })
	touch := func(tx *store.Tx, id string) error {
		_, err := tx.Exec(ctx, `UPDATE things SET n = n + 1 WHERE id = $1`, id)
		return err
	}
	ready := make(chan struct{}, 2)
	results := make(chan error, 2)
	proceed := make(chan struct{})
	for _, order := range [][2]string{{"a", "b"}, {"b", "a"}} {
		go func() {
			results <- db.Update(ctx, func(tx *store.Tx) error {
				err := touch(tx, order[0])
				ready <- struct{}{}
				<-proceed
				return errors.Join(err, touch(tx, order[1]))
			})
		}()
	}
	<-ready
	<-ready
	close(proceed)
	a, b := <-results, <-results
	if err := errors.Join(a, b); !errors.Is(err, store.ErrSerialization) || a != nil && b != nil {
		t.Errorf("got %v and %v, want one ErrSerialization", a, b)
	}
}
