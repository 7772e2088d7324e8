-- owner: importers/register
-- +goose Up
-- 0 of a row that brought its record in, or a version of it. Of a row that was skipped because the register held its record already, from
-- another batch, the version in which it did: its batch vouches for that.
ALTER TABLE provenance ADD COLUMN vouched INTEGER NOT NULL DEFAULT 0 CHECK (vouched >= 0);

-- +goose Down
ALTER TABLE provenance DROP COLUMN vouched;
