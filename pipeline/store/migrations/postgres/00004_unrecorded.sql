-- owner: importers/register
-- +goose Up
-- What rows say that gave no record and matters to others: who is one subject, and what speaks against consents. Of identifiers it holds
-- pseudonyms only. rejected is 0 for rows that were skipped. status is that of an event, or the reason of a suppression; replaced_by is the
-- snapshot that brought the row in after all, or again.
CREATE TABLE unrecorded (
    tenant TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    batch TEXT COLLATE "C" NOT NULL,
    snapshot TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    system TEXT COLLATE "C" NOT NULL,
    file_digest TEXT COLLATE "C" NOT NULL,
    sheet TEXT COLLATE "C" NOT NULL,
    row BIGINT NOT NULL,
    line BIGINT NOT NULL,
    stray BIGINT NOT NULL CHECK (stray IN (0, 1)),
    rejected BIGINT NOT NULL CHECK (rejected IN (0, 1)),
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('link', 'event', 'suppression', 'erasure')),
    subject TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    purpose TEXT COLLATE "C" NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    dated BIGINT NOT NULL CHECK (dated IN (0, 1)),
    earliest BIGINT NOT NULL,
    latest BIGINT NOT NULL,
    obtained_at BIGINT NOT NULL,
    staged_digest TEXT COLLATE "C" NOT NULL,
    replaced_by TEXT COLLATE "C" NOT NULL
);
CREATE INDEX unrecorded_rows ON unrecorded (tenant, batch, snapshot, source, row) WHERE rejected = 1;

-- +goose Down
DROP TABLE unrecorded;
