package ledger_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// open gives a migrated database with a table for the effects of the work.
func open(t *testing.T, url string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	update(t, db, func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), `CREATE TABLE effects (chunk BIGINT NOT NULL PRIMARY KEY)`)
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

func digest(s string) string {
	b := sha256.Sum256([]byte(s))
	return hex.EncodeToString(b[:])
}

func request(name string) ledger.Request {
	return ledger.Request{
		Tenant: "harbour", Batch: "spring", Snapshot: "initial", Stage: "import", Class: "forward_recovery", Operator: "Ada",
		Key: digest("key " + name), RequestDigest: digest("request " + name), Preconditions: map[string]any{"revision": 7, "dryrun": digest("d")},
	}
}

func begin(t *testing.T, l *ledger.Ledger, req ledger.Request) *ledger.Op {
	t.Helper()
	op, err := l.Begin(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return op
}

// chunk commits one chunk: its effect and its checkpoint.
func chunk(ctx context.Context, db *store.DB, op *ledger.Op, n int) error {
	return db.Update(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO effects (chunk) VALUES ($1)`, n); err != nil {
			return err
		}
		return op.Checkpoint(ctx, tx, "chunk", map[string]any{"entity": "consent", "staged": digest("staged"), "chunk": n, "rows": int64(10)})
	})
}

func succeed(ctx context.Context, db *store.DB, op *ledger.Op) error {
	return db.Update(ctx, func(tx *store.Tx) error {
		return op.Succeed(ctx, tx, []byte(`{"chunks":3}`), digest("result"))
	})
}

// next is the chunk after the last checkpoint.
func next(ctx context.Context, db *store.DB, op *ledger.Op) (n int, err error) {
	err = db.View(ctx, func(tx *store.Tx) error {
		list, err := op.Checkpoints(ctx, tx, "chunk")
		for _, c := range list {
			n = max(n, int(c.Int("chunk"))+1)
		}
		return err
	})
	return n, err
}

func verify(t *testing.T, db *store.DB, id string) error {
	t.Helper()
	return db.View(t.Context(), func(tx *store.Tx) error { return ledger.VerifyChain(t.Context(), tx, id) })
}

func effects(t *testing.T, db *store.DB) (n int) {
	t.Helper()
	err := db.View(t.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT COUNT(*) FROM effects`).Scan(&n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func last(t *testing.T, db *store.DB) *ledger.Record {
	t.Helper()
	var rec *ledger.Record
	err := db.View(t.Context(), func(tx *store.Tx) (err error) {
		rec, err = ledger.Last(t.Context(), tx, "harbour", "spring", "initial", "import")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestSuccessIsHandedOut(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		op := begin(t, ledger.New(db, ledger.Options{}), request("a"))
		if op.Done() || op.Resumed() || op.Fence() != 1 {
			t.Errorf("new operation: done %v, resumed %v, fence %d", op.Done(), op.Resumed(), op.Fence())
		}
		if last(t, db) != nil {
			t.Error("Last gives an operation that has not succeeded")
		}
		if err := succeed(t.Context(), db, op); err != nil {
			t.Fatal(err)
		}
		again := begin(t, ledger.New(db, ledger.Options{}), request("a"))
		if !again.Done() || again.Resumed() || string(again.Result()) != `{"chunks":3}` || again.ResultDigest() != digest("result") {
			t.Errorf("asked again: done %v, result %s", again.Done(), again.Result())
		}
		if err := chunk(t.Context(), db, again, 1); !errors.Is(err, ledger.ErrFenced) {
			t.Errorf("checkpoint on a finished operation: got %v, want ErrFenced", err)
		}
		if err := op.Fail(t.Context(), "late"); !errors.Is(err, ledger.ErrFenced) {
			t.Errorf("fail after success: got %v, want ErrFenced", err)
		}
		if err := verify(t, db, op.ID()); err != nil {
			t.Error(err)
		}
		rec := last(t, db)
		if rec == nil || rec.State != ledger.Succeeded || rec.Operator != "Ada" || rec.FinishedAt < rec.StartedAt || rec.LeaseUntil != 0 {
			t.Fatalf("record: %+v", rec)
		}
		if n, err := rec.Precondition("revision"); err != nil || n != 7 {
			t.Errorf("precondition: %d, %v", n, err)
		}
		if _, err := rec.Precondition("dryrun"); err == nil {
			t.Error("a digest read as an integer precondition")
		}

		// Another one of the stage becomes the last, and asking for the first again makes that the last.
		other := begin(t, ledger.New(db, ledger.Options{}), request("b"))
		if err := succeed(t.Context(), db, other); err != nil {
			t.Fatal(err)
		}
		if got := last(t, db); got.ID != other.ID() {
			t.Error("Last is not the newest")
		}
		begin(t, ledger.New(db, ledger.Options{}), request("a"))
		if got := last(t, db); got.ID != op.ID() {
			t.Error("Last is not the one that was asked for last")
		}
		err := db.View(t.Context(), func(tx *store.Tx) error {
			list, err := ledger.List(t.Context(), tx, "harbour", "spring")
			if len(list) != 2 || list[0].ID != op.ID() {
				t.Errorf("List gives %d operations", len(list))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestKeyOfAnotherOperation(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		l := ledger.New(db, ledger.Options{})
		begin(t, l, request("a"))
		for name, change := range map[string]func(*ledger.Request){
			"batch":      func(r *ledger.Request) { r.Batch = "autumn" },
			"request":    func(r *ledger.Request) { r.RequestDigest = digest("x") },
			"no key":     func(r *ledger.Request) { r.Key = "" },
			"class":      func(r *ledger.Request) { r.Class = "easy" },
			"stage":      func(r *ledger.Request) { r.Stage = "Im port" },
			"operator":   func(r *ledger.Request) { r.Operator = "" },
			"array":      func(r *ledger.Request) { r.Preconditions = []int{1} },
			"inexact":    func(r *ledger.Request) { r.Preconditions = map[string]any{"n": int64(1) << 60} },
			"no request": func(r *ledger.Request) { r.RequestDigest = "abc" },
		} {
			req := request("a")
			change(&req)
			if _, err := l.Begin(t.Context(), req); !errors.Is(err, ledger.ErrRequest) {
				t.Errorf("%s: got %v, want ErrRequest", name, err)
			}
		}
	})
}

// A process that dies after any step is continued after its last checkpoint, and every effect stands once.
func TestCrashBetweenSteps(t *testing.T) {
	const chunks = 3
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		// Crash k: after k chunks. chunks+1: after an uncommitted success.
		for k := range chunks + 2 {
			t.Run(fmt.Sprint(k), func(t *testing.T) {
				update(t, db, func(tx *store.Tx) error { _, err := tx.Exec(ctx, `DELETE FROM effects`); return err })
				opt := ledger.Options{Lease: 30 * time.Millisecond, Poll: 5 * time.Millisecond}
				req := request(fmt.Sprint("crash ", k))
				first := begin(t, ledger.New(db, opt), req)
				for n := range min(k, chunks) {
					if err := chunk(ctx, db, first, n); err != nil {
						t.Fatal(err)
					}
				}
				lost := errors.New("crash")
				err := db.Update(ctx, func(tx *store.Tx) error {
					if k <= chunks { // dies inside the transaction of the next chunk
						if _, err := tx.Exec(ctx, `INSERT INTO effects (chunk) VALUES ($1)`, k); err != nil {
							return err
						}
						if err := first.Checkpoint(ctx, tx, "chunk", map[string]any{"chunk": k}); err != nil {
							return err
						}
					} else if err := first.Succeed(ctx, tx, []byte(`{}`), digest("lost")); err != nil {
						return err
					}
					return lost
				})
				if !errors.Is(err, lost) {
					t.Fatal(err)
				}

				var told []ledger.Notice
				opt.Lease, opt.Notify = time.Minute, func(n ledger.Notice) { told = append(told, n) }
				second := begin(t, ledger.New(db, opt), req)
				if !second.Resumed() || second.Fence() != 2 || len(told) == 0 {
					t.Fatalf("second attempt: resumed %v, fence %d, told %v", second.Resumed(), second.Fence(), told)
				}
				from, err := next(ctx, db, second)
				if err != nil || from != min(k, chunks) {
					t.Fatalf("goes on at chunk %d (%v), want %d", from, err, min(k, chunks))
				}
				if k == chunks+1 {
					from = chunks
				}
				for n := from; n < chunks; n++ {
					if err := chunk(ctx, db, second, n); err != nil {
						t.Fatal(err)
					}
				}
				if err := succeed(ctx, db, second); err != nil {
					t.Fatal(err)
				}
				if n := effects(t, db); n != chunks {
					t.Errorf("%d effects, want %d", n, chunks)
				}
				if err := verify(t, db, second.ID()); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

func TestStaleFence(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		stale := begin(t, ledger.New(db, ledger.Options{Lease: 10 * time.Millisecond}), request("a"))
		work, stop := stale.KeepAlive(ctx)
		defer stop()
		stop() // the heartbeat stalls with its process
		<-work.Done()
		fresh := begin(t, ledger.New(db, ledger.Options{Poll: 5 * time.Millisecond}), request("a"))
		if fresh.Fence() != 2 || !fresh.Resumed() {
			t.Fatalf("fence %d, resumed %v", fresh.Fence(), fresh.Resumed())
		}
		for name, err := range map[string]error{
			"checkpoint": chunk(ctx, db, stale, 1),
			"succeed":    succeed(ctx, db, stale),
			"fail":       stale.Fail(ctx, "late"),
			"release":    stale.Release(ctx),
		} {
			if !errors.Is(err, ledger.ErrFenced) {
				t.Errorf("%s by the stale process: got %v, want ErrFenced", name, err)
			}
		}
		// Swallowing the error does not help it: its rows go with the checkpoint.
		err := db.Update(ctx, func(tx *store.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO effects (chunk) VALUES (99)`)
			_ = stale.Checkpoint(ctx, tx, "chunk", map[string]any{"chunk": 99})
			return err
		})
		if !errors.Is(err, ledger.ErrFenced) {
			t.Errorf("swallowed: got %v, want ErrFenced", err)
		}
		if n := effects(t, db); n != 0 {
			t.Errorf("%d effects of the stale process, want 0", n)
		}
		if err := chunk(ctx, db, fresh, 1); err != nil {
			t.Errorf("the valid process: %v", err)
		}
		if err := succeed(ctx, db, fresh); err != nil {
			t.Errorf("the valid process: %v", err)
		}
		if err := verify(t, db, fresh.ID()); err != nil {
			t.Error(err)
		}
	})
}

func TestLeaseLost(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		op := begin(t, ledger.New(db, ledger.Options{Lease: 60 * time.Millisecond}), request("a"))
		work, stop := op.KeepAlive(t.Context())
		defer stop()
		extended := map[int64]bool{}
		for len(extended) < 4 {
			if work.Err() != nil {
				t.Fatalf("a kept lease was lost: %v", context.Cause(work))
			}
			err := db.View(t.Context(), func(tx *store.Tx) error {
				list, err := ledger.List(t.Context(), tx, "harbour", "spring")
				for _, rec := range list {
					extended[rec.LeaseUntil] = true
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Millisecond)
		}
		// Somebody takes it by force.
		update(t, db, func(tx *store.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE operations SET fence = fence + 1 WHERE id = $1`, op.ID())
			return err
		})
		select {
		case <-work.Done():
			if !errors.Is(context.Cause(work), ledger.ErrFenced) {
				t.Errorf("cause: %v, want ErrFenced", context.Cause(work))
			}
		case <-time.After(10 * time.Second):
			t.Error("the lost lease was not noticed")
		}
	})
}

// A process that cannot reach the database for a whole lease must take it that another one has taken over.
func TestLeaseUnreachable(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		op := begin(t, ledger.New(db, ledger.Options{Lease: 50 * time.Millisecond}), request("a"))
		work, stop := op.KeepAlive(t.Context())
		defer stop()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-work.Done():
			if err := context.Cause(work); !errors.Is(err, ledger.ErrFenced) || !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("cause: %v, want ErrFenced and ErrUnavailable", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the unreachable database was not noticed")
		}
	})
}

func TestWaitsVisibly(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		first := begin(t, ledger.New(db, ledger.Options{}), request("a"))
		told := make(chan ledger.Notice, 100)
		l := ledger.New(db, ledger.Options{Poll: 5 * time.Millisecond, Notify: func(n ledger.Notice) { told <- n }})
		result := make(chan *ledger.Op)
		go func() {
			defer close(result)
			op, err := l.Begin(t.Context(), request("a"))
			if err != nil {
				t.Errorf("waiting: %v", err)
				return
			}
			result <- op
		}()
		n := <-told
		if n.Event != ledger.NoticeWaiting || n.Stage != "import" || n.Operator != "Ada" || n.Seconds < 1 || n.Seconds > 15 ||
			!strings.Contains(n.Message, "already being run by Ada") || !strings.Contains(n.Message, fmt.Sprintf(" %d s at most", n.Seconds)) {
			t.Errorf("told %+v", n)
		}
		select {
		case <-result:
			t.Error("did not wait for the one who works")
		case <-time.After(100 * time.Millisecond): // many looks long
		}
		if err := chunk(t.Context(), db, first, 0); err != nil { // which renews the lease
			t.Fatal(err)
		}
		if n := <-told; !strings.Contains(n.Message, "renewed") || n.Seconds != 0 {
			t.Errorf("of a holder that lives: %+v", n)
		}
		if err := succeed(t.Context(), db, first); err != nil {
			t.Fatal(err)
		}
		op := <-result
		if op == nil || !op.Done() || string(op.Result()) != `{"chunks":3}` {
			t.Errorf("after waiting: %+v", op)
		}
		if len(told) != 0 {
			t.Errorf("told more than once: %+v", <-told)
		}

		// Waiting ends with the context.
		begin(t, ledger.New(db, ledger.Options{}), request("b"))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := l.Begin(ctx, request("b")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled while waiting: %v", err)
		}
	})
}

func TestFailedAndReleased(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		l := ledger.New(db, ledger.Options{}) // long lease: waiting for it would show
		op := begin(t, l, request("a"))
		if err := op.Fail(t.Context(), "a message with spaces"); !errors.Is(err, ledger.ErrEvidence) {
			t.Errorf("free text as a reason: got %v, want ErrEvidence", err)
		}
		if err := op.Fail(t.Context(), "database_full"); err != nil {
			t.Fatal(err)
		}
		if err := verify(t, db, op.ID()); err != nil {
			t.Error(err)
		}
		req := request("a")
		req.Operator, req.Preconditions = "Grace", map[string]any{"revision": 8}
		op = begin(t, l, req)
		if !op.Resumed() || op.Fence() != 2 {
			t.Errorf("after failure: resumed %v, fence %d", op.Resumed(), op.Fence())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // as Ctrl-C does
		if err := op.Release(ctx); err != nil {
			t.Fatal(err)
		}
		if err := verify(t, db, op.ID()); err != nil {
			t.Error(err)
		}
		op = begin(t, l, req)
		if !op.Resumed() || op.Fence() != 3 {
			t.Errorf("after release: resumed %v, fence %d", op.Resumed(), op.Fence())
		}
		if err := succeed(t.Context(), db, op); err != nil {
			t.Fatal(err)
		}
		if err := verify(t, db, op.ID()); err != nil {
			t.Error(err)
		}
		rec := last(t, db)
		if n, err := rec.Precondition("revision"); rec.Operator != "Grace" || err != nil || n != 8 {
			t.Errorf("the last attempt's operator and preconditions: %s, %d, %v", rec.Operator, n, err)
		}
		if rec.Reason != "" {
			t.Errorf("a succeeded operation has the reason %q", rec.Reason)
		}
	})
}

// Racing workers, some of which die on the way: one works at a time, every effect stands once.
func TestRace(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		const workers, chunks = 8, 5
		var working, finished, crashed atomic.Int32
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				// One that dies has a short lease, so that the others need not wait long for it.
				dies := w < workers/2
				opt := ledger.Options{Lease: time.Minute, Poll: 3 * time.Millisecond}
				if dies {
					opt.Lease = 50 * time.Millisecond
				}
				op, err := ledger.New(db, opt).Begin(t.Context(), request("race"))
				if err != nil {
					t.Errorf("worker %d: %v", w, err)
					return
				}
				if op.Done() {
					return
				}
				// One that dies may oversleep its short lease; the fence keeps it out then, and the others are never two.
				if !dies {
					if n := working.Add(1); n != 1 {
						t.Errorf("worker %d: %d work at once", w, n)
					}
					defer working.Add(-1)
				}
				from, err := next(t.Context(), db, op)
				if err != nil {
					t.Errorf("worker %d: %v", w, err)
				}
				for n := from; n < chunks; n++ {
					if dies && n == from+1 {
						crashed.Add(1)
						return
					}
					if err := chunk(t.Context(), db, op, n); err != nil {
						// One with a short lease may have been too slow; then nothing of the chunk stands.
						if !dies || !errors.Is(err, ledger.ErrFenced) && !errors.Is(err, store.ErrConflict) {
							t.Errorf("worker %d, chunk %d: %v", w, n, err)
						}
						return
					}
				}
				if err := succeed(t.Context(), db, op); err == nil {
					finished.Add(1)
				} else if !errors.Is(err, ledger.ErrFenced) {
					t.Errorf("worker %d: %v", w, err)
				}
			})
		}
		wg.Wait()
		if finished.Load() != 1 {
			t.Errorf("%d workers finished the operation, want 1 (%d crashed)", finished.Load(), crashed.Load())
		}
		if n := effects(t, db); n != chunks {
			t.Errorf("%d effects, want %d", n, chunks)
		}
		if err := verify(t, db, request("race").Key); err != nil {
			t.Error(err)
		}
	})
}
