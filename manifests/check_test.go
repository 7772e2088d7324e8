package manifests

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
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
		f, check, err := OpenChecked(path, want, nil)
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
	f, check, err := OpenChecked(path, "", nil)
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
	f, check, err := OpenChecked(path, sum, nil)
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

// A digest is worked out once for those that ask at about the same time, and anew for a file that was written to.
func TestDigestsAreShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	var shared Digests
	first, size, err := shared.file(path)
	if err != nil || size != 3 || first != hexSum([]byte("one")) {
		t.Fatal(first, size, err)
	}
	shared.by[path].sha = "what was worked out"
	f, check, err := OpenChecked(path, "what was worked out", &shared)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := check.Wait(); err != nil {
		t.Errorf("it was worked out twice: %v", err)
	}
	for _, text := range []string{"two", "longer"} { // of the same size, and of another
		later := time.Now().Add(time.Duration(len(text)) * time.Second)
		write(text)
		if err := os.Chtimes(path, later, later); err != nil {
			t.Fatal(err)
		}
		if got, _, err := shared.file(path); err != nil || got != hexSum([]byte(text)) {
			t.Errorf("after %q was written: %s, %v", text, got, err)
		}
	}
	if err := os.Rename(path, path+"2"); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path + "2")
	if err != nil {
		t.Fatal(err)
	}
	write("mirror") // another file under its name, with its size and times
	if err := os.Chtimes(path, st.ModTime(), st.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got, _, err := shared.file(path); err != nil || got != hexSum([]byte("mirror")) {
		t.Errorf("of another file under the name: %s, %v", got, err)
	}
}

// What somebody stopped is worked out by who still asks.
func TestStoppedDigestIsNotShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	is, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var shared Digests
	if _, _, err := shared.reader(path, is, iotest.ErrReader(os.ErrClosed)); err == nil {
		t.Fatal("a reader that fails gives a digest")
	}
	if got, _, err := shared.file(path); err != nil || got != hexSum([]byte("one")) {
		t.Errorf("%s, %v", got, err)
	}
}
