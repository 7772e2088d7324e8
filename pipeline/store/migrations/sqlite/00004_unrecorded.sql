-- owner: importers/register
-- +goose Up
-- What rows say that gave no record and matters to others: who is one subject, and what speaks against consents. Of identifiers it holds
-- pseudonyms only. rejected is 0 for rows that were skipped. status is that of an event, or the reason of a suppression; replaced_by is the
-- snapshot that brought the row in after all, or again.
CREATE TABLE unrecorded (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL PRIMARY KEY,
    batch TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    source TEXT NOT NULL,
    system TEXT NOT NULL,
    file_digest TEXT NOT NULL,
    sheet TEXT NOT NULL,
    row INTEGER NOT NULL,
    line INTEGER NOT NULL,
    stray INTEGER NOT NULL CHECK (stray IN (0, 1)),
    rejected INTEGER NOT NULL CHECK (rejected IN (0, 1)),
    kind TEXT NOT NULL CHECK (kind IN ('link', 'event', 'suppression', 'erasure')),
    subject TEXT NOT NULL,
    status TEXT NOT NULL,
    purpose TEXT NOT NULL,
    channel TEXT NOT NULL,
    dated INTEGER NOT NULL CHECK (dated IN (0, 1)),
    earliest INTEGER NOT NULL,
    latest INTEGER NOT NULL,
    obtained_at INTEGER NOT NULL,
    staged_digest TEXT NOT NULL,
    replaced_by TEXT NOT NULL
) STRICT;
CREATE INDEX unrecorded_rows ON unrecorded (tenant, batch, snapshot, source, row) WHERE rejected = 1;

-- +goose Down
DROP TABLE unrecorded;
