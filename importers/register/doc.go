// Package register is the control-plane register: staged records land in it exactly once, keep where they came from, and change
// only through named functions.
//
// # Tables
//
// One table an entity (purposes, notices, activities, retention_rules, suppressions, cases), two for consent (receipts,
// legacy_assertions), and beside them id_map (external key ↔ id, one-to-one, holding digests of keys only), provenance (record →
// file digest, sheet, row, row digest, batch, snapshot, mapping and staged digests; of a row that only found its record there, the
// version that it vouches for), events (append-only, without values), revisions (a counter per tenant and batch) and unrecorded (what
// rows say that gave no record and matters to others, with pseudonyms for identifiers).
//
// # Identity
//
// A record's id is the UUIDv5, in the tenant's namespace, of the RFC 8785 array [tenant, system, entity, key]; an event's
// id is that of [tenant, system, entity, key, content digest]. Neither a file nor a row number is part of it, so that a
// re-export converges. These definitions must not change: registers in use depend on them.
//
// # What happens if the process dies
//
// A group of chunks (staged.ChunkRows records each, of one staged file) is one transaction: its records, id map rows, provenance,
// event, revision and the ledger's checkpoints, one a chunk. After a crash the import continues with the chunks that have none; a
// chunk is in the register whole or not at all.
package register
