// Package ledger keeps the recovery ledger: one row for each operation, found again by its idempotency key, and a hash
// chain of checkpoints that shows every step it took. It is the part of the ledger that stages 1 to 6 need; outcomes that
// stay unknown, dispatch brackets and the operators' commands come on top of it.
//
// # States
//
//	state        means                                    leaves by
//	(none)       nobody asked for this work yet           Begin                    -> running, fence 1
//	running      a process holds the lease                Op.Succeed               -> succeeded
//	                                                      Op.Fail                  -> failed
//	                                                      Op.Release (Ctrl-C)      -> interrupted
//	                                                      Begin, lease run out     -> running, fence + 1
//	failed       it ended with a reason                   Begin                    -> running, fence + 1
//	interrupted  its process let go of it                 Begin                    -> running, fence + 1
//	succeeded    done, with its result                    nothing; Begin hands the result out
//
// Each arrow is one conditional UPDATE whose row count decides, and one link of the chain in the same transaction:
// begun, taken_over, succeeded, failed, interrupted. An arrow that is not listed cannot be taken, and the schema's CHECKs
// refuse the states that no arrow leads to.
//
// # Who is authoritative
//
// The database is: its row, its clock, its fence. A process knows only that it held the fence when a statement said so. The
// local clock is used for one thing: to stop sooner, when the database has not been reached for longer than the lease.
//
// The fence, not the lease, keeps writers apart. The lease says from when on another process may take over; a process that
// overslept its lease may still finish if nobody did. Every write of an operation carries (id, fence, incarnation, running)
// in its WHERE, in the same transaction as the work it stands for, so a stale process can neither append to the chain nor
// commit the rows that its checkpoint would have gone with.
//
// Taking over is never a plain retry: the fence goes up and the previous fence, its incarnation and the reason are written
// into the chain before any work. All stages of this package's users answer "resolve" after an interruption, so Begin takes
// over by itself.
//
// # What a crash does
//
//	crash                                  afterwards
//	before Begin committed                 no row: the next Begin starts afresh
//	after Begin, before the first effect   running until the lease runs out, then taken over
//	inside a transaction with Checkpoint   neither the rows nor the checkpoint stand
//	after it committed                     both stand: the work goes on after the last checkpoint
//	while COMMIT was under way             store.ErrCommitUnknown; the next attempt looks for the checkpoint
//	after Succeed committed                succeeded: the next Begin is Done
//	between two heartbeats                 as after Begin
//
// # The chain
//
// A link's digest is SHA-256 of the canonical JSON of {previous, seq, fence, kind, evidence}. The first link's previous is the
// digest of what the operation is (id, tenant, batch, snapshot, kind, class, request digest). The row holds the head, so a
// link cut off at the end is missed too. VerifyChain recomputes all of it and holds the row's state, result, preconditions
// and operator against the chain.
//
// Evidence is an allow-list of keys, each with one type (see evidence.go): digests, ids, enum words, integers, booleans. There
// is no key for free text, so no personal value, secret or message gets into the chain.
package ledger
