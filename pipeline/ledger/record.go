package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sheetlift/pipeline/store"
)

// State is the state of an operation.
type State string

// The states; see the package comment.
const (
	Running     State = "running"
	Succeeded   State = "succeeded"
	Failed      State = "failed"
	Interrupted State = "interrupted"
)

// Record is an operation as its row says it. Times are microseconds since 1970 UTC on the database's clock, 0 for none.
type Record struct {
	ID            string // the idempotency key
	Tenant        string
	Batch         string
	Snapshot      string
	Stage         string
	Class         string
	RequestDigest string
	Operator      string // who holds it, or held it last
	State         State
	Fence         int64
	Incarnation   string // of the process that holds it, or held it last
	LeaseUntil    int64
	Reason        string // of a failed or interrupted one
	Result        json.RawMessage
	ResultDigest  string
	StartedAt     int64
	AskedAt       int64 // when a command asked for it last
	FinishedAt    int64

	preconditions string
	chainSeq      int64
	chainDigest   string
}

// Precondition is an integer among the preconditions that the operation's last attempt recorded.
func (r *Record) Precondition(name string) (int64, error) {
	m, err := decodeEvidence(r.preconditions)
	if err != nil {
		return 0, fmt.Errorf("preconditions of operation %.12s: %w", r.ID, err)
	}
	n, ok := m[name].(int64)
	if !ok {
		return 0, fmt.Errorf("operation %.12s recorded no integer precondition %q", r.ID, name)
	}
	return n, nil
}

// Preconditions is the canonical JSON of what the operation's last attempt recorded before any effect.
func (r *Record) Preconditions() json.RawMessage { return json.RawMessage(r.preconditions) }

const recordColumns = `id, tenant, batch, snapshot, kind, class, request_digest, preconditions, operator, state, fence, incarnation,
		lease_until, reason, result, result_digest, chain_seq, chain_digest, started_at, asked_at, finished_at`

type scanner interface{ Scan(dest ...any) error }

func scanRecord(row scanner) (*Record, error) {
	var r Record
	var lease, finished *int64
	var reason, result, resultDigest *string
	var state string
	err := row.Scan(&r.ID, &r.Tenant, &r.Batch, &r.Snapshot, &r.Stage, &r.Class, &r.RequestDigest, &r.preconditions, &r.Operator, &state, &r.Fence,
		&r.Incarnation, &lease, &reason, &result, &resultDigest, &r.chainSeq, &r.chainDigest, &r.StartedAt, &r.AskedAt, &finished)
	if err != nil {
		return nil, err
	}
	r.State = State(state)
	r.LeaseUntil, r.FinishedAt = value(lease), value(finished)
	r.Reason, r.ResultDigest = value(reason), value(resultDigest)
	if result != nil {
		r.Result = json.RawMessage(*result)
	}
	return &r, nil
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func load(ctx context.Context, tx *store.Tx, id string) (*Record, error) {
	return scanRecord(tx.QueryRow(ctx, `SELECT `+recordColumns+` FROM operations WHERE id = $1`, id))
}

// Last is the succeeded operation of a stage that was asked for last (not the one that finished last: asking again for what is
// done already makes it the valid one again), or nil if there is none.
func Last(ctx context.Context, tx *store.Tx, tenant, batch, snapshot, stage string) (*Record, error) {
	r, err := scanRecord(tx.QueryRow(ctx, `
		SELECT `+recordColumns+`
		FROM operations
		WHERE tenant = $1 AND batch = $2 AND snapshot = $3 AND kind = $4 AND state = 'succeeded'
		ORDER BY asked_at DESC, finished_at DESC, id
		LIMIT 1`, tenant, batch, snapshot, stage))
	if errors.Is(err, store.ErrNoRows) {
		return nil, nil
	}
	return r, err
}

// List is all operations of a batch, in the order in which they were first begun.
func List(ctx context.Context, tx *store.Tx, tenant, batch string) ([]*Record, error) {
	rows, err := tx.Query(ctx, `
		SELECT `+recordColumns+`
		FROM operations
		WHERE tenant = $1 AND batch = $2
		ORDER BY started_at, id`, tenant, batch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []*Record
	for rows.Next() {
		r, err := scanRecord(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// Attempt is how far an operation is.
type Attempt struct {
	State      State
	FinishedAt int64 // 0 while it runs
}

// Attempts tells how far each operation of a stage of a batch is, without its result.
func Attempts(ctx context.Context, tx *store.Tx, tenant, batch, stage string) ([]Attempt, error) {
	rows, err := tx.Query(ctx, `
		SELECT state, COALESCE(finished_at, 0)
		FROM operations
		WHERE tenant = $1 AND batch = $2 AND kind = $3
		ORDER BY started_at, id`, tenant, batch, stage)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []Attempt
	for rows.Next() {
		var a Attempt
		var state string
		if err := rows.Scan(&state, &a.FinishedAt); err != nil {
			return nil, err
		}
		a.State = State(state)
		list = append(list, a)
	}
	return list, rows.Err()
}

// Unfinished lists the batches of a tenant that have an operation of one of two stages that has not succeeded.
func Unfinished(ctx context.Context, tx *store.Tx, tenant, stage, other string) ([]string, error) {
	return batches(ctx, tx, `
		SELECT DISTINCT batch
		FROM operations
		WHERE tenant = $1 AND kind IN ($2, $3) AND state <> 'succeeded'
		ORDER BY batch`, tenant, stage, other)
}

// Batches lists the batches of a tenant that have an operation of a stage, whatever became of it.
func Batches(ctx context.Context, tx *store.Tx, tenant, stage string) ([]string, error) {
	return batches(ctx, tx, `
		SELECT DISTINCT batch
		FROM operations
		WHERE tenant = $1 AND kind = $2
		ORDER BY batch`, tenant, stage)
}

func batches(ctx context.Context, tx *store.Tx, query string, args ...any) ([]string, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var batch string
		if err := rows.Scan(&batch); err != nil {
			return nil, err
		}
		list = append(list, batch)
	}
	return list, rows.Err()
}
