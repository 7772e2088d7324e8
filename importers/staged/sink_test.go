package staged

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
)

func TestSink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := newSink(f)
	var want []byte
	for i := range 6000 {
		p := bytes.Repeat([]byte{byte(i)}, i)
		want = append(want, p...)
		if _, err := s.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if at, err := s.Seek(0, 1); err != nil || at != int64(len(want)) {
		t.Errorf("at %d, %v", at, err)
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if sum := sha256.Sum256(want); err != nil || !bytes.Equal(got, want) || !bytes.Equal(s.hash.Sum(nil), sum[:]) {
		t.Error("other bytes than were written")
	}
}

// A full disk is told, at the end at the latest, and nothing hangs.
func TestSinkOnAFullDisk(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer f.Close()
	s := newSink(f)
	for range 20 {
		if _, err = s.Write(make([]byte, 100<<10)); err != nil {
			break
		}
	}
	if end := s.end(); end == nil {
		t.Errorf("it passed; the last write said %v", err)
	}
}
