package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// folderLock lets one starter at a time migrate an SQLite database: SQLite has no lock that lasts longer than a
// transaction, and each migration is one. It locks the database's folder, which leaves no file behind, ends with the process
// and does not touch the locks the engine holds on the file. It implements goose's lock.Locker.
type folderLock struct {
	folder string
	held   *os.File
}

// Lock waits as long as ctx allows.
func (l *folderLock) Lock(ctx context.Context, _ *sql.DB) error {
	f, err := os.Open(l.folder)
	if err != nil {
		return err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			l.held = f
			return nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = f.Close()
			return fmt.Errorf("lock folder %s: %w", l.folder, err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return interrupted(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Unlock lets the next starter go.
func (l *folderLock) Unlock(context.Context, *sql.DB) error {
	if l.held == nil {
		return nil
	}
	err := l.held.Close()
	l.held = nil
	return err
}
