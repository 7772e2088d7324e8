package ledger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"sheetlift/manifests"
	"sheetlift/pipeline/store"
)

// What a caller may branch on with errors.Is.
var (
	// ErrFenced: this process no longer holds the operation. Whatever it was about to write must not stand.
	ErrFenced = errors.New("another process has taken this operation over, or it has ended")
	// ErrEvidence: evidence, a kind or a reason that the allow-list does not take.
	ErrEvidence = errors.New("evidence refused")
	// ErrRequest: the request is incomplete, or its key belongs to another operation.
	ErrRequest = errors.New("request refused")
	// ErrChain: a chain of checkpoints does not hold.
	ErrChain = errors.New("chain of checkpoints does not hold")
)

// Options set up a Ledger.
type Options struct {
	Lease       time.Duration // how long a silent process keeps an operation; default 15 s
	Poll        time.Duration // how often Begin looks while it waits; default 250 ms
	Incarnation string        // id of this process start, 32 hex digits; default random
	Notify      func(Notice)  // told what Begin waits for and what it took over; default nobody
}

// What a Notice tells of.
const (
	NoticeWaiting   = "waiting"    // somebody else holds what is asked for
	NoticeTakenOver = "taken_over" // from an attempt that has ended
	NoticeRemark    = "remark"     // anything else
)

// Notice is something that a person should see at once.
type Notice struct {
	Event    string `json:"event"`
	Message  string `json:"message"`
	Stage    string `json:"stage,omitempty"`
	Batch    string `json:"batch,omitempty"`
	Operator string `json:"operator,omitempty"` // who holds what is waited for
	Seconds  int64  `json:"seconds,omitempty"`  // the longest wait, unless the holder turns out to live
}

// Remark is a notice of a message alone.
func Remark(message string) Notice { return Notice{Event: NoticeRemark, Message: message} }

// Ledger begins operations. It is safe for use by many goroutines.
type Ledger struct {
	db  *store.DB
	opt Options
}

// New returns a ledger in a migrated database.
func New(db *store.DB, opt Options) *Ledger {
	if opt.Lease <= 0 {
		opt.Lease = 15 * time.Second
	}
	if opt.Poll <= 0 {
		opt.Poll = 250 * time.Millisecond
	}
	if opt.Incarnation == "" {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
		opt.Incarnation = hex.EncodeToString(b[:])
	}
	if opt.Notify == nil {
		opt.Notify = func(Notice) {}
	}
	return &Ledger{db: db, opt: opt}
}

// Request is what is to be done.
type Request struct {
	Tenant, Batch, Snapshot string
	Stage                   string // the operation's kind
	Class                   string // atomic, compensation, snapshot_restore, forward_recovery, irreversible
	Operator                string // the principal who asks
	Key                     string // idempotency key: SHA-256 in hex of (tenant, batch, stage, snapshot, input digests)
	RequestDigest           string // SHA-256 in hex of the whole request
	Preconditions           any    // a JSON object of what was found before any effect: digests, numbers; no personal values
}

// Begin claims an operation, or tells that it is done.
//
//   - New: claimed with fence 1.
//   - Succeeded already: Op.Done, with its result.
//   - Running with a live lease: waits, saying so through Notify, until it ends or its lease runs out.
//   - Failed, interrupted, or running with a lease that ran out: taken over, Op.Resumed.
//
// However many processes ask for one key, one of them works at a time. ErrRequest if the key belongs to something else.
func (l *Ledger) Begin(ctx context.Context, req Request) (*Op, error) {
	pre, err := req.check()
	if err != nil {
		return nil, err
	}
	said := map[string]bool{}
	say := func(once string, n Notice) {
		if !said[once] {
			said[once] = true
			l.opt.Notify(n)
		}
	}
	var lease int64 // as it was seen first
	for {
		// Looking costs no lock: on SQLite the one who works may be writing for long.
		rec, now, err := l.look(ctx, req.Key)
		if err != nil {
			return nil, fmt.Errorf("begin %s: %w", req.Stage, err)
		}
		if rec != nil {
			if err := req.matches(rec); err != nil {
				return nil, err
			}
			if rec.State == Running && rec.LeaseUntil > now {
				if lease == 0 {
					lease = rec.LeaseUntil
				}
				n := Notice{Event: NoticeWaiting, Stage: rec.Stage, Batch: rec.Batch, Operator: rec.Operator}
				if rec.LeaseUntil == lease {
					n.Seconds = Seconds(rec.LeaseUntil - now)
					n.Message = fmt.Sprintf("%s of batch %s is already being run by %s; waiting until that ends or, if its process has died, for its lease to run out: %d s at most",
						rec.Stage, rec.Batch, rec.Operator, n.Seconds)
					say("lease", n)
				} else {
					n.Message = fmt.Sprintf("%s of batch %s goes on, its process has renewed its lease; waiting until it ends", rec.Stage, rec.Batch)
					say("renewed", n)
				}
				if err := l.pause(ctx, time.Duration(rec.LeaseUntil-now)*time.Microsecond); err != nil {
					return nil, err
				}
				continue
			}
		}
		op, err := l.claim(ctx, &req, pre, rec)
		switch {
		case errors.Is(err, errLost):
			continue // another process was first; look again
		case errors.Is(err, store.ErrBusy), errors.Is(err, store.ErrSerialization):
			say("busy", Notice{Event: NoticeWaiting, Message: "the database is busy with another transaction; waiting", Stage: req.Stage, Batch: req.Batch})
			if err := l.pause(ctx, l.opt.Poll); err != nil {
				return nil, err
			}
			continue
		case err != nil:
			return nil, fmt.Errorf("begin %s: %w", req.Stage, err)
		}
		if op.Resumed() {
			l.opt.Notify(Notice{Event: NoticeTakenOver, Stage: rec.Stage, Batch: rec.Batch,
				Message: fmt.Sprintf("%s of batch %s goes on where an earlier attempt ended (%s); attempt %d", rec.Stage, rec.Batch, takeoverReason(rec), op.fence)})
		}
		return op, nil
	}
}

// Seconds is a time of the database in whole seconds, rounded up.
func Seconds(micros int64) int64 { return (micros + 999_999) / 1_000_000 }

// errLost: a conditional statement found that another process was first.
var errLost = errors.New("another process was first")

func (l *Ledger) look(ctx context.Context, key string) (rec *Record, now int64, err error) {
	err = l.db.View(ctx, func(tx *store.Tx) error {
		if rec, err = load(ctx, tx, key); errors.Is(err, store.ErrNoRows) {
			rec, err = nil, nil
		}
		if err != nil {
			return err
		}
		now, err = tx.Now(ctx)
		return err
	})
	return rec, now, err
}

// pause waits for the next look, not longer than the rest of a lease.
func (l *Ledger) pause(ctx context.Context, rest time.Duration) error {
	timer := time.NewTimer(max(time.Millisecond, min(rest, l.opt.Poll)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// claim takes the operation in the state in which it was seen, or errLost.
func (l *Ledger) claim(ctx context.Context, req *Request, pre string, seen *Record) (*Op, error) {
	op := &Op{ledger: l, fence: 1}
	err := l.db.Update(ctx, func(tx *store.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		switch {
		case seen == nil:
			err = op.insert(ctx, tx, req, pre, now)
		case seen.State == Succeeded:
			op.done, op.fence = true, seen.Fence
			err = one(tx.Exec(ctx, `
				UPDATE operations SET asked_at = $2
				WHERE id = $1 AND state = 'succeeded'`, seen.ID, now))
		default:
			err = op.takeOver(ctx, tx, req, pre, seen, now)
		}
		if err != nil {
			return err
		}
		op.rec, err = load(ctx, tx, req.Key)
		return err
	})
	if err != nil {
		return nil, err
	}
	return op, nil
}

func (op *Op) insert(ctx context.Context, tx *store.Tx, req *Request, pre string, now int64) error {
	op.rec = &Record{ID: req.Key, Tenant: req.Tenant, Batch: req.Batch, Snapshot: req.Snapshot, Stage: req.Stage, Class: req.Class,
		RequestDigest: req.RequestDigest}
	first, err := genesis(op.rec)
	if err != nil {
		return err
	}
	err = one(tx.Exec(ctx, `
		INSERT INTO operations (id, tenant, batch, snapshot, kind, class, request_digest, preconditions, operator, state, fence, incarnation,
			lease_until, chain_seq, chain_digest, started_at, asked_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'running', 1, $10, $11, 0, $12, $13, $13)
		ON CONFLICT (id) DO NOTHING`,
		req.Key, req.Tenant, req.Batch, req.Snapshot, req.Stage, req.Class, req.RequestDigest, pre, req.Operator, op.ledger.opt.Incarnation,
		now+op.ledger.opt.Lease.Microseconds(), first, now))
	if err != nil {
		return err
	}
	return op.append(ctx, tx, kindBegun, op.claimEvidence(req, pre))
}

func (op *Op) takeOver(ctx context.Context, tx *store.Tx, req *Request, pre string, seen *Record, now int64) error {
	op.rec, op.fence, op.resumed = seen, seen.Fence+1, true
	var lease any // the lease that was seen to have run out must not have been extended since
	if seen.State == Running {
		lease = seen.LeaseUntil
	}
	err := one(tx.Exec(ctx, `
		UPDATE operations SET state = 'running', fence = fence + 1, incarnation = $4, operator = $5, preconditions = $6, lease_until = $7,
			asked_at = $8, reason = NULL, finished_at = NULL
		WHERE id = $1 AND fence = $2 AND state = $3 AND COALESCE(lease_until, 0) = COALESCE(CAST($9 AS BIGINT), 0)`,
		seen.ID, seen.Fence, string(seen.State), op.ledger.opt.Incarnation, req.Operator, pre, now+op.ledger.opt.Lease.Microseconds(), now, lease))
	if err != nil {
		return err
	}
	evidence := op.claimEvidence(req, pre)
	evidence["previous_fence"] = seen.Fence
	evidence["previous_incarnation"] = seen.Incarnation
	evidence["previous_state"] = string(seen.State)
	evidence["reason"] = takeoverReason(seen)
	return op.append(ctx, tx, kindTakenOver, evidence)
}

func takeoverReason(seen *Record) string {
	if seen.State == Running {
		return "lease_expired"
	}
	return seen.Reason
}

func (op *Op) claimEvidence(req *Request, pre string) map[string]any {
	return map[string]any{
		"request":       req.RequestDigest,
		"preconditions": sum([]byte(pre)),
		"operator":      sum([]byte(req.Operator)),
		"incarnation":   op.ledger.opt.Incarnation,
	}
}

// one turns "no row changed" into errLost.
func one(n int64, err error) error {
	if err == nil && n != 1 {
		return errLost
	}
	return err
}

var classes = map[string]bool{
	"atomic": true, "compensation": true, "snapshot_restore": true, "forward_recovery": true, "irreversible": true,
}

// check refuses an incomplete request and gives the preconditions' canonical JSON.
func (req *Request) check() (string, error) {
	switch {
	case !digestPattern.MatchString(req.Key):
		return "", fmt.Errorf("%w: the idempotency key is no SHA-256 in hex", ErrRequest)
	case !digestPattern.MatchString(req.RequestDigest):
		return "", fmt.Errorf("%w: the request digest is no SHA-256 in hex", ErrRequest)
	case req.Tenant == "" || req.Batch == "" || req.Snapshot == "" || req.Operator == "":
		return "", fmt.Errorf("%w: tenant, batch, snapshot and operator are all needed", ErrRequest)
	case !wordPattern.MatchString(req.Stage):
		return "", fmt.Errorf("%w: the stage is no word", ErrRequest)
	case !classes[req.Class]:
		return "", fmt.Errorf("%w: unknown class %q", ErrRequest, req.Class)
	}
	if req.Preconditions == nil {
		return "{}", nil
	}
	pre, err := manifests.Canonical(req.Preconditions)
	if err != nil {
		return "", fmt.Errorf("%w: preconditions: %w", ErrRequest, err)
	}
	if len(pre) == 0 || pre[0] != '{' {
		return "", fmt.Errorf("%w: preconditions are no JSON object", ErrRequest)
	}
	return string(pre), nil
}

func (req *Request) matches(rec *Record) error {
	if rec.Tenant != req.Tenant || rec.Batch != req.Batch || rec.Snapshot != req.Snapshot || rec.Stage != req.Stage || rec.Class != req.Class ||
		rec.RequestDigest != req.RequestDigest {
		return fmt.Errorf("%w: key %.12s belongs to another operation (%s of batch %s)", ErrRequest, req.Key, rec.Stage, rec.Batch)
	}
	return nil
}
