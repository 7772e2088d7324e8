package ledger

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// Between looking and claiming the world moves on; a claim made on what was seen must then be lost.
func TestClaimOnWhatIsNoMore(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		ctx := t.Context()
		db, err := store.Open(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		if err := db.Migrate(ctx); err != nil {
			t.Fatal(err)
		}
		req := Request{Tenant: "harbour", Batch: "spring", Snapshot: "initial", Stage: "import", Class: "atomic", Operator: "Ada",
			Key: strings.Repeat("a", 64), RequestDigest: strings.Repeat("b", 64)}
		first, second := New(db, Options{Lease: time.Millisecond}), New(db, Options{})

		none, _, err := second.look(ctx, req.Key)
		if err != nil || none != nil {
			t.Fatalf("before: %v, %v", none, err)
		}
		op, err := first.Begin(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := second.claim(ctx, &req, "{}", none); !errors.Is(err, errLost) {
			t.Errorf("begun by another: got %v, want errLost", err)
		}

		// The lease ran out, was seen so, and then its holder came back.
		var expired *Record
		for {
			rec, now, err := second.look(ctx, req.Key)
			if err != nil {
				t.Fatal(err)
			}
			if rec.LeaseUntil <= now {
				expired = rec
				break
			}
		}
		err = db.Update(ctx, func(tx *store.Tx) error { return op.Checkpoint(ctx, tx, "chunk", nil) })
		if err != nil {
			t.Fatalf("nobody had taken over: %v", err)
		}
		if _, err := second.claim(ctx, &req, "{}", expired); !errors.Is(err, errLost) {
			t.Errorf("lease extended: got %v, want errLost", err)
		}

		// Two saw it expired; one is first.
		seen, _, err := second.look(ctx, req.Key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := second.claim(ctx, &req, "{}", seen); err != nil {
			t.Errorf("the first to take over: %v", err)
		}
		if _, err := New(db, Options{}).claim(ctx, &req, "{}", seen); !errors.Is(err, errLost) {
			t.Errorf("the second to take over: got %v, want errLost", err)
		}
		if _, err := first.claim(ctx, &req, "{}", &Record{ID: req.Key, State: Succeeded}); !errors.Is(err, errLost) {
			t.Errorf("no longer succeeded: got %v, want errLost", err)
		}
		if err := db.View(ctx, func(tx *store.Tx) error { return VerifyChain(ctx, tx, req.Key) }); err != nil {
			t.Error(err)
		}
	})
}
