package store

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// target is a parsed database URL: either postgres or path is set.
type target struct {
	postgres *pgxpool.Config
	path     string
}

const urlRemedy = `write sqlite:PATH or postgres://USER@HOST:PORT/NAME`

func parseURL(url string) (target, error) {
	scheme, rest, ok := strings.Cut(url, ":")
	if !ok {
		return target{}, fmt.Errorf("%w: no scheme; %s", ErrURL, urlRemedy)
	}
	switch strings.ToLower(scheme) {
	case "sqlite":
		// A memory database would be another one for each connection; a "file:" URI or query could switch safety off.
		if rest == "" || strings.HasPrefix(rest, ":memory:") || strings.HasPrefix(rest, "file:") || strings.ContainsAny(rest, "?\x00") {
			return target{}, fmt.Errorf("%w: sqlite: takes the path of a file, without options; %s", ErrURL, urlRemedy)
		}
		path, err := filepath.Abs(filepath.Clean(rest))
		if err != nil {
			return target{}, fmt.Errorf("%w: %w", ErrURL, err)
		}
		return target{path: path}, nil
	case "postgres", "postgresql":
		if !strings.HasPrefix(rest, "//") {
			return target{}, fmt.Errorf("%w: postgres: is followed by //; %s", ErrURL, urlRemedy)
		}
		cfg, err := pgxpool.ParseConfig(url)
		if err != nil {
			// The driver's error quotes the URL; what it hides of it is not ours to vouch for.
			return target{}, fmt.Errorf("%w: the PostgreSQL address, a parameter or a file it names cannot be read; %s", ErrURL, urlRemedy)
		}
		return target{postgres: cfg}, nil
	}
	return target{}, fmt.Errorf("%w: unknown scheme; %s", ErrURL, urlRemedy)
}
