-- owner: pipeline/ledger
-- +goose Up
-- One row an operation. Its id is the idempotency key, so the same work asked for twice is the same row.
CREATE TABLE operations (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(id) = 64),
    tenant TEXT COLLATE "C" NOT NULL,
    batch TEXT COLLATE "C" NOT NULL,
    snapshot TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    class TEXT COLLATE "C" NOT NULL
        CHECK (class IN ('atomic', 'compensation', 'snapshot_restore', 'forward_recovery', 'irreversible')),
    request_digest TEXT COLLATE "C" NOT NULL,
    preconditions TEXT COLLATE "C" NOT NULL,
    operator TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('running', 'succeeded', 'failed', 'interrupted')),
    fence BIGINT NOT NULL CHECK (fence >= 1),
    incarnation TEXT COLLATE "C" NOT NULL,
    lease_until BIGINT,
    reason TEXT COLLATE "C",
    result TEXT COLLATE "C",
    result_digest TEXT COLLATE "C",
    chain_seq BIGINT NOT NULL CHECK (chain_seq >= 0),
    chain_digest TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    asked_at BIGINT NOT NULL,
    finished_at BIGINT,
    CHECK ((state = 'running') = (lease_until IS NOT NULL)),
    CHECK ((state = 'running') = (finished_at IS NULL)),
    CHECK ((state = 'succeeded') = (result IS NOT NULL)),
    CHECK ((result IS NULL) = (result_digest IS NULL)),
    CHECK (reason IS NULL OR state IN ('failed', 'interrupted'))
);
CREATE INDEX operations_by_stage ON operations (tenant, batch, snapshot, kind, asked_at);

-- The chain of an operation. Rows are never changed and never deleted.
CREATE TABLE checkpoints (
    operation TEXT COLLATE "C" NOT NULL REFERENCES operations (id),
    seq BIGINT NOT NULL CHECK (seq >= 1),
    fence BIGINT NOT NULL CHECK (fence >= 1),
    kind TEXT COLLATE "C" NOT NULL,
    evidence TEXT COLLATE "C" NOT NULL,
    previous TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL UNIQUE,
    at BIGINT NOT NULL,
    PRIMARY KEY (operation, seq)
);

-- +goose StatementBegin
CREATE FUNCTION checkpoints_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'checkpoints are append-only' USING ERRCODE = 'integrity_constraint_violation';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER checkpoints_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON checkpoints
    FOR EACH STATEMENT EXECUTE FUNCTION checkpoints_append_only();

-- +goose Down
DROP TABLE checkpoints;
DROP TABLE operations;
DROP FUNCTION checkpoints_append_only();
