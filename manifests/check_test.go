package manifests

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A file is hashed beside its reading: the right one passes, another one does not, wherever the reader is.
func TestOpenChecked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	data := strings.Repeat("0123456789abcdef", 200_000)
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	sum, _, err := FileDigest(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{sum, strings.Repeat("0", 64)} {
		f, check, err := OpenChecked(path, want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f) // from its beginning, whatever the check has read
		if err != nil || string(got) != data {
			t.Errorf("%d bytes are read, %v", len(got), err)
		}
		var other *IntegrityError
		if err := check.Wait(); (err == nil) != (want == sum) || err != nil && (!errors.As(err, &other) || other.Got != sum) {
			t.Errorf("want %s: %v", want, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A check that is stopped reads no more, and the file can be closed.
func TestStoppedCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 4<<30); err != nil { // a hole that takes seconds to hash
		t.Skip(err)
	}
	f, check, err := OpenChecked(path, "")
	if err != nil {
		t.Fatal(err)
	}
	check.Stop()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := check.Wait(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a stopped check says %v", err)
	}
}

// A file that is written to while it is read is another one, even if it holds the same bytes again in the end.
func TestWrittenWhileRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("yes"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	sum, _, err := FileDigest(path)
	if err != nil {
		t.Fatal(err)
	}
	f, check, err := OpenChecked(path, sum)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := check.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"no", "yes"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := check.Wait(); !errors.Is(err, ErrIntegrity) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}
