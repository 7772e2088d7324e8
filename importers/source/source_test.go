package source

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"sheetlift/importers/digest"
)

func TestRef(t *testing.T) {
	for ref, at := range map[string][2]int{"A1": {0, 1}, "Z9": {25, 9}, "AA10": {26, 10}, "AZ1": {51, 1}, "BA1": {52, 1}, "ZZ1": {701, 1}, "AAA1": {702, 1}, "XFD1048576": {16383, 1048576}} {
		if got := Ref(at[0], at[1]); got != ref {
			t.Errorf("column %d, row %d: got %s, want %s", at[0], at[1], got, ref)
		}
	}
}

func TestLimitsDefaults(t *testing.T) {
	v := reflect.ValueOf(Limits{}.WithDefaults())
	for i := range v.NumField() {
		if v.Field(i).Int() <= 0 {
			t.Errorf("%s has no default", v.Type().Field(i).Name)
		}
	}
	if got := (Limits{Rows: 5, Ratio: -1}).WithDefaults(); got.Rows != 5 || got.Ratio != DefaultLimits().Ratio {
		t.Errorf("got %+v", got)
	}
}

func TestLimitsSet(t *testing.T) {
	var l Limits
	for i, name := range l.Names() {
		if err := l.Set(name, int64(i+1)); err != nil {
			t.Error(err)
		}
	}
	v := reflect.ValueOf(l)
	for i := range v.NumField() {
		if v.Field(i).Int() == 0 {
			t.Errorf("%s has no name", v.Type().Field(i).Name)
		}
	}
	if l.Set("parts", 0) == nil || l.Set("none", 1) == nil {
		t.Error("a wrong value or name is taken")
	}
}

func TestError(t *testing.T) {
	err := fmt.Errorf("read: %w", &Error{Kind: ErrMalformed, File: "a.xlsx", Sheet: "S", Row: 3, Part: "p.xml", Message: "it is wrong", Remedy: "mend it", Err: io.ErrUnexpectedEOF})
	if !errors.Is(err, ErrMalformed) || !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrLimit) {
		t.Error("kind or cause is lost")
	}
	if want := `read: a.xlsx, sheet "S", row 3, part "p.xml": it is wrong`; err.Error() != want {
		t.Errorf("got %q", err)
	}
}

// TestBuilder fills blocks at random, narrow and wide, and compares them with a map.
func TestBuilder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	b := NewBuilder(false)
	for range 60 {
		b.Reset()
		wide := []int{3, 40, 200, 16384}[rng.IntN(4)]
		want := map[[2]int]string{}
		num := 0
		for !b.Full() {
			num += 1 + rng.IntN(3)
			for range rng.IntN(6) {
				col := rng.IntN(wide)
				v := fmt.Sprint(num, ":", col)
				put := b.Put(col, Cell{Off: uint32(len(b.Data)), Len: uint32(len(v)), Kind: Text})
				if _, twice := want[[2]int{num, col}]; put == twice {
					t.Fatalf("row %d, column %d: put is %v", num, col, put)
				}
				if put {
					b.Data = append(b.Data, v...)
					want[[2]int{num, col}] = v
				}
			}
			if rng.IntN(50) == 0 {
				b.DropRow()
				for key := range want {
					if key[0] == num {
						delete(want, key)
					}
				}
			} else if b.Filled() {
				b.EndRow(num)
			}
		}
		k := b.Block(nil, nil)
		if k.Rows() > BlockRows || k.Rows()*len(k.Used) > 2*maxSlots {
			t.Fatalf("a block of %d rows and %d used columns", k.Rows(), len(k.Used))
		}
		got := 0
		for i, row := range k.RowNum {
			last := 0
			for col := range k.Cols {
				c := k.Cell(col, i)
				if c.Kind == Empty {
					continue
				}
				got++
				last = col + 1
				if string(k.Bytes(c)) != want[[2]int{row, col}] {
					t.Fatalf("row %d, column %d: got %q, want %q", row, col, k.Bytes(c), want[[2]int{row, col}])
				}
			}
			if k.Width[i] != last {
				t.Fatalf("row %d: width %d, want %d", row, k.Width[i], last)
			}
		}
		if got != len(want) {
			t.Fatalf("%d cells, want %d", got, len(want))
		}
		for _, col := range k.Used {
			if col >= len(k.Cols) {
				t.Fatalf("used column %d of %d", col, len(k.Cols))
			}
		}
	}
}

func TestRowDigest(t *testing.T) {
	var batch digest.Batch
	row := func(num int, cells ...string) [32]byte {
		b := NewBuilder(false)
		b.Reset()
		for col, v := range cells {
			kind := Text
			if strings.HasPrefix(v, "=") {
				kind, v = Number, v[1:]
			}
			if v != "" {
				b.Put(col, Cell{Off: uint32(len(b.Data)), Len: uint32(len(v)), Kind: kind})
				b.Data = append(b.Data, v...)
			}
		}
		b.EndRow(num)
		k := b.Block(nil, nil)
		got := k.RowDigest(0)
		batch.Reset()
		if k.AddRow(&batch, 0); batch.SHA256()[0] != got {
			t.Error("a batch gives another digest")
		}
		k.Used = nil // a block made by hand
		if k.RowDigest(0) != got {
			t.Error("the digest depends on Used")
		}
		return got
	}
	if row(1, "a", "b") != row(9, "a", "b") {
		t.Error("the digest depends on the row's number")
	}
	long := strings.Repeat("x", 128) // a length of two bytes, as its column
	far := append(make([]string, 200), long)
	cell := append([]byte{0x80 | 200&0x7f, 200 >> 7, byte(Text), byte(General), 0x80, 1}, long...)
	if got := row(1, far...); got != sha256.Sum256(cell) {
		t.Errorf("the digest of %q is %x", cell, got)
	}
	if got := row(1, "", "a"); got != sha256.Sum256([]byte{1, byte(Text), byte(General), 1, 'a'}) {
		t.Errorf("the digest of B is %x", got)
	}
	seen := map[[32]byte]bool{}
	for _, cells := range [][]string{{"a", "b"}, {"b", "a"}, {"ab"}, {"a", "", "b"}, {"", "a", "b"}, {"=1"}, {"1"}, {"a"}, {"a", "b", "c"}} {
		seen[row(1, cells...)] = true
	}
	if len(seen) != 9 {
		t.Errorf("%d digests of 9 rows", len(seen))
	}
}

// BenchmarkRowDigest reports the time for one row of twelve cells.
func BenchmarkRowDigest(b *testing.B) {
	f := NewBuilder(false)
	f.Reset()
	for col, v := range strings.Fields("E00004711 104711 person.4711@example.com +919800004711 marketing email given 2024-02-11T10:15:00 v3 web-form en-IN checkbox") {
		f.Put(col, Cell{Off: uint32(len(f.Data)), Len: uint32(len(v)), Kind: Text})
		f.Data = append(f.Data, v...)
	}
	f.EndRow(1)
	k := f.Block(nil, nil)
	b.Run("block", func(b *testing.B) {
		for b.Loop() {
			k.RowDigest(0)
		}
	})
	b.Run("batch", func(b *testing.B) {
		var d digest.Batch
		for i := 1; b.Loop(); i++ {
			if k.AddRow(&d, 0); i%64 == 0 {
				d.SHA256()
				d.Reset()
			}
		}
	})
}
