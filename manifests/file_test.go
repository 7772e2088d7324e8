package manifests

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestOpenVerified(t *testing.T) {
	path := filepath.Join(t.TempDir(), "staged.arrow")
	if err := os.WriteFile(path, []byte("rows"), 0o600); err != nil {
		t.Fatal(err)
	}
	sha, size, err := FileDigest(path)
	if err != nil || size != 4 || sha != hexSum([]byte("rows")) {
		t.Fatalf("FileDigest = %s, %d, %v", sha, size, err)
	}
	f, err := OpenVerified(path, sha)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// Replaced under its name after the check: the descriptor still reads what was checked.
	other := path + ".other"
	if err := os.WriteFile(other, []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); err != nil || string(got) != "rows" {
		t.Fatalf("read %q, %v; want the bytes that were hashed, from the start", got, err)
	}
	_, err = OpenVerified(path, sha)
	var e *IntegrityError
	if !errors.As(err, &e) || !errors.Is(err, ErrIntegrity) || e.Path != path || e.Want != sha || e.Got != hexSum([]byte("evil")) {
		t.Fatalf("OpenVerified of a changed file = %v", err)
	}
}

func TestOpenVerifiedRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenVerified(dir, hexSum(nil)); !errors.Is(err, ErrIO) {
		t.Errorf("folder: %v", err)
	}
	if _, err := OpenVerified(filepath.Join(dir, "absent"), hexSum(nil)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if _, _, err := FileDigest(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}
