package inflate_test

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"sheetlift/importers/source/inflate"
)

// pack compresses data at a level of compress/flate.
func pack(t testing.TB, data []byte, level int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// texts are what makes each kind of block: none, text as a sheet has it, runs, long distances, noise, few symbols.
func texts() map[string][]byte {
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300<<10)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	var sheet bytes.Buffer
	for i := range 9000 {
		fmt.Fprintf(&sheet, `<row r="%d"><c r="A%d" t="s"><v>%d</v></c><c r="B%d"><v>%d.5</v></c></row>`, i+1, i+1, random.IntN(1<<20), i+1, random.IntN(100))
	}
	skewed := make([]byte, 200<<10) // codes of all lengths
	for i := range skewed {
		for skewed[i] < 200 && random.IntN(2) == 0 {
			skewed[i]++
		}
	}
	far := append(append(append([]byte{}, noise[:32<<10]...), noise[:32<<10]...), noise[1:32<<10]...)
	return map[string][]byte{
		"nothing": nil, "one": []byte("a"), "few": []byte("abcabcabcabcd"), "run": bytes.Repeat([]byte("x"), 700<<10),
		"short period": []byte(strings.Repeat("abc", 100_000)), "period of seven": []byte(strings.Repeat("abcdefg", 50_000)),
		"sheet": sheet.Bytes(), "noise": noise, "skewed": skewed, "far": far, "large sheet": bytes.Repeat(sheet.Bytes(), 3),
	}
}

func TestSameBytes(t *testing.T) {
	for name, data := range texts() {
		for _, level := range []int{flate.HuffmanOnly, flate.NoCompression, flate.BestSpeed, 6, flate.BestCompression} {
			packed := pack(t, data, level)
			for way, r := range map[string]io.Reader{
				"whole": bytes.NewReader(packed), "byte by byte": iotest.OneByteReader(bytes.NewReader(packed)),
				"data with end": iotest.DataErrReader(bytes.NewReader(packed)), "with more behind": io.MultiReader(bytes.NewReader(packed), strings.NewReader("PK and so on")),
			} {
				for _, size := range []int64{0, 1, int64(len(data)), 1 << 40} {
					got, err := io.ReadAll(inflate.NewReader(r, size))
					if err != nil || !bytes.Equal(got, data) {
						t.Errorf("%s, level %d, %s, size %d: %d bytes of %d, %v", name, level, way, size, len(got), len(data), err)
					}
					r = bytes.NewReader(packed)
				}
			}
		}
	}
}

// A file cut at any place is told, and what came before is right.
func TestTruncated(t *testing.T) {
	data := texts()["sheet"][:3000]
	for _, level := range []int{flate.HuffmanOnly, flate.NoCompression, 6} {
		packed := pack(t, data, level)
		for n := range packed {
			got, err := io.ReadAll(inflate.NewReader(bytes.NewReader(packed[:n]), 100))
			if err == nil || !bytes.HasPrefix(data, got) {
				t.Errorf("level %d, %d of %d bytes: %v, %d bytes out", level, n, len(packed), err, len(got))
			}
		}
	}
}

func TestFaultOfTheSource(t *testing.T) {
	packed := pack(t, texts()["noise"], 6)
	broken := errors.New("the disk is gone")
	r := io.MultiReader(bytes.NewReader(packed[:1000]), iotest.ErrReader(broken))
	if _, err := io.ReadAll(inflate.NewReader(r, 0)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if _, err := io.ReadAll(inflate.NewReader(idle{}, 0)); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a source that gives nothing: %v", err)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// TestSameVerdict flips bits and holds what comes out against compress/flate.
func TestSameVerdict(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for name, data := range texts() {
		data = data[:min(len(data), 20_000)]
		for _, level := range []int{flate.HuffmanOnly, 1, 6} {
			packed := pack(t, data, level)
			for range 60 {
				bad := bytes.Clone(packed)
				bad[random.IntN(len(bad))] ^= 1 << random.IntN(8)
				same(t, name, bad)
			}
		}
	}
}

// same holds this decoder against compress/flate.
func same(t *testing.T, name string, packed []byte) {
	t.Helper()
	const most = 4 << 20
	want, wantErr := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), most))
	got, err := io.ReadAll(io.LimitReader(inflate.NewReader(bytes.NewReader(packed), 0), most))
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%s: %v, compress/flate says %v", name, err, wantErr)
	}
	if err == nil && !bytes.Equal(got, want) {
		t.Fatalf("%s: other bytes than compress/flate", name)
	}
}

func FuzzInflate(f *testing.F) {
	for _, data := range texts() {
		for _, level := range []int{flate.HuffmanOnly, flate.NoCompression, 6} {
			f.Add(pack(f, data[:min(len(data), 4000)], level))
		}
	}
	f.Fuzz(func(t *testing.T, packed []byte) { same(t, "fuzz", packed) })
}

func BenchmarkInflate(b *testing.B) {
	data := texts()["large sheet"]
	packed := pack(b, data, 6)
	out := make([]byte, 64<<10)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		r := inflate.NewReader(bytes.NewReader(packed), int64(len(data)))
		for {
			if _, err := r.Read(out); err != nil {
				break
			}
		}
	}
}
