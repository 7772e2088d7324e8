package delimited

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"sheetlift/importers/source"
)

// dump gives everything that a block says.
func dump(k *source.Block) string {
	var b strings.Builder
	for i := range k.Rows() {
		fmt.Fprintf(&b, "%d %d %d %q:", k.RowNum[i], k.Line[i], k.Width[i], k.Record(i))
		for _, col := range k.Used {
			fmt.Fprintf(&b, " %d=%q", col, k.Bytes(k.Cols[col][i]))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func drain(t *testing.T, r source.Reader) (string, source.Facts) {
	t.Helper()
	var b strings.Builder
	for {
		k, err := r.Next()
		if errors.Is(err, io.EOF) {
			return b.String(), r.Facts()
		}
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(dump(k))
	}
}

// closing lets a bare reader be drained like another.
type closing struct{ *reader }

func (closing) Close() error { return nil }

func TestAheadReadsTheSame(t *testing.T) {
	var text strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&text, "%d,\"a \"\"%d\"\"\n\",%s\r\n", i, i, strings.Repeat("x", i%97))
		if i%500 == 0 {
			fmt.Fprintf(&text, "\n,%s\n", strings.Repeat("é", 3*i))
		}
	}
	for _, charset := range []string{"utf-8", "windows-1252"} {
		in := strings.NewReader(text.String())
		b, err := Open(context.Background(), "f.csv", in, in.Size(), source.Options{Charset: charset})
		if err != nil {
			t.Fatal(err)
		}
		want, wantFacts := drain(t, closing{newReader(context.Background(), b)})
		r, err := b.Read(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		got, facts := drain(t, r)
		if got != want || !reflect.DeepEqual(facts, wantFacts) {
			t.Errorf("%s: the blocks differ, %+v and %+v", charset, facts, wantFacts)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: %v", err)
		}
	}
}

// A block stays as it is while the next ones are scanned, and reading may end anywhere.
func TestAheadLeavesTheBlockInUse(t *testing.T) {
	in := strings.NewReader(strings.Repeat("a,b,c\nd,\"e\"\"f\",g\n", 20_000))
	b, err := Open(context.Background(), "f.csv", in, in.Size(), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Read(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		k, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		before := dump(k)
		for range 3 {
			if dump(k) != before {
				t.Fatal("the block changed while it was in use")
			}
		}
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after Close: %v", err)
	}
}

func TestRecordLimitHoldsForEveryRecord(t *testing.T) {
	for _, long := range []string{strings.Repeat("x", 60), strings.Repeat("x,", 30), `"` + strings.Repeat("x\n", 30) + `"`} {
		for _, after := range []string{"\n", "\n1,2\n", ""} {
			in := strings.NewReader("a,b\n" + long + after)
			b, err := Open(context.Background(), "f.csv", in, in.Size(), source.Options{Delimiter: ",", Limits: source.Limits{RecordBytes: 20}})
			if err != nil {
				t.Fatal(err)
			}
			r, err := b.Read(context.Background(), 0)
			if err != nil {
				t.Fatal(err)
			}
			for err == nil {
				_, err = r.Next()
			}
			var f *source.Error
			if !errors.As(err, &f) || !errors.Is(err, source.ErrLimit) || f.Line != 2 || !strings.Contains(f.Remedy, "record_bytes") {
				t.Errorf("%q: %v", long, err)
			}
			r.Close()
		}
	}
	in := strings.NewReader("a,b\n12345678901234567890\n")
	b, err := Open(context.Background(), "f.csv", in, in.Size(), source.Options{Limits: source.Limits{RecordBytes: 20}})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := drain(t, closing{newReader(context.Background(), b)}); strings.Count(got, "\n") != 2 {
		t.Errorf("got %q", got)
	}
}
