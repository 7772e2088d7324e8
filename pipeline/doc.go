// Package pipeline is the batch and its stages: inventory, freeze, map, dryrun, import, reconcile, one file a stage, and the gates
// between them.
//
// # What it promises
//
//   - A stage runs only when its gate holds: the stages before it succeeded on the same frozen manifest, mappings and staged
//     bytes. A refusal is a *GateError that says which of them changed.
//   - For every source, rows read = accepted + rejected + skipped, and each rejected row has a finding.
//   - What a stage finds out is a result value. Its digest is SHA-256 over its RFC 8785 form without paths, clocks, operators,
//     subject tokens and database details, so that both databases give the same; it is kept as the operation's evidence.
//   - Every stage is an operation of the ledger with an idempotency key over its inputs. The same inputs again give the recorded
//     result, after what it points to (staged files, findings) has been checked or made again and found equal.
//
// # Where things lie
//
// Beside batch.yaml, in .sheetlift/ (or Options.Home): register.db, vault/BATCH/SNAPSHOT (the bag), and work/BATCH/STAGE-KEY/
// (findings.ndjson, staged *.arrow, profiles), KEY being the beginning of the operation's idempotency key. Directories are 0700,
// files 0600.
//
// # What happens if the process dies
//
//	inventory, map     nothing was written but the operation row; the same command runs again
//	freeze             a bag is written beside its final name and renamed when complete: a half-written one is never used, the next
//	                   freeze removes it
//	dryrun             staged files are written into a folder with a .partial suffix and renamed when complete
//	import             some chunks are one transaction with their checkpoints; the same command goes on after the last, by the
//	                   dry-run that it began with, and no other dry-run is made until it has ended or was undone
//	reconcile          reads only
//
// The work folder may be lost: what lies in it is made anew from the vault and the register by the stage that needs it, and must be what
// was recorded. The vault and the database must not.
package pipeline
