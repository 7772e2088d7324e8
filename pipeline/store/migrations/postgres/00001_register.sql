-- owner: importers/register
-- +goose Up
CREATE TABLE purposes (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    system TEXT COLLATE "C" NOT NULL,
    external_key TEXT COLLATE "C" NOT NULL,
    content_digest TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    purpose_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C",
    dpv_purpose TEXT COLLATE "C",
    lawful_basis TEXT COLLATE "C",
    owner TEXT COLLATE "C"
);

CREATE TABLE notices (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    system TEXT COLLATE "C" NOT NULL,
    external_key TEXT COLLATE "C" NOT NULL,
    content_digest TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    notice_id TEXT COLLATE "C" NOT NULL,
    notice_version TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C",
    language TEXT COLLATE "C",
    wording TEXT COLLATE "C",
    wording_digest TEXT COLLATE "C",
    url TEXT COLLATE "C",
    valid_from TEXT COLLATE "C" NOT NULL,
    valid_from_text TEXT COLLATE "C",
    valid_to TEXT COLLATE "C",
    valid_to_text TEXT COLLATE "C"
);

CREATE TABLE activities (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    system TEXT COLLATE "C" NOT NULL,
    external_key TEXT COLLATE "C" NOT NULL,
    content_digest TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    activity_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    controller TEXT COLLATE "C",
    purpose TEXT COLLATE "C",
    lawful_basis TEXT COLLATE "C",
    subject_categories TEXT COLLATE "C",
    data_categories TEXT COLLATE "C",
    recipients TEXT COLLATE "C",
    transfers TEXT COLLATE "C",
    retention TEXT COLLATE "C",
    security TEXT COLLATE "C",
    owner TEXT COLLATE "C"
);

CREATE TABLE retention_rules (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    system TEXT COLLATE "C" NOT NULL,
    external_key TEXT COLLATE "C" NOT NULL,
    content_digest TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    rule_id TEXT COLLATE "C" NOT NULL,
    entity TEXT COLLATE "C" NOT NULL,
    purpose TEXT COLLATE "C",
    months BIGINT NOT NULL,
    starts TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C",
    authority TEXT COLLATE "C"
);

CREATE TABLE suppressions (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    system TEXT COLLATE "C" NOT NULL,
    external_key TEXT COLLATE "C" NOT NULL,
    content_digest TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    external_id TEXT COLLATE "C",
    subject_id TEXT COLLATE "C",
    email TEXT COLLATE "C",
    phone TEXT COLLATE "C",
    channel TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    occurred_at BIGINT,
    occurred_at_text TEXT COLLATE "C",
    occurred_at_zone TEXT COLLATE "C",
    occurred_at_precision TEXT COLLATE "C",
    note TEXT COLLATE "C"
);

CREATE TABLE cases (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    system TEXT COLLATE "C" NOT NULL,
    external_key TEXT COLLATE "C" NOT NULL,
    content_digest TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    external_id TEXT COLLATE "C",
    request_type TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    status_text TEXT COLLATE "C",
    subject_id TEXT COLLATE "C",
    email TEXT COLLATE "C",
    phone TEXT COLLATE "C",
    requester_name TEXT COLLATE "C",
    purpose TEXT COLLATE "C",
    channel TEXT COLLATE "C",
    received_at BIGINT NOT NULL,
    received_at_text TEXT COLLATE "C",
    received_at_zone TEXT COLLATE "C",
    received_at_precision TEXT COLLATE "C",
    due_at TEXT COLLATE "C",
    due_at_text TEXT COLLATE "C",
    extended_to TEXT COLLATE "C",
    extended_to_text TEXT COLLATE "C",
    identity_verified BIGINT,
    closed_at BIGINT,
    closed_at_text TEXT COLLATE "C",
    closed_at_zone TEXT COLLATE "C",
    closed_at_precision TEXT COLLATE "C",
    refusal_reason TEXT COLLATE "C",
    handler TEXT COLLATE "C",
    details TEXT COLLATE "C",
    origin TEXT COLLATE "C" NOT NULL,
    rule_due_at TEXT COLLATE "C",
    approved_by TEXT COLLATE "C",
    approved_at BIGINT
);

CREATE TABLE receipts (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    record_id TEXT COLLATE "C" NOT NULL,
    system TEXT COLLATE "C" NOT NULL,
    external_key TEXT COLLATE "C" NOT NULL,
    content_digest TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    external_id TEXT COLLATE "C",
    subject_id TEXT COLLATE "C",
    email TEXT COLLATE "C",
    phone TEXT COLLATE "C",
    device_id TEXT COLLATE "C",
    purpose TEXT COLLATE "C",
    channel TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL,
    occurred_at BIGINT,
    occurred_at_text TEXT COLLATE "C",
    occurred_at_zone TEXT COLLATE "C",
    occurred_at_precision TEXT COLLATE "C",
    expires_at BIGINT,
    expires_at_text TEXT COLLATE "C",
    expires_at_zone TEXT COLLATE "C",
    expires_at_precision TEXT COLLATE "C",
    notice_id TEXT COLLATE "C",
    notice_version TEXT COLLATE "C",
    notice_digest TEXT COLLATE "C",
    actor TEXT COLLATE "C",
    actor_role TEXT COLLATE "C",
    method TEXT COLLATE "C",
    proof_kind TEXT COLLATE "C",
    proof_ref TEXT COLLATE "C",
    lawful_basis TEXT COLLATE "C",
    collected_via TEXT COLLATE "C",
    language TEXT COLLATE "C",
    jurisdiction TEXT COLLATE "C",
    note TEXT COLLATE "C",
    confidence TEXT COLLATE "C" NOT NULL,
    missing TEXT COLLATE "C" NOT NULL,
    remediation TEXT COLLATE "C",
    stated TEXT COLLATE "C"
);

CREATE TABLE legacy_assertions (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    record_id TEXT COLLATE "C" NOT NULL,
    system TEXT COLLATE "C" NOT NULL,
    external_key TEXT COLLATE "C" NOT NULL,
    content_digest TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    external_id TEXT COLLATE "C",
    subject_id TEXT COLLATE "C",
    email TEXT COLLATE "C",
    phone TEXT COLLATE "C",
    device_id TEXT COLLATE "C",
    purpose TEXT COLLATE "C",
    channel TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL,
    occurred_at BIGINT,
    occurred_at_text TEXT COLLATE "C",
    occurred_at_zone TEXT COLLATE "C",
    occurred_at_precision TEXT COLLATE "C",
    expires_at BIGINT,
    expires_at_text TEXT COLLATE "C",
    expires_at_zone TEXT COLLATE "C",
    expires_at_precision TEXT COLLATE "C",
    notice_id TEXT COLLATE "C",
    notice_version TEXT COLLATE "C",
    notice_digest TEXT COLLATE "C",
    actor TEXT COLLATE "C",
    actor_role TEXT COLLATE "C",
    method TEXT COLLATE "C",
    proof_kind TEXT COLLATE "C",
    proof_ref TEXT COLLATE "C",
    lawful_basis TEXT COLLATE "C",
    collected_via TEXT COLLATE "C",
    language TEXT COLLATE "C",
    jurisdiction TEXT COLLATE "C",
    note TEXT COLLATE "C",
    confidence TEXT COLLATE "C" NOT NULL,
    missing TEXT COLLATE "C" NOT NULL,
    remediation TEXT COLLATE "C",
    stated TEXT COLLATE "C"
);

-- The id map is one-to-one: an id is worked out from its key, so a key has one id, and the primary key sees to it that an id has
-- one key. It holds digests of keys only. They have no index: nobody looks for them, and one at random places cost a third of a
-- load.
CREATE TABLE id_map (
    tenant TEXT COLLATE "C" NOT NULL,
    system TEXT COLLATE "C" NOT NULL,
    entity TEXT COLLATE "C" NOT NULL,
    key_digest TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY
);

-- Where a record came from. One row a record, batch and snapshot; row_digest never leaves the database.
CREATE TABLE provenance (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    entity TEXT COLLATE "C" NOT NULL,
    batch TEXT COLLATE "C" NOT NULL,
    snapshot TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    file_digest TEXT COLLATE "C" NOT NULL,
    sheet TEXT COLLATE "C" NOT NULL,
    row BIGINT NOT NULL,
    line BIGINT NOT NULL,
    row_digest TEXT COLLATE "C" NOT NULL,
    mapping_digest TEXT COLLATE "C" NOT NULL,
    staged_digest TEXT COLLATE "C" NOT NULL,
    obtained_at BIGINT NOT NULL,
    PRIMARY KEY (id, batch, snapshot)
);

-- Append-only: what was done to the register, and who looked at values, without values.
CREATE TABLE events (
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('import', 'correct', 'retract', 'erase', 'reveal')),
    entity TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C",
    batch TEXT COLLATE "C" NOT NULL,
    snapshot TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    records BIGINT NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    operation TEXT COLLATE "C" NOT NULL,
    operator TEXT COLLATE "C" NOT NULL
);

-- The register's revision, counted per batch, so that a batch can tell others' changes from its own.
CREATE TABLE revisions (
    tenant TEXT COLLATE "C" NOT NULL,
    batch TEXT COLLATE "C" NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (tenant, batch)
);

-- +goose Down
DROP TABLE revisions;
DROP TABLE events;
DROP TABLE provenance;
DROP TABLE id_map;
DROP TABLE legacy_assertions;
DROP TABLE receipts;
DROP TABLE cases;
DROP TABLE suppressions;
DROP TABLE retention_rules;
DROP TABLE activities;
DROP TABLE notices;
DROP TABLE purposes;
