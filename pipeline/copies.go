package pipeline

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"sheetlift/pipeline/store"
)

// Copy is a file with personal data that the tool wrote and that must be retired one day.
type Copy struct {
	Kind   string // bag, staged, rejects, values, conversion
	Digest string
	Place  string
}

// recordCopy notes a copy; noting it again changes nothing.
func recordCopy(ctx context.Context, tx *store.Tx, tenant, batch string, c Copy) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO copies (tenant, batch, kind, digest, place)
		VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant, batch, kind, place) DO UPDATE SET digest = excluded.digest`,
		tenant, batch, c.Kind, c.Digest, c.Place)
	if err != nil {
		return fmt.Errorf("record a copy: %w", err)
	}
	return nil
}

// copies lists the copies of a batch.
func copies(ctx context.Context, tx *store.Tx, tenant, batch string) ([]Copy, error) {
	rows, err := tx.Query(ctx, `
		SELECT kind, digest, place
		FROM copies
		WHERE tenant = $1 AND batch = $2
		ORDER BY kind, place`, tenant, batch)
	if err != nil {
		return nil, fmt.Errorf("list copies: %w", err)
	}
	defer rows.Close()
	var list []Copy
	for rows.Next() {
		var c Copy
		if err := rows.Scan(&c.Kind, &c.Digest, &c.Place); err != nil {
			return nil, fmt.Errorf("list copies: %w", err)
		}
		list = append(list, c)
	}
	return list, rows.Err()
}

// SetTokenKey gives a batch that has no key for subject tokens yet this one, so that two databases that don't know each other make
// the same tokens. The key must be secret: with it and a list of addresses, tokens can be guessed.
func (p *Pipeline) SetTokenKey(ctx context.Context, key []byte) error {
	return p.db.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, `
			INSERT INTO batches (tenant, batch, token_key)
			VALUES ($1, $2, $3)
			ON CONFLICT (tenant, batch) DO NOTHING`, p.id.Tenant, p.batch.Name, hex.EncodeToString(key))
		if err != nil {
			return fmt.Errorf("set the batch's token key: %w", err)
		}
		return nil
	})
}

// tokenKey returns the batch's key for subject tokens, made on first use and the same on every host.
func tokenKey(ctx context.Context, db *store.DB, tenant, batch string) ([]byte, error) {
	var key string
	read := func(tx *store.Tx) error {
		return tx.QueryRow(ctx, `SELECT token_key FROM batches WHERE tenant = $1 AND batch = $2`, tenant, batch).Scan(&key)
	}
	err := db.View(ctx, read)
	if errors.Is(err, store.ErrNoRows) {
		fresh := make([]byte, 32)
		if _, err := rand.Read(fresh); err != nil {
			return nil, err
		}
		err = db.Update(ctx, func(tx *store.Tx) error {
			if _, err := tx.Exec(ctx, `
				INSERT INTO batches (tenant, batch, token_key)
				VALUES ($1, $2, $3)
				ON CONFLICT (tenant, batch) DO NOTHING`, tenant, batch, hex.EncodeToString(fresh)); err != nil {
				return err
			}
			return read(tx)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("read the batch's token key: %w", err)
	}
	return hex.DecodeString(key)
}
