-- owner: pipeline
-- +goose Up
-- One row a batch: the key of its subject tokens, so that every host that works on the batch makes the same tokens.
CREATE TABLE batches (
    tenant TEXT COLLATE "C" NOT NULL,
    batch TEXT COLLATE "C" NOT NULL,
    token_key TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, batch)
);

-- Every file with personal data that the tool wrote, so that it can be retired too.
CREATE TABLE copies (
    tenant TEXT COLLATE "C" NOT NULL,
    batch TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    place TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, batch, kind, place)
);

-- +goose Down
DROP TABLE copies;
DROP TABLE batches;
