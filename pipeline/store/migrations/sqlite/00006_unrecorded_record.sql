-- owner: importers/register
-- +goose Up
-- The record that the key of a rejected row is of, if an identifier of its subject can't be read; else it is empty.
ALTER TABLE unrecorded ADD COLUMN record_id TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE unrecorded DROP COLUMN record_id;
