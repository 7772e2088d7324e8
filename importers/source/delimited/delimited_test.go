package delimited

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"sheetlift/importers/source"
)

// read renders every record as "row@line/width raw: A=value B=value".
func read(raw string, opt source.Options, slow bool) (string, source.Info, source.Facts, error) {
	var out strings.Builder
	b, err := Open(context.Background(), "dir/f.v1.csv", strings.NewReader(raw), int64(len(raw)), opt)
	if err != nil {
		return "", source.Info{}, source.Facts{}, err
	}
	r := newReader(context.Background(), b)
	r.slow = slow
	for {
		k, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out.String(), b.Info(), r.Facts(), nil
		}
		if err != nil {
			return out.String(), b.Info(), r.Facts(), err
		}
		for i, row := range k.RowNum {
			fmt.Fprintf(&out, "%d@%d/%d %q:", row, k.Line[i], k.Width[i], k.Record(i))
			for _, col := range k.Used {
				if c := k.Cols[col][i]; c.Kind != source.Empty {
					fmt.Fprintf(&out, " %s=%q", source.Letters(col), k.Bytes(c))
				}
			}
			out.WriteByte('\n')
		}
	}
}

func TestRecords(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"plain", "a,b\n1,2\n", `1@1/2 "a,b": A="a" B="b"` + "\n" + `2@2/2 "1,2": A="1" B="2"`},
		{"no line end at the end", "a,b\nc,", `1@1/2 "a,b": A="a" B="b"` + "\n" + `2@2/2 "c,": A="c"`},
		{"CR", "a,b\rc,d\r", `1@1/2 "a,b": A="a" B="b"` + "\n" + `2@2/2 "c,d": A="c" B="d"`},
		{"CR LF", "a,b\r\nc,d\r\n", `1@1/2 "a,b": A="a" B="b"` + "\n" + `2@2/2 "c,d": A="c" B="d"`},
		{"mixed ends", "a,a\rb,b\nc,c\r\nd,d", `1@1/2 "a,a": A="a" B="a"` + "\n" + `2@2/2 "b,b": A="b" B="b"` + "\n" + `3@3/2 "c,c": A="c" B="c"` + "\n" + `4@4/2 "d,d": A="d" B="d"`},
		{"blank lines are counted", "a\n\n\r\nb\n", `1@1/1 "a": A="a"` + "\n" + `4@4/1 "b": A="b"`},
		{"a record of empty fields is kept", ",\n\"\"\n", `1@1/2 ",":` + "\n" + `2@2/1 "\"\"":`},
		{"nothing is trimmed", " a , b \n", `1@1/2 " a , b ": A=" a " B=" b "`},
		{"quoted delimiter", "\"a,b\",c\n", `1@1/2 "\"a,b\",c": A="a,b" B="c"`},
		{"doubled quotes", "\"say \"\"hi\"\"\",x\n", `1@1/2 "\"say \"\"hi\"\"\",x": A="say \"hi\"" B="x"`},
		{"only doubled quotes", "\"\"\"\",\"\"\n", `1@1/2 "\"\"\"\",\"\"": A="\""`},
		{"quoted line ends are kept", "\"a\r\nb\rc\nd\",e\nf,g\n", `1@1/2 "\"a\r\nb\rc\nd\",e": A="a\r\nb\rc\nd" B="e"` + "\n" + `2@5/2 "f,g": A="f" B="g"`},
		{"quote inside a field", "a\"b,c\"\n", `1@1/2 "a\"b,c\"": A="a\"b" B="c\""`},
		{"quote after a space", "a, \"b\"\n", `1@1/2 "a, \"b\"": A="a" B=" \"b\""`},
		{"text after the closing quote", "\"a\"b,\"c\"\"d\"e,f\n", `1@1/3 "\"a\"b,\"c\"\"d\"e,f": A="ab" B="c\"de" C="f"`},
		{"ragged", "a,b,c\n1\n1,2,3,4\n", `1@1/3 "a,b,c": A="a" B="b" C="c"` + "\n" + `2@2/1 "1": A="1"` + "\n" + `3@3/4 "1,2,3,4": A="1" B="2" C="3" D="4"`},
		{"NUL", "a\x00b,c\n", `1@1/2 "a\x00b,c": A="a\x00b" B="c"`},
		{"byte order mark", "\ufeffa;b\n", `1@1/2 "a;b": A="a" B="b"`},
		{"sep line", "sep=;\r\na;b\n", `1@2/2 "a;b": A="a" B="b"`},
		{"quoted sep line", "\"sep=|\"\na|b\n", `1@2/2 "a|b": A="a" B="b"`},
		{"UTF-8", "é,😀\n", `1@1/2 "é,😀": A="é" B="😀"`},
		{"long fields", strings.Repeat("x", 40) + "," + strings.Repeat("y", 9) + "\n", `1@1/2 "` + strings.Repeat("x", 40) + "," + strings.Repeat("y", 9) + `": A="` + strings.Repeat("x", 40) + `" B="` + strings.Repeat("y", 9) + `"`},
	}
	for _, tt := range tests {
		for _, slow := range []bool{false, true} {
			got, _, _, err := read(tt.text, source.Options{}, slow)
			if err != nil || strings.TrimSuffix(got, "\n") != tt.want {
				t.Errorf("%s (slow %v): got %v\n%s\nwant\n%s", tt.name, slow, err, got, tt.want)
			}
		}
	}
}

func TestDetection(t *testing.T) {
	tests := []struct {
		name, text string
		delimiter  string
		ends       string
	}{
		{"comma", "a,b\n1,2\n", ",", "LF"},
		{"semicolon with decimal commas", "a;b\r\n1,5;2,5\r\n1,25;3\r\n", ";", "CRLF"},
		{"tab", "a\tb\n1,2\t3\n", "\t", "LF"},
		{"bar", "a|b|c\n1|2|3\n", "|", "LF"},
		{"one column", "a\nb\n", ",", "LF"},
		{"free text with commas", "id;note\n1;well, yes, and no\n2;ok\n3;a, b\n", ";", "LF"},
		{"quoted fields decide", "\"a,x\";\"b,y\"\n\"c,z\";\"d,w\"\n", ";", "LF"},
		{"a stray quote in one record", strings.Repeat("a,b,c\n", 20) + "\"a\"x,b,c\nq;r,s,t\n", ",", "LF"},
		{"rows above the header", "Report\n\na;b;c\n1;2;3\n4;5;6\n", ";", "LF"},
		{"one line", "a;b;c", ";", ""},
		{"mixed ends", "a,b\r\nc,d\n", ",", "mixed"},
	}
	for _, tt := range tests {
		_, info, _, err := read(tt.text, source.Options{}, false)
		if err != nil || info.Delimiter != tt.delimiter || info.LineEnds != tt.ends {
			t.Errorf("%s: got %q %q, %v; want %q %q", tt.name, info.Delimiter, info.LineEnds, err, tt.delimiter, tt.ends)
		}
	}
	if _, info, _, err := read("a;b,c\n", source.Options{Delimiter: "tab"}, false); err != nil || info.Delimiter != "\t" {
		t.Errorf("declared tab: got %q, %v", info.Delimiter, err)
	}
}

func TestCharsets(t *testing.T) {
	const text = "näme;€😀\r\n\"ü\"\"\";x\r\n"
	const latin = "n\xe4me;\x80\x81\r\n"
	const want = `1@1/2 %q: A="näme" B="€😀"` + "\n" + `2@2/2 %q: A="ü\"" B="x"` + "\n"
	first, second := "näme;€😀", "\"ü\"\"\";x"
	for _, c := range []charset{utf8Text, utf16LE, utf16BE} {
		enc := func(s string) string {
			if c == utf8Text {
				return s
			}
			return string(c.encode(nil, []byte(s)))
		}
		for _, tt := range []struct{ mark, declared string }{{"\ufeff", ""}, {"", string(c)}, {"\ufeff", string(c)}} {
			got, info, _, err := read(enc(tt.mark+text), source.Options{Charset: tt.declared}, false)
			if err != nil || got != fmt.Sprintf(want, enc(first), enc(second)) || info.Charset != string(c) || info.BOM != (tt.mark != "") {
				t.Errorf("%s, mark %q, declared %q: got %v %+v\n%s", c, tt.mark, tt.declared, err, info, got)
			}
		}
	}
	// Without a mark UTF-16 shows in the NULs of ASCII characters.
	got, info, _, err := read(string(utf16LE.encode(nil, []byte("ab,cd\nef,gh\n"))), source.Options{}, false)
	if err != nil || info.Charset != "utf-16le" || !strings.Contains(got, `A="ab" B="cd"`) {
		t.Errorf("UTF-16 by its NULs: got %v %+v\n%s", err, info, got)
	}
	for _, name := range []string{"windows-1252", "CP1252", "latin1", "ISO-8859-1"} {
		got, info, _, err := read(latin, source.Options{Charset: name}, false)
		if want := fmt.Sprintf("1@1/2 %q: A=\"näme\" B=\"€\\u0081\"\n", latin[:len(latin)-2]); err != nil || got != want || info.Charset != "windows-1252" {
			t.Errorf("%s: got %v %+v\n%s\nwant\n%s", name, err, info, got, want)
		}
	}
	// Every byte comes back.
	var all []byte
	for i := range 256 {
		all = append(all, byte(i))
	}
	decoded, _ := windows1252.decode(nil, all, true)
	if back := windows1252.encode(nil, decoded); !bytes.Equal(back, all) {
		t.Errorf("windows-1252 there and back: %q", back)
	}
}

func TestRefusals(t *testing.T) {
	late := strings.Repeat("a,b\n", 200_000)
	tests := []struct {
		name, text string
		opt        source.Options
		kind       error
		line       int
		remedy     string
	}{
		{"undeclared windows-1252", "a,b\nM\xfcller,x\n", source.Options{}, source.ErrCharset, 2, "--charset windows-1252"},
		{"undeclared windows-1252, late", late + "M\xfcller\n", source.Options{}, source.ErrCharset, 200_001, "charset: windows-1252"},
		{"character cut at the end", "a,b\nx,\xc3", source.Options{}, source.ErrCharset, 2, "UTF-8"},
		{"half a surrogate", "\xff\xfea\x00\x00\xd8", source.Options{}, source.ErrCharset, 1, "again"},
		{"odd number of bytes", "\xff\xfea\x00b", source.Options{}, source.ErrCharset, 1, "again"},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00", source.Options{}, source.ErrCharset, 0, "UTF-8"},
		{"unknown charset", "a", source.Options{Charset: "klingon"}, source.ErrCharset, 0, "declare"},
		{"charset against the mark", "\xff\xfea\x00", source.Options{Charset: "utf-8"}, source.ErrCharset, 0, "declare"},
		{"delimiter that is none", "a", source.Options{Delimiter: "::"}, source.ErrUnsupported, 0, "declare"},
		{"unclosed quote", "a,b\nc,\"d\ne,f\n", source.Options{}, source.ErrMalformed, 2, "close the quote"},
		{"unclosed quote, late", late + "\"x\n", source.Options{}, source.ErrMalformed, 200_001, "close the quote"},
		{"only a mark", "\ufeff", source.Options{}, source.ErrEmpty, 0, "export"},
		{"columns", "a,b,c\n", source.Options{Limits: source.Limits{Columns: 2}}, source.ErrLimit, 1, "(columns)"},
		{"cells", late, source.Options{Limits: source.Limits{Cells: 10}}, source.ErrLimit, 0, "(cells)"},
		{"record", "a\n\"" + strings.Repeat("x", 3<<20) + "\"\n", source.Options{Limits: source.Limits{RecordBytes: 1 << 20}}, source.ErrLimit, 2, "(record_bytes)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, _, err := read(tt.text, tt.opt, false)
			var f *source.Error
			if !errors.As(err, &f) || !errors.Is(err, tt.kind) || tt.line > 0 && f.Line != tt.line || !strings.Contains(f.Remedy, tt.remedy) {
				t.Errorf("got %v, line of %+v; want %v in line %d, remedy with %q", err, f, tt.kind, tt.line, tt.remedy)
			}
		})
	}
}

func TestSheetName(t *testing.T) {
	b, err := Open(context.Background(), "dir/f.v1.csv", strings.NewReader("a"), 1, source.Options{})
	if err != nil || b.Sheets()[0].Name != "f.v1" {
		t.Errorf("got %+v, %v", b, err)
	}
}

// TestFastAndSlow compares the two ways to read a record on random text that is full of quotes and line ends, longer than
// several windows, and the fast one with encoding/csv where that accepts the text.
func TestFastAndSlow(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pieces := []string{",", ",", "\n", "\n", "\r\n", "\r", `"`, `""`, `"a b"`, `"x,y"`, "\"l\nm\"", "abc", "0123456789abcdef", "é", " ", "\x01"}
	for round := range 40 {
		var text strings.Builder
		size := 200
		if round%10 == 0 {
			size = 3 * windowSize
		}
		for text.Len() < size {
			text.WriteString(pieces[rng.IntN(len(pieces))])
		}
		opt := source.Options{Delimiter: ",", Charset: "utf-8"}
		fast, _, f1, err1 := read(text.String(), opt, false)
		slow, _, f2, err2 := read(text.String(), opt, true)
		if fast != slow || f1 != f2 || fmt.Sprint(err1) != fmt.Sprint(err2) {
			t.Fatalf("round %d: %d and %d bytes, %+v and %+v, %v and %v", round, len(fast), len(slow), f1, f2, err1, err2)
		}
	}
}

func TestLikeEncodingCSV(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	fields := []string{"", "a", "b c", `"q"`, `"q,q"`, "\"q\nq\"", `"q""q"`, "é", "1.5", `""`}
	for range 300 {
		var text strings.Builder
		for range 1 + rng.IntN(20) {
			for i := range 1 + rng.IntN(5) {
				if i > 0 {
					text.WriteByte(',')
				}
				text.WriteString(fields[rng.IntN(len(fields))])
			}
			text.WriteByte('\n')
		}
		r := csv.NewReader(strings.NewReader(text.String()))
		r.FieldsPerRecord = -1
		want, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		b, err := Open(context.Background(), "f", strings.NewReader(text.String()), int64(text.Len()), source.Options{Delimiter: ","})
		if err != nil {
			t.Fatal(err)
		}
		rd, _ := b.Read(context.Background(), 0)
		var got [][]string
		for {
			k, err := rd.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range k.RowNum {
				var rec []string
				for col := range k.Width[i] {
					rec = append(rec, string(k.Bytes(k.Cell(col, i))))
				}
				got = append(got, rec)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q:\ngot  %q\nwant %q", text.String(), got, want)
		}
	}
}

// FuzzRecords holds that any text gives an answer, the same from both ways to read, and that the records' bytes and the line
// ends between them are the file.
func FuzzRecords(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "\"a\"\"b\",\"c\nd\"\r\n", "sep=;\na;b", "\ufeffa\tb", "a\"b\"c,\"d\"e\n", "\xff\xfea\x00,\x00", "\r\r\n\n,", "\"", "M\xfc"} {
		f.Add(s, "")
		f.Add(s, "windows-1252")
	}
	f.Fuzz(func(t *testing.T, text, charset string) {
		fast, _, f1, err1 := read(text, source.Options{Charset: charset}, false)
		slow, _, f2, err2 := read(text, source.Options{Charset: charset}, true)
		if fast != slow || f1 != f2 || fmt.Sprint(err1) != fmt.Sprint(err2) {
			t.Fatalf("fast\n%s%v\nslow\n%s%v", fast, err1, slow, err2)
		}
		var e *source.Error
		if err1 != nil && (!errors.As(err1, &e) || e.Remedy == "") {
			t.Fatalf("an error without a remedy: %v", err1)
		}
	})
}
