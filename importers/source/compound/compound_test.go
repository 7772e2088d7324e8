package compound_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"sheetlift/importers/source/biff/bifftest"
	"sheetlift/importers/source/compound"
)

func numbered(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i) ^ byte(i>>8)
	}
	return b
}

func open(raw []byte, name string) ([]byte, error) {
	f, err := compound.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	s, err := f.Stream(name)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(s, 0, s.Size()))
}

func TestStreams(t *testing.T) {
	streams := []bifftest.Stream{{Name: "long", Data: numbered(200_000)}, {Name: "Short", Data: numbered(700)}, {Name: "one", Data: numbered(1)}, {Name: "none"}, {Name: "cutoff", Data: numbered(4096)}}
	raw := bifftest.Compound(streams...)
	for _, s := range streams {
		got, err := open(raw, s.Name)
		if err != nil || !bytes.Equal(got, s.Data) {
			t.Errorf("%s: %d bytes, %v; want %d", s.Name, len(got), err, len(s.Data))
		}
	}
	if got, err := open(raw, "SHORT"); err != nil || len(got) != 700 {
		t.Errorf("a name in other case: %v", err)
	}
	if _, err := open(raw, "other"); !errors.Is(err, compound.ErrNoStream) {
		t.Errorf("got %v", err)
	}
	for n := 0; n < len(raw); n += 97 { // no length is too short
		for _, s := range streams {
			if got, err := open(raw[:n], s.Name); err == nil && !bytes.Equal(got, s.Data) {
				t.Fatalf("%d bytes: %s is not what it was", n, s.Name)
			}
		}
	}
}

// TestEmbedded holds that a stream of an embedded document is not taken for one of the file's own.
func TestEmbedded(t *testing.T) {
	raw := bifftest.Compound(bifftest.Stream{Name: "other", Data: numbered(5000)}, bifftest.Stream{Name: "Workbook", Data: numbered(6000)})
	at := bytes.Index(raw, bifftest.Wide("other"))
	binary.LittleEndian.PutUint32(raw[at+72:], 0xffffffff) // its neighbour is no longer one
	if _, err := open(raw, "Workbook"); !errors.Is(err, compound.ErrNoStream) {
		t.Errorf("got %v", err)
	}
}

func TestLies(t *testing.T) {
	const table, directory = 512, 48
	fresh := func() ([]byte, []byte) { // the file, and the entry of its stream
		raw := bifftest.Compound(bifftest.Stream{Name: "long", Data: numbered(5000)})
		return raw, raw[bytes.Index(raw, bifftest.Wide("long")):]
	}
	for name, spoil := range map[string]func(raw, entry []byte){
		"a chain that follows itself":  func(raw, e []byte) { binary.LittleEndian.PutUint32(raw[table+4*2:], 1) },
		"a chain that ends early":      func(raw, e []byte) { binary.LittleEndian.PutUint32(raw[table+4*2:], 0xfffffffe) },
		"a chain that leaves the file": func(raw, e []byte) { binary.LittleEndian.PutUint32(raw[table+4*2:], 0x7fffffff) },
		"a length beyond the file":     func(raw, e []byte) { binary.LittleEndian.PutUint32(e[120:], 1<<31) },
		"a directory that follows itself": func(raw, e []byte) {
			i := binary.LittleEndian.Uint32(raw[directory:])
			binary.LittleEndian.PutUint32(raw[table+4*i:], i)
		},
		"tables that follow themselves": func(raw, e []byte) {
			binary.LittleEndian.PutUint32(raw[68:], 3)
			binary.LittleEndian.PutUint32(raw[512*5-4:], 3)
		},
		"a sector size of its own": func(raw, e []byte) { raw[30] = 10 },
		"no table":                 func(raw, e []byte) { binary.LittleEndian.PutUint32(raw[76:], 0xffffffff) },
	} {
		raw, entry := fresh()
		if got, err := open(raw, "long"); err != nil || len(got) != 5000 {
			t.Fatal(err)
		}
		spoil(raw, entry)
		if _, err := open(raw, "long"); !errors.Is(err, compound.ErrDamaged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// What does not begin as a compound file is none, whatever follows: the second count goes by the signature too.
func TestSignature(t *testing.T) {
	raw := bifftest.Compound(bifftest.Stream{Name: "Workbook", Data: numbered(700)})
	for i := range 8 {
		bad := bytes.Clone(raw)
		bad[i] ^= 1
		if _, err := open(bad, "Workbook"); !errors.Is(err, compound.ErrDamaged) {
			t.Errorf("byte %d of the signature: %v", i, err)
		}
	}
}
