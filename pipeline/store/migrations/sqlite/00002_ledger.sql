-- owner: pipeline/ledger
-- +goose Up
-- One row an operation. Its id is the idempotency key, so the same work asked for twice is the same row.
CREATE TABLE operations (
    id TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 64),
    tenant TEXT NOT NULL,
    batch TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    kind TEXT NOT NULL,
    class TEXT NOT NULL
        CHECK (class IN ('atomic', 'compensation', 'snapshot_restore', 'forward_recovery', 'irreversible')),
    request_digest TEXT NOT NULL,
    preconditions TEXT NOT NULL,
    operator TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'interrupted')),
    fence INTEGER NOT NULL CHECK (fence >= 1),
    incarnation TEXT NOT NULL,
    lease_until INTEGER,
    reason TEXT,
    result TEXT,
    result_digest TEXT,
    chain_seq INTEGER NOT NULL CHECK (chain_seq >= 0),
    chain_digest TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    asked_at INTEGER NOT NULL,
    finished_at INTEGER,
    CHECK ((state = 'running') = (lease_until IS NOT NULL)),
    CHECK ((state = 'running') = (finished_at IS NULL)),
    CHECK ((state = 'succeeded') = (result IS NOT NULL)),
    CHECK ((result IS NULL) = (result_digest IS NULL)),
    CHECK (reason IS NULL OR state IN ('failed', 'interrupted'))
) STRICT;
CREATE INDEX operations_by_stage ON operations (tenant, batch, snapshot, kind, asked_at);

-- The chain of an operation. Rows are never changed and never deleted.
CREATE TABLE checkpoints (
    operation TEXT NOT NULL REFERENCES operations (id),
    seq INTEGER NOT NULL CHECK (seq >= 1),
    fence INTEGER NOT NULL CHECK (fence >= 1),
    kind TEXT NOT NULL,
    evidence TEXT NOT NULL,
    previous TEXT NOT NULL,
    digest TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    PRIMARY KEY (operation, seq)
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER checkpoints_no_update BEFORE UPDATE ON checkpoints
BEGIN
    SELECT RAISE(ABORT, 'checkpoints are append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER checkpoints_no_delete BEFORE DELETE ON checkpoints
BEGIN
    SELECT RAISE(ABORT, 'checkpoints are append-only');
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE checkpoints;
DROP TABLE operations;
