package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/pressly/goose/v3"
)

//go:embed migrations
var migrations embed.FS

// Migrate brings the tables to what this program needs. Several starters may do so at once: one migrates, the others wait.
// Each migration is one transaction. A database made by a newer program is ErrSchema.
func (db *DB) Migrate(ctx context.Context) error {
	source, err := fs.Sub(migrations, path.Join("migrations", db.Engine()))
	if err != nil {
		return err
	}
	return db.migrate(ctx, source)
}

func (db *DB) migrate(ctx context.Context, source fs.FS) (err error) {
	conn, dialect, locker, err := db.engine.goose()
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer func() {
		if cerr := conn.Close(); err == nil {
			err = cerr
		}
	}()
	provider, err := goose.NewProvider(dialect, conn, source, locker, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		if errors.Is(err, goose.ErrNoMigrations) {
			return nil
		}
		return fmt.Errorf("migrate: %w", err)
	}
	sources := provider.ListSources()
	target := sources[len(sources)-1].Version
	// Most starts find nothing to do; they need neither the lock nor a write.
	current, known := db.version(ctx)
	if !known || current < target {
		if _, err := provider.Up(ctx); err != nil {
			return fmt.Errorf("migrate: %w", db.mapMigrate(ctx, err))
		}
	} else if current > target {
		return fmt.Errorf("migrate: %w: the database is at version %d, this program knows %d; use a newer sheetlift", ErrSchema, current, target)
	}
	return nil
}

// version is the newest migration in the database; not known if there is none yet, or if it cannot be read, which migrating
// then reports better.
func (db *DB) version(ctx context.Context) (version int64, known bool) {
	err := db.View(ctx, func(tx *Tx) error {
		return tx.QueryRow(ctx, `SELECT MAX(version_id) FROM goose_db_version`).Scan(&version)
	})
	return version, err == nil
}

// mapMigrate maps the error inside goose's wrapping and keeps which migration it was.
func (db *DB) mapMigrate(ctx context.Context, err error) error {
	var partial *goose.PartialError
	if errors.As(err, &partial) && partial.Failed != nil {
		return fmt.Errorf("%s: %w", path.Base(partial.Failed.Source.Path), db.engine.mapError(ctx, partial.Err))
	}
	return db.engine.mapError(ctx, err)
}
