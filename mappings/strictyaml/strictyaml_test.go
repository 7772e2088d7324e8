package strictyaml

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

type words []string

func (words) OneOrMore() {}

type short struct {
	Header string `yaml:"header"`
	Nth    int    `yaml:"nth"`
}

func (s *short) FromScalar(text string) error {
	if text == "bad" {
		return errors.New("bad is refused")
	}
	s.Header = text
	return nil
}

type inner struct {
	Flag  bool  `yaml:"flag"`
	Words words `yaml:"words"`
}

type config struct {
	inner
	Name   string           `yaml:"name"`
	Count  int              `yaml:"count"`
	Const  *string          `yaml:"const"`
	List   []inner          `yaml:"list"`
	Fields map[string]short `yaml:"fields"`
}

func decode(text string) (config, error) {
	d, err := Parse("c.yaml", []byte(text))
	if err != nil {
		return config{}, err
	}
	var c config
	d.Decode(&c)
	return c, d.Err()
}

func TestDecode(t *testing.T) {
	c, err := decode("\ufeffname: 007\r\ncount: 3\r\nconst: true\r\nwords: yes\r\nflag: true\r\nlist:\r\n  - flag: false\r\n    words: [1.0, \"a b\", y]\r\nfields:\r\n  2024: Year\r\n  x: { header: \"X: y\", nth: 2 }\r\n")
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "007" || c.Count != 3 || *c.Const != "true" || c.Words[0] != "yes" || !c.Flag {
		t.Errorf("scalars: %+v %q", c, *c.Const)
	}
	if fmt.Sprint(c.List) != "[{false [1.0 a b y]}]" || fmt.Sprint(c.Fields) != "map[2024:{Year 0} x:{X: y 2}]" {
		t.Errorf("collections: %v %v", c.List, c.Fields)
	}
}

// Every fault of a file is listed, with its place, the line, and a remedy.
func TestAllFaultsAtOnce(t *testing.T) {
	_, err := decode(`nam: x
count: many
name: a
name: b
list:
  - flag: perhaps
    wrods: [x]
  - 7
fields: { a: bad, a: c }
words:
`)
	var errs *Errors
	if !errors.As(err, &errs) {
		t.Fatalf("%T %v", err, err)
	}
	want := []string{
		`1:1 nam unknown key "nam" did you mean "name"?`,
		`2:8 count this is a word where a whole number is expected`,
		`4:1 name key "name" stands here a second time; the first is in line 3 keep one of them`,
		`6:11 list[0].flag this is a word where true or false is expected`,
		`7:5 list[0].wrods unknown key "wrods" did you mean "words"?`,
		`8:5 list[1] this is a number where a mapping (key: value) is expected`,
		`9:14 fields.a bad is refused`,
		`9:19 fields.a key "a" stands here a second time; the first is in line 9 keep one of them`,
		`10:8 words there is no value give a list, or remove the key`,
	}
	if len(errs.Faults) != len(want) {
		t.Fatalf("%d faults, want %d:\n%v", len(errs.Faults), len(want), err)
	}
	for i, f := range errs.Faults {
		got := fmt.Sprintf("%d:%d %s %s %s", f.Line, f.Column, f.Path, f.Message, f.Remedy)
		if !strings.HasPrefix(got, want[i]) {
			t.Errorf("fault %d:\n got %s\nwant %s", i, got, want[i])
		}
	}
	if got := errs.Faults[1].Excerpt; got != "     2 | count: many\n       |        ^" {
		t.Errorf("excerpt:\n%s", got)
	}
	if s := err.Error(); !strings.Contains(s, "c.yaml:2:8: count: this is a word") {
		t.Errorf("text:\n%s", s)
	}
}

func TestRefused(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b]\n"
	for _, tc := range []struct{ name, text, want string }{
		{"alias bomb", bomb, "1:4: anchors, aliases and merge keys are not read"},
		{"alias", "name: *x\n", "anchors, aliases"},
		{"merge key", "<<: { name: x }\n", "merge keys"},
		{"tag", "name: !!binary aGk=\n", "tags and directives"},
		{"explicit key", "? name\n: x\n", "explicit keys"},
		{"second document", "name: a\n---\nname: b\n", "second document"},
		{"empty", "", "the file is empty"},
		{"comment only", "# nothing\n", "the file is empty"},
		{"list", "- a\n- b\n", "key: value), but a list"},
		{"not yaml", "name: [a\ncount: 1\n", "not YAML"},
		{"not utf-8", "name: a\nx: \xff\n", "2:1: the line is not UTF-8"},
		{"nul", "name: a\x00b\n", "not UTF-8"},
		{"deep flow", "name: " + strings.Repeat("[", 5000) + "\n", "nested too deep"},
		{"deep list", "list: \n  " + strings.Repeat("- ", 5000) + "\n", "nested too deep"},
		{"too large", "name: " + strings.Repeat("x", MaxBytes) + "\n", "at most 1048576"},
		{"null text", "name: ~\n", "there is no value"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := decode(tc.text)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			var errs *Errors
			if !errors.As(err, &errs) || len(errs.Faults) == 0 || errs.Faults[0].Line < 1 {
				t.Errorf("no place: %#v", err)
			}
		})
	}
}

// A file with data that is given in place of a configuration is refused without a word of what it holds.
func TestForeignFilesAreNotShown(t *testing.T) {
	for name, text := range map[string]string{
		"comma":        "Mail,Consent\nmia@shop.example,Y\n",
		"no header":    "mia@shop.example\n",
		"semicolon":    "mia@shop.example;Y;10:15\n\"x\"",
		"tab":          "mia@shop.example\tnote: x\n",
		"colon":        "Mail,Note\nmia@shop.example,\"note: x\"\n",
		"latin-1":      "Name;mia@shop.example\nM\xfcller;Y\n",
		"title":        "Export: customers\nmia@shop.example: [Y\n  mia@shop.example,Y\n",
		"list":         "- mia@shop.example\n",
		"stars":        "*mia@shop.example;&x\n",
		"quoted":       "\"mia@shop.example\",\"Y\"\n",
		"workbook":     "PK\x03\x04\x00mia@shop.example",
		"many":         "mia@shop.example,Y,N\n" + strings.Repeat("mia@shop.example,Y,{N\n", 10_000),
		"comment":      "# export\nmia@shop.example,Y\n",
		"over a limit": "mia@shop.example," + strings.Repeat("x", MaxBytes),
	} {
		_, err := decode(text)
		var errs *Errors
		if !errors.As(err, &errs) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, f := range errs.Faults {
			if all := f.Message + f.Remedy + f.Excerpt; strings.Contains(all, "mia") || f.Remedy == "" {
				t.Errorf("%s: %+v", name, f)
			}
		}
		if name != "title" && len(errs.Faults) != 1 {
			t.Errorf("%s: %d faults", name, len(errs.Faults))
		}
	}
}

// Every kind of whole number is read, and one out of its range is a fault that says the bounds.
func TestWholeNumbers(t *testing.T) {
	type all struct {
		I   int    `yaml:"i"`
		I8  int8   `yaml:"i8"`
		I16 int16  `yaml:"i16"`
		I32 int32  `yaml:"i32"`
		I64 int64  `yaml:"i64"`
		U   uint   `yaml:"u"`
		U8  uint8  `yaml:"u8"`
		U16 uint16 `yaml:"u16"`
		U32 uint32 `yaml:"u32"`
		U64 uint64 `yaml:"u64"`
		P   *int64 `yaml:"p"`
	}
	read := func(text string) (all, string) {
		d, err := Parse("c.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var a all
		d.Decode(&a)
		if err := d.Err(); err != nil {
			return a, err.Error()
		}
		return a, ""
	}
	n := int64(20_000_000_000)
	want := all{-20_000_000_000, -128, -32768, -2147483648, n, 20_000_000_000, 255, 65535, 4294967295, 18446744073709551615, &n}
	got, fault := read("i: -20000000000\ni8: -128\ni16: -32768\ni32: -2147483648\ni64: 20000000000\nu: 20000000000\nu8: 255\nu16: 65535\nu32: 4294967295\nu64: 18446744073709551615\np: 20000000000\n")
	if fault != "" || got.P == nil || *got.P != n {
		t.Fatalf("%s %+v", fault, got)
	}
	if got.P, want.P = nil, nil; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for text, want := range map[string]string{
		"i8: 128":                               "from -128 to 127",
		"i64: 9223372036854775808":              "from -9223372036854775808 to 9223372036854775807",
		"u8: 256":                               "from 0 to 255",
		"u8: -1":                                "from 0 to 255",
		"u64: 18446744073709551616":             "from 0 to 18446744073709551615",
		"i64: 99999999999999999999999999999999": "from -9223372036854775808",
		"i64: 0x10":                             "decimal digits",
		"i64: 1.5":                              "a number where a whole number is expected",
		"i64: x":                                "a word where a whole number is expected",
		"p: 9223372036854775808":                "out of range",
	} {
		if _, fault := read(text + "\n"); !strings.Contains(fault, want) {
			t.Errorf("%s: %q, want %q", text, fault, want)
		}
	}
}

// A key without a value is as good as none where the document is told so.
func TestNullIsAbsent(t *testing.T) {
	d, err := Parse("c.yaml", []byte("name:\ncount: ~\nconst:\nlist: null\nfields: { a: , b: x }\nflag: true\nwords: [null]\nnam:\n"))
	if err != nil {
		t.Fatal(err)
	}
	d.NullIsAbsent = true
	c := config{Name: "kept"}
	d.Decode(&c)
	if c.Name != "kept" || c.Const != nil || len(c.Fields) != 1 || !c.Flag || d.Has("name") || d.Has("fields.a") || !d.Has("flag") {
		t.Errorf("%+v", c)
	}
	var errs *Errors
	if !errors.As(d.Err(), &errs) || len(errs.Faults) != 2 || errs.Faults[0].Path != "words[0]" || errs.Faults[1].Path != "nam" {
		t.Errorf("%v", d.Err())
	}
}

// A file just under the limit costs no more than its size, whatever it holds.
func TestHostileFilesEndSoon(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of parsing")
	}
	for _, tc := range []struct {
		name, unit string
		size       int
	}{
		{"keys", "k%d: v\n", 50_000}, // all of it is parsed
		{"flow", "a%d: [1,2,3,{a: b}]\n", 50_000},
		{"quotes", "a%d: \"x\\\"y\"\n", MaxBytes - 1000}, // refused, but read
		{"comments", "#%d\n", MaxBytes - 1000},
		{"unclosed", "\"%d\n", MaxBytes - 1000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b strings.Builder
			for i := 0; b.Len() < tc.size; i++ {
				fmt.Fprintf(&b, tc.unit, i)
			}
			start := time.Now()
			_, _ = decode(b.String())
			if d := time.Since(start); d > 10*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	names := []string{"entity", "key", "when", "history", "fields"}
	for word, want := range map[string]string{"entitiy": "entity", "Keys": "key", "field": "fields", "hsitory": "history", "zzz": "", "": ""} {
		if got := Nearest(word, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("name: x\nlist:\n  - words: [a, \"b\"]\n"))
	f.Add([]byte("a: |\n  x\n y: {"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4096 {
			return
		}
		if _, err := decode(string(data)); err != nil {
			var errs *Errors
			if !errors.As(err, &errs) || len(errs.Faults) == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			_ = err.Error()
		}
	})
}
