package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sheetlift/manifests"
	"sheetlift/pipeline/store"
)

// The links that the ledger writes itself; callers cannot.
const (
	kindBegun       = "begun"
	kindTakenOver   = "taken_over"
	kindSucceeded   = "succeeded"
	kindFailed      = "failed"
	kindInterrupted = "interrupted"
)

func reserved(kind string) bool {
	switch kind {
	case kindBegun, kindTakenOver, kindSucceeded, kindFailed, kindInterrupted:
		return true
	}
	return false
}

// Checkpoint is one link of an operation's chain.
type Checkpoint struct {
	Seq      int64
	Fence    int64
	Kind     string
	Evidence map[string]any // string, int64 or bool
	Digest   string
	At       int64 // database's clock, microseconds since 1970 UTC; not covered by the digest

	previous string
	raw      string // evidence as stored
}

// Text is the evidence of a key, or "" if it is none or no string.
func (c *Checkpoint) Text(key string) string { s, _ := c.Evidence[key].(string); return s }

// Int is the evidence of a key, or 0 if it is none or no integer.
func (c *Checkpoint) Int(key string) int64 { n, _ := c.Evidence[key].(int64); return n }

// linkDigest is the digest of a link: evidence is its canonical JSON.
func linkDigest(previous string, seq, fence int64, kind, evidence string) (string, error) {
	return manifests.Digest(struct {
		Previous string          `json:"previous"`
		Seq      int64           `json:"seq"`
		Fence    int64           `json:"fence"`
		Kind     string          `json:"kind"`
		Evidence json.RawMessage `json:"evidence"`
	}{previous, seq, fence, kind, json.RawMessage(evidence)})
}

// genesis ties the first link to what the operation is.
func genesis(r *Record) (string, error) {
	return manifests.Digest(map[string]string{
		"id": r.ID, "tenant": r.Tenant, "batch": r.Batch, "snapshot": r.Snapshot, "kind": r.Stage, "class": r.Class,
		"request": r.RequestDigest,
	})
}

// append writes the next link, if this process still holds the operation. The UPDATE locks the row, so that links of one
// operation queue up, and extends the lease. When it refuses, the caller's other statements must not stand either.
func (op *Op) append(ctx context.Context, tx *store.Tx, kind string, evidence map[string]any) error {
	encoded, err := encodeEvidence(evidence)
	if err != nil {
		return tx.Fail(err)
	}
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	var seq int64
	var previous string
	err = tx.QueryRow(ctx, `
		UPDATE operations SET chain_seq = chain_seq + 1, lease_until = $4
		WHERE id = $1 AND fence = $2 AND incarnation = $3 AND state = 'running'
		RETURNING chain_seq, chain_digest`,
		op.rec.ID, op.fence, op.ledger.opt.Incarnation, now+op.ledger.opt.Lease.Microseconds()).Scan(&seq, &previous)
	if errors.Is(err, store.ErrNoRows) {
		return tx.Fail(op.fenced())
	}
	if err != nil {
		return err
	}
	digest, err := linkDigest(previous, seq, op.fence, kind, encoded)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `
		INSERT INTO checkpoints (operation, seq, fence, kind, evidence, previous, digest, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		op.rec.ID, seq, op.fence, kind, encoded, previous, digest, now); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		UPDATE operations SET chain_digest = $3
		WHERE id = $1 AND fence = $2`, op.rec.ID, op.fence, digest)
	return err
}

// readChain reads all links of an operation in order.
func readChain(ctx context.Context, tx *store.Tx, operation string) ([]Checkpoint, error) {
	rows, err := tx.Query(ctx, `
		SELECT seq, fence, kind, evidence, previous, digest, at
		FROM checkpoints
		WHERE operation = $1
		ORDER BY seq`, operation)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var chain []Checkpoint
	for rows.Next() {
		var c Checkpoint
		if err := rows.Scan(&c.Seq, &c.Fence, &c.Kind, &c.raw, &c.previous, &c.Digest, &c.At); err != nil {
			return nil, err
		}
		chain = append(chain, c)
	}
	return chain, rows.Err()
}

// ChainError says where a chain does not hold. It is ErrChain.
type ChainError struct {
	Operation string
	Seq       int64 // 0 if it is the operation's row that does not agree with its chain
	What      string
}

func (e *ChainError) Error() string {
	if e.Seq == 0 {
		return fmt.Sprintf("operation %.12s: its row does not agree with its chain: %s; restore the database from a backup", e.Operation, e.What)
	}
	return fmt.Sprintf("operation %.12s: its chain does not hold at checkpoint %d: %s; restore the database from a backup", e.Operation, e.Seq, e.What)
}

// Unwrap gives ErrChain.
func (e *ChainError) Unwrap() error { return ErrChain }

// VerifyChain recomputes an operation's chain and holds the operation's row against it. A fault is a *ChainError; an unknown
// operation is store.ErrNoRows.
func VerifyChain(ctx context.Context, tx *store.Tx, operation string) error {
	rec, err := load(ctx, tx, operation)
	if err != nil {
		return err
	}
	chain, err := readChain(ctx, tx, operation)
	if err != nil {
		return err
	}
	previous, err := genesis(rec)
	if err != nil {
		return err
	}
	fault := func(seq int64, what string) error { return &ChainError{Operation: operation, Seq: seq, What: what} }
	if len(chain) == 0 {
		return fault(0, "the chain is empty")
	}
	var claim *Checkpoint // the last begun or taken_over
	fence := int64(1)
	for i := range chain {
		c := &chain[i]
		seq := int64(i + 1)
		if c.Seq != seq {
			return fault(seq, "it is missing")
		}
		if c.previous != previous {
			return fault(seq, "it does not follow the one before")
		}
		digest, err := linkDigest(c.previous, c.Seq, c.Fence, c.Kind, c.raw)
		if err != nil || digest != c.Digest {
			return fault(seq, "its content is not what its digest says")
		}
		if c.Evidence, err = decodeEvidence(c.raw); err != nil {
			return fault(seq, "its evidence cannot be read")
		}
		if (c.Kind == kindBegun) != (i == 0) {
			return fault(seq, "begun is the first checkpoint and no other")
		}
		if c.Kind == kindTakenOver {
			if c.Int("previous_fence") != fence {
				return fault(seq, "it takes over from another fence than the one before")
			}
			fence++
		}
		if c.Fence != fence {
			return fault(seq, "its fence was not the valid one")
		}
		if c.Kind == kindBegun || c.Kind == kindTakenOver {
			claim = c
		} else if reserved(chain[i-1].Kind) && chain[i-1].Kind != kindBegun && chain[i-1].Kind != kindTakenOver {
			return fault(seq, "it comes after the operation had ended")
		}
		previous = c.Digest
	}
	return rec.agrees(&chain[len(chain)-1], claim, fault)
}

// agrees holds the row against the last link and the last claim.
func (r *Record) agrees(last, claim *Checkpoint, fault func(int64, string) error) error {
	switch {
	case r.chainSeq != last.Seq || r.chainDigest != last.Digest:
		return fault(0, "the chain does not end where the row says")
	case r.Fence != last.Fence:
		return fault(0, "fence")
	case claim.Text("request") != r.RequestDigest:
		return fault(0, "request")
	case claim.Text("preconditions") != sum([]byte(r.preconditions)):
		return fault(0, "preconditions")
	case claim.Text("operator") != sum([]byte(r.Operator)):
		return fault(0, "operator")
	case claim.Text("incarnation") != r.Incarnation:
		return fault(0, "incarnation")
	}
	state := Running
	switch last.Kind {
	case kindSucceeded:
		state = Succeeded
	case kindFailed:
		state = Failed
	case kindInterrupted:
		state = Interrupted
	}
	switch {
	case r.State != state:
		return fault(0, "state")
	case state == Succeeded && (last.Text("result") != r.ResultDigest || last.Text("result_bytes") != sum(r.Result)):
		return fault(0, "result")
	case (state == Failed || state == Interrupted) && last.Text("reason") != r.Reason:
		return fault(0, "reason")
	}
	return nil
}
