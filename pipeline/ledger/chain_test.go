package ledger_test

import (
	"errors"
	"strings"
	"testing"

	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// Every kind of change to a chain or its operation's row, made by someone who can lift the triggers, is found.
func TestTamper(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		lift := `ALTER TABLE checkpoints DISABLE TRIGGER USER`
		if db.Engine() == "sqlite" {
			lift = `DROP TRIGGER checkpoints_no_update`
			update(t, db, func(tx *store.Tx) error {
				_, err := tx.Exec(ctx, `DROP TRIGGER checkpoints_no_delete`)
				return err
			})
		}
		update(t, db, func(tx *store.Tx) error { _, err := tx.Exec(ctx, lift); return err })

		l := ledger.New(db, ledger.Options{})
		op := begin(t, l, request("a"))
		if err := chunk(ctx, db, op, 0); err != nil {
			t.Fatal(err)
		}
		if err := op.Release(ctx); err != nil {
			t.Fatal(err)
		}
		op = begin(t, l, request("a"))
		if err := chunk(ctx, db, op, 1); err != nil {
			t.Fatal(err)
		}
		if err := succeed(ctx, db, op); err != nil {
			t.Fatal(err)
		}
		if err := verify(t, db, op.ID()); err != nil {
			t.Fatalf("before any change: %v", err)
		}
		// begun, chunk, interrupted, taken_over, chunk, succeeded
		tests := []struct {
			name string
			seq  int64
			sql  string
		}{
			{"evidence", 2, `UPDATE checkpoints SET evidence = replace(evidence, '"rows":10', '"rows":11') WHERE seq = 2`},
			{"kind", 2, `UPDATE checkpoints SET kind = 'chunks' WHERE seq = 2`},
			{"fence", 5, `UPDATE checkpoints SET fence = 1 WHERE seq = 5`},
			{"digest", 2, `UPDATE checkpoints SET digest = '0' WHERE seq = 2`},
			{"previous", 3, `UPDATE checkpoints SET previous = '0' WHERE seq = 3`},
			{"link removed", 2, `DELETE FROM checkpoints WHERE seq = 2`},
			{"first link removed", 1, `DELETE FROM checkpoints WHERE seq = 1`},
			{"tail removed", 0, `DELETE FROM checkpoints WHERE seq = 6`},
			{"tail removed, row set back", 0, `UPDATE operations SET chain_seq = 5, chain_digest = (SELECT digest FROM checkpoints WHERE seq = 5)`},
			{"all removed", 0, `DELETE FROM checkpoints`},
			{"order", 2, `UPDATE checkpoints SET seq = CASE seq WHEN 2 THEN 20 ELSE seq END`},
			{"batch", 1, `UPDATE operations SET batch = 'autumn'`},
			{"class", 1, `UPDATE operations SET class = 'atomic'`},
			{"result", 0, `UPDATE operations SET result = '{"chunks":4}'`},
			{"result digest", 0, `UPDATE operations SET result_digest = request_digest`},
			{"operator", 0, `UPDATE operations SET operator = 'Eve'`},
			{"preconditions", 0, `UPDATE operations SET preconditions = '{}'`},
			{"incarnation", 0, `UPDATE operations SET incarnation = 'x'`},
			{"fence of the row", 0, `UPDATE operations SET fence = 3`},
			{"state", 0, `UPDATE operations SET state = 'failed', result = NULL, result_digest = NULL, reason = 'x'`},
		}
		undo := errors.New("undo")
		for _, tt := range tests {
			var verdict error
			err := db.Update(ctx, func(tx *store.Tx) error {
				n, err := tx.Exec(ctx, tt.sql)
				if err != nil {
					return err
				}
				if n == 0 {
					t.Errorf("%s: the test changes nothing", tt.name)
				}
				verdict = ledger.VerifyChain(ctx, tx, op.ID())
				return undo
			})
			if !errors.Is(err, undo) {
				t.Fatalf("%s: %v", tt.name, err)
			}
			var fault *ledger.ChainError
			if !errors.As(verdict, &fault) || !errors.Is(verdict, ledger.ErrChain) {
				t.Errorf("%s: not found (%v)", tt.name, verdict)
			} else if fault.Seq != tt.seq {
				t.Errorf("%s: found at %d, want %d (%v)", tt.name, fault.Seq, tt.seq, verdict)
			}
		}
		if err := verify(t, db, digest("none")); !errors.Is(err, store.ErrNoRows) {
			t.Errorf("unknown operation: got %v, want ErrNoRows", err)
		}
	})
}

// What no arrow of the state table leads to, the schema refuses, and the chain is append-only, even by hand.
func TestSchemaRefuses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		op := begin(t, ledger.New(db, ledger.Options{}), request("a"))
		for _, sql := range []string{
			`UPDATE operations SET state = 'succeeded', lease_until = NULL, finished_at = 1`,
			`UPDATE operations SET state = 'failed'`,
			`UPDATE operations SET state = 'done'`,
			`UPDATE operations SET lease_until = NULL`,
			`UPDATE operations SET finished_at = 1`,
			`UPDATE operations SET result = '{}', result_digest = 'x'`,
			`UPDATE operations SET fence = 0`,
			`UPDATE operations SET class = 'easy'`,
			`UPDATE operations SET reason = 'x'`,
			`UPDATE checkpoints SET kind = 'x'`,
			`DELETE FROM checkpoints`,
			`DELETE FROM operations`,
		} {
			err := db.Update(ctx, func(tx *store.Tx) error { _, err := tx.Exec(ctx, sql); return err })
			if !errors.Is(err, store.ErrConstraint) {
				t.Errorf("%s: got %v, want ErrConstraint", sql, err)
			}
		}
		if err := verify(t, db, op.ID()); err != nil {
			t.Error(err)
		}
	})
}

func TestEvidence(t *testing.T) {
	storetest.Each(t, func(t *testing.T, url string) {
		db := open(t, url)
		ctx := t.Context()
		op := begin(t, ledger.New(db, ledger.Options{}), request("a"))
		try := func(kind string, evidence map[string]any) error {
			return db.Update(ctx, func(tx *store.Tx) error { return op.Checkpoint(ctx, tx, kind, evidence) })
		}
		secret := "Ada Lovelace"
		for name, evidence := range map[string]map[string]any{
			"unknown key":      {"note": "x"},
			"free text":        {"entity": secret},
			"upper case":       {"entity": "Consent"},
			"long word":        {"entity": strings.Repeat("a", 65)},
			"short digest":     {"staged": "abc"},
			"upper digest":     {"staged": strings.ToUpper(digest("x"))},
			"number as text":   {"chunk": "1"},
			"text as number":   {"staged": 1},
			"float":            {"chunk": 1.5},
			"too large":        {"chunk": int64(1) << 53},
			"nested":           {"chunk": map[string]any{"a": 1}},
			"list":             {"chunk": []int{1}},
			"nil":              {"chunk": nil},
			"bool for integer": {"chunk": true},
			"integer for bool": {"passed": 1},
		} {
			err := try("chunk", evidence)
			if !errors.Is(err, ledger.ErrEvidence) {
				t.Errorf("%s: got %v, want ErrEvidence", name, err)
			} else if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the message holds the value: %v", name, err)
			}
		}
		for _, kind := range []string{"", "Chunk", "a b", "begun", "taken_over", "succeeded", "failed", "interrupted"} {
			if err := try(kind, nil); !errors.Is(err, ledger.ErrEvidence) {
				t.Errorf("kind %q: got %v, want ErrEvidence", kind, err)
			}
		}
		want := map[string]any{"entity": "consent", "staged": digest("s"), "chunk": int64(-1), "rows": int64(1<<53 - 1), "passed": true}
		if err := try("chunk", want); err != nil {
			t.Fatal(err)
		}
		if err := try("empty", nil); err != nil {
			t.Fatal(err)
		}
		err := db.View(ctx, func(tx *store.Tx) error {
			list, err := op.Checkpoints(ctx, tx, "chunk")
			if err != nil {
				return err
			}
			if len(list) != 1 {
				t.Fatalf("%d checkpoints, want 1: refused ones were kept", len(list))
			}
			for key, v := range want {
				if list[0].Evidence[key] != v {
					t.Errorf("%s: read back %v (%T), want %v", key, list[0].Evidence[key], list[0].Evidence[key], v)
				}
			}
			if list[0].Text("entity") != "consent" || list[0].Int("chunk") != -1 || list[0].Text("chunk") != "" || list[0].Int("none") != 0 {
				t.Error("Text and Int")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(t, db, op.ID()); err != nil {
			t.Error(err)
		}
	})
}
