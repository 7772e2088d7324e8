package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"sheetlift/pipeline/store"
)

// Op is an operation that Begin handed out. Its methods may be called from several goroutines.
type Op struct {
	ledger  *Ledger
	rec     *Record // as Begin left it
	fence   int64
	done    bool
	resumed bool
}

// ID is the idempotency key.
func (op *Op) ID() string { return op.rec.ID }

// Fence is the number of the attempt, from 1.
func (op *Op) Fence() int64 { return op.fence }

// Done reports that the operation had succeeded before; there is nothing to do but to use its result.
func (op *Op) Done() bool { return op.done }

// Resumed reports that this attempt took over from an earlier one; work goes on after the last checkpoint.
func (op *Op) Resumed() bool { return op.resumed }

// Result is the JSON of an operation that is Done.
func (op *Op) Result() json.RawMessage { return op.rec.Result }

// ResultDigest is the digest of the result of an operation that is Done.
func (op *Op) ResultDigest() string { return op.rec.ResultDigest }

func (op *Op) fenced() error {
	return fmt.Errorf("%s, attempt %d: %w; run the command again to see where it stands", op.rec.Stage, op.fence, ErrFenced)
}

// Checkpoint appends a link to the chain in the caller's transaction, together with the work it stands for, and extends the
// lease. ErrFenced if this process no longer holds the operation, ErrEvidence if the evidence is not on the allow-list; after
// either the transaction cannot be committed any more.
func (op *Op) Checkpoint(ctx context.Context, tx *store.Tx, kind string, evidence map[string]any) error {
	if !wordPattern.MatchString(kind) || reserved(kind) {
		return tx.Fail(fmt.Errorf("%w: a checkpoint of kind %q", ErrEvidence, kind))
	}
	return op.append(ctx, tx, kind, evidence)
}

// Checkpoints are the links of one kind, of all attempts, in order.
func (op *Op) Checkpoints(ctx context.Context, tx *store.Tx, kind string) ([]Checkpoint, error) {
	return Checkpoints(ctx, tx, op.rec.ID, kind)
}

// Checkpoints are the links of one kind of an operation, of all attempts, in order.
func Checkpoints(ctx context.Context, tx *store.Tx, operation, kind string) ([]Checkpoint, error) {
	chain, err := readChain(ctx, tx, operation)
	if err != nil {
		return nil, err
	}
	var out []Checkpoint
	for _, c := range chain {
		if c.Kind != kind {
			continue
		}
		if c.Evidence, err = decodeEvidence(c.raw); err != nil {
			return nil, fmt.Errorf("checkpoint %d of operation %.12s: %w", c.Seq, operation, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// Succeed ends the operation with its result, in the caller's transaction. digest is the stage's own digest of the result.
func (op *Op) Succeed(ctx context.Context, tx *store.Tx, resultJSON []byte, digest string) error {
	if !json.Valid(resultJSON) {
		return tx.Fail(fmt.Errorf("%w: the result is no JSON", ErrEvidence))
	}
	if err := op.append(ctx, tx, kindSucceeded, map[string]any{"result": digest, "result_bytes": sum(resultJSON)}); err != nil {
		return err
	}
	return op.finish(ctx, tx, Succeeded, nil, string(resultJSON), digest)
}

// Fail ends the operation with a reason: a word such as "findings" or "database_unavailable", never a message. It works with a
// context that has ended.
func (op *Op) Fail(ctx context.Context, reason string) error {
	return op.end(ctx, Failed, kindFailed, reason)
}

// Release lets go of the operation, as after Ctrl-C, so that the next command need not wait for the lease. It works with a
// context that has ended.
func (op *Op) Release(ctx context.Context) error {
	return op.end(ctx, Interrupted, kindInterrupted, "released")
}

// endTimeout bounds how long a command that is ending waits to say so; the lease does the rest.
const endTimeout = 10 * time.Second

func (op *Op) end(ctx context.Context, state State, kind, reason string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	return op.ledger.db.Update(ctx, func(tx *store.Tx) error {
		if err := op.append(ctx, tx, kind, map[string]any{"reason": reason}); err != nil {
			return err
		}
		return op.finish(ctx, tx, state, reason, nil, nil)
	})
}

func (op *Op) finish(ctx context.Context, tx *store.Tx, state State, reason, result, digest any) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	err = one(tx.Exec(ctx, `
		UPDATE operations SET state = $4, reason = $5, result = $6, result_digest = $7, finished_at = $8, lease_until = NULL
		WHERE id = $1 AND fence = $2 AND incarnation = $3 AND state = 'running'`,
		op.rec.ID, op.fence, op.ledger.opt.Incarnation, string(state), reason, result, digest, now))
	if errors.Is(err, errLost) {
		return tx.Fail(op.fenced())
	}
	return err
}

// KeepAlive extends the lease from a goroutine of its own until stop is called. The context it returns ends when the lease is
// lost, with context.Cause ErrFenced: when the database says so, or when the database has not been reached for a whole
// lease. A database that is merely busy (SQLite while this process writes a long transaction) is no loss: nobody else can
// take over meanwhile either. stop may be called more than once.
func (op *Op) KeepAlive(ctx context.Context) (work context.Context, stop func()) {
	work, cancel := context.WithCancelCause(ctx)
	beat, end := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	wg.Go(func() { op.heartbeat(beat, cancel) })
	return work, func() {
		end()
		wg.Wait()
		cancel(context.Canceled)
	}
}

func (op *Op) heartbeat(ctx context.Context, lost context.CancelCauseFunc) {
	lease := op.ledger.opt.Lease
	ticker := time.NewTicker(max(lease/3, time.Millisecond))
	defer ticker.Stop()
	reached := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := op.extend(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil, errors.Is(err, store.ErrBusy), errors.Is(err, store.ErrSerialization):
			reached = time.Now()
		case errors.Is(err, ErrFenced), time.Since(reached) > lease:
			lost(fmt.Errorf("%w: %w", op.fenced(), err))
			return
		}
	}
}

func (op *Op) extend(ctx context.Context) error {
	return op.ledger.db.Update(ctx, func(tx *store.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		err = one(tx.Exec(ctx, `
			UPDATE operations SET lease_until = $4
			WHERE id = $1 AND fence = $2 AND incarnation = $3 AND state = 'running'`,
			op.rec.ID, op.fence, op.ledger.opt.Incarnation, now+op.ledger.opt.Lease.Microseconds()))
		if errors.Is(err, errLost) {
			return op.fenced()
		}
		return err
	})
}

// Holds returns ErrFenced if this process no longer holds the operation. It is for the beginning of a transaction that does much
// before its Checkpoint, which alone decides: nothing stands without one.
func (op *Op) Holds(ctx context.Context, tx *store.Tx) error {
	var n int64
	err := tx.QueryRow(ctx, `
		SELECT COUNT(*)
		FROM operations
		WHERE id = $1 AND fence = $2 AND incarnation = $3 AND state = 'running'`,
		op.rec.ID, op.fence, op.ledger.opt.Incarnation).Scan(&n)
	if err == nil && n != 1 {
		return tx.Fail(op.fenced())
	}
	return err
}
