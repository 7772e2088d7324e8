-- owner: pipeline
-- +goose Up
-- One row a batch: the key of its subject tokens, so that every host that works on the batch makes the same tokens.
CREATE TABLE batches (
    tenant TEXT NOT NULL,
    batch TEXT NOT NULL,
    token_key TEXT NOT NULL,
    PRIMARY KEY (tenant, batch)
) STRICT;

-- Every file with personal data that the tool wrote, so that it can be retired too.
CREATE TABLE copies (
    tenant TEXT NOT NULL,
    batch TEXT NOT NULL,
    kind TEXT NOT NULL,
    digest TEXT NOT NULL,
    place TEXT NOT NULL,
    PRIMARY KEY (tenant, batch, kind, place)
) STRICT;

-- +goose Down
DROP TABLE copies;
DROP TABLE batches;
