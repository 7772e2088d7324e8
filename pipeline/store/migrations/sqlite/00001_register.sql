-- owner: importers/register
-- +goose Up
CREATE TABLE purposes (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL PRIMARY KEY,
    system TEXT NOT NULL,
    external_key TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    version INTEGER NOT NULL,
    purpose_id TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    dpv_purpose TEXT,
    lawful_basis TEXT,
    owner TEXT
) STRICT;

CREATE TABLE notices (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL PRIMARY KEY,
    system TEXT NOT NULL,
    external_key TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    version INTEGER NOT NULL,
    notice_id TEXT NOT NULL,
    notice_version TEXT NOT NULL,
    title TEXT,
    language TEXT,
    wording TEXT,
    wording_digest TEXT,
    url TEXT,
    valid_from TEXT NOT NULL,
    valid_from_text TEXT,
    valid_to TEXT,
    valid_to_text TEXT
) STRICT;

CREATE TABLE activities (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL PRIMARY KEY,
    system TEXT NOT NULL,
    external_key TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    version INTEGER NOT NULL,
    activity_id TEXT NOT NULL,
    name TEXT NOT NULL,
    controller TEXT,
    purpose TEXT,
    lawful_basis TEXT,
    subject_categories TEXT,
    data_categories TEXT,
    recipients TEXT,
    transfers TEXT,
    retention TEXT,
    security TEXT,
    owner TEXT
) STRICT;

CREATE TABLE retention_rules (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL PRIMARY KEY,
    system TEXT NOT NULL,
    external_key TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    version INTEGER NOT NULL,
    rule_id TEXT NOT NULL,
    entity TEXT NOT NULL,
    purpose TEXT,
    months INTEGER NOT NULL,
    starts TEXT NOT NULL,
    action TEXT,
    authority TEXT
) STRICT;

CREATE TABLE suppressions (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL PRIMARY KEY,
    system TEXT NOT NULL,
    external_key TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    version INTEGER NOT NULL,
    external_id TEXT,
    subject_id TEXT,
    email TEXT,
    phone TEXT,
    channel TEXT NOT NULL,
    reason TEXT NOT NULL,
    occurred_at INTEGER,
    occurred_at_text TEXT,
    occurred_at_zone TEXT,
    occurred_at_precision TEXT,
    note TEXT
) STRICT;

CREATE TABLE cases (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL PRIMARY KEY,
    system TEXT NOT NULL,
    external_key TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    version INTEGER NOT NULL,
    external_id TEXT,
    request_type TEXT NOT NULL,
    status TEXT NOT NULL,
    status_text TEXT,
    subject_id TEXT,
    email TEXT,
    phone TEXT,
    requester_name TEXT,
    purpose TEXT,
    channel TEXT,
    received_at INTEGER NOT NULL,
    received_at_text TEXT,
    received_at_zone TEXT,
    received_at_precision TEXT,
    due_at TEXT,
    due_at_text TEXT,
    extended_to TEXT,
    extended_to_text TEXT,
    identity_verified INTEGER,
    closed_at INTEGER,
    closed_at_text TEXT,
    closed_at_zone TEXT,
    closed_at_precision TEXT,
    refusal_reason TEXT,
    handler TEXT,
    details TEXT,
    origin TEXT NOT NULL,
    rule_due_at TEXT,
    approved_by TEXT,
    approved_at INTEGER
) STRICT;

CREATE TABLE receipts (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL PRIMARY KEY,
    record_id TEXT NOT NULL,
    system TEXT NOT NULL,
    external_key TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    version INTEGER NOT NULL,
    external_id TEXT,
    subject_id TEXT,
    email TEXT,
    phone TEXT,
    device_id TEXT,
    purpose TEXT,
    channel TEXT,
    status TEXT NOT NULL,
    occurred_at INTEGER,
    occurred_at_text TEXT,
    occurred_at_zone TEXT,
    occurred_at_precision TEXT,
    expires_at INTEGER,
    expires_at_text TEXT,
    expires_at_zone TEXT,
    expires_at_precision TEXT,
    notice_id TEXT,
    notice_version TEXT,
    notice_digest TEXT,
    actor TEXT,
    actor_role TEXT,
    method TEXT,
    proof_kind TEXT,
    proof_ref TEXT,
    lawful_basis TEXT,
    collected_via TEXT,
    language TEXT,
    jurisdiction TEXT,
    note TEXT,
    confidence TEXT NOT NULL,
    missing TEXT NOT NULL,
    remediation TEXT,
    stated TEXT
) STRICT;

CREATE TABLE legacy_assertions (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL PRIMARY KEY,
    record_id TEXT NOT NULL,
    system TEXT NOT NULL,
    external_key TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    version INTEGER NOT NULL,
    external_id TEXT,
    subject_id TEXT,
    email TEXT,
    phone TEXT,
    device_id TEXT,
    purpose TEXT,
    channel TEXT,
    status TEXT NOT NULL,
    occurred_at INTEGER,
    occurred_at_text TEXT,
    occurred_at_zone TEXT,
    occurred_at_precision TEXT,
    expires_at INTEGER,
    expires_at_text TEXT,
    expires_at_zone TEXT,
    expires_at_precision TEXT,
    notice_id TEXT,
    notice_version TEXT,
    notice_digest TEXT,
    actor TEXT,
    actor_role TEXT,
    method TEXT,
    proof_kind TEXT,
    proof_ref TEXT,
    lawful_basis TEXT,
    collected_via TEXT,
    language TEXT,
    jurisdiction TEXT,
    note TEXT,
    confidence TEXT NOT NULL,
    missing TEXT NOT NULL,
    remediation TEXT,
    stated TEXT
) STRICT;

-- The id map is one-to-one: an id is worked out from its key, so a key has one id, and the primary key sees to it that an id has
-- one key. It holds digests of keys only. They have no index: nobody looks for them, and one at random places cost a third of a
-- load.
CREATE TABLE id_map (
    tenant TEXT NOT NULL,
    system TEXT NOT NULL,
    entity TEXT NOT NULL,
    key_digest TEXT NOT NULL,
    id TEXT NOT NULL PRIMARY KEY
) STRICT;

-- Where a record came from. One row a record, batch and snapshot; row_digest never leaves the database.
CREATE TABLE provenance (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    entity TEXT NOT NULL,
    batch TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    source TEXT NOT NULL,
    file_digest TEXT NOT NULL,
    sheet TEXT NOT NULL,
    row INTEGER NOT NULL,
    line INTEGER NOT NULL,
    row_digest TEXT NOT NULL,
    mapping_digest TEXT NOT NULL,
    staged_digest TEXT NOT NULL,
    obtained_at INTEGER NOT NULL,
    PRIMARY KEY (id, batch, snapshot)
) STRICT;

-- Append-only: what was done to the register, and who looked at values, without values.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('import', 'correct', 'retract', 'erase', 'reveal')),
    entity TEXT NOT NULL,
    id TEXT,
    batch TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    source TEXT NOT NULL,
    records INTEGER NOT NULL,
    digest TEXT NOT NULL,
    operation TEXT NOT NULL,
    operator TEXT NOT NULL
) STRICT;

-- The register's revision, counted per batch, so that a batch can tell others' changes from its own.
CREATE TABLE revisions (
    tenant TEXT NOT NULL,
    batch TEXT NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (tenant, batch)
) STRICT;

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
