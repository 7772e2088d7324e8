package numfmt

import (
	"testing"

	"sheetlift/importers/source"
)

func TestParse(t *testing.T) {
	tests := []struct {
		code string
		want source.Class
		pad  uint8
	}{
		{"General", source.General, 0},
		{"GENERAL;-General", source.General, 0},
		{"", source.General, 0},
		{"0", source.General, 0},
		{"0.00", source.General, 0},
		{"#,##0.00;[Red]-#,##0.00", source.General, 0},
		{"0.00E+00", source.General, 0},
		{"# ?/?", source.General, 0},
		{"0000000", source.General, 7},
		{"000-00-0000", source.General, 9},
		{"00.00", source.General, 2},
		{"0%", source.Percent, 0},
		{"@", source.TextFormat, 0},
		{`"text"`, source.General, 0},
		{`"d/m/y"0`, source.General, 0},
		{`0\d\m`, source.General, 0},
		{`0" days"`, source.General, 0},
		{`[Red]0`, source.General, 0},
		{`[>=100]0;[<0]"neg"`, source.General, 0},
		{`_(* #,##0_);_(* \(#,##0\);_(* "-"_);_(@_)`, source.General, 0},
		{`yyyy\-mm\-dd`, source.Date, 0},
		{"yyyy-mm-dd;@", source.Date, 0},
		{"m/d/yyyy", source.Date, 0},
		{"mmm-yy", source.Date, 0},
		{"mmmm", source.Date, 0},
		{"[$-409]d-mmm-yy;@", source.Date, 0},
		{"[$-F800]dddd, mmmm dd, yyyy", source.Date, 0},
		{`yyyy"年"m"月"d"日"`, source.Date, 0},
		{`[$-411]ggge"年"m"月"d"日"`, source.Date, 0},
		{"aaaa", source.Date, 0},
		{"[Blue]dd.mm.yyyy", source.Date, 0},
		{"d/m/yyyy h:mm", source.DateTime, 0},
		{"yyyy-mm-ddThh:mm:ss", source.DateTime, 0},
		{"m/d/yy h:mm AM/PM", source.DateTime, 0},
		{"h:mm", source.Time, 0},
		{"hh:mm:ss.000", source.Time, 0},
		{"mm:ss", source.Time, 0},
		{"[$-F400]h:mm:ss\\ AM/PM", source.Time, 0},
		{"h AM/PM", source.Time, 0},
		{"[h]:mm", source.Duration, 0},
		{"[hh]:mm:ss", source.Duration, 0},
		{"[mm]:ss", source.Duration, 0},
		{"[ss].00", source.Duration, 0},
		{`[$€-407] #,##0.00`, source.Currency, 0},
		{`"$"#,##0.00`, source.Currency, 0},
		{`#,##0.00\ €`, source.Currency, 0},
		{`[$$-409]#,##0`, source.Currency, 0},
		{`£0.00`, source.Currency, 0},
		{`;;;`, source.General, 0},
		{`"-";yyyy`, source.Date, 0},
		{`[`, source.General, 0},
		{`"`, source.General, 0},
		{`\`, source.General, 0},
	}
	for _, tt := range tests {
		if got := Parse(tt.code); got.Class != tt.want || got.Pad > 1 && got.Pad != tt.pad || got.Pad <= 1 && tt.pad != 0 {
			t.Errorf("%q: got %v pad %d, want %v pad %d", tt.code, got.Class, got.Pad, tt.want, tt.pad)
		}
	}
}

func TestBuiltinFormats(t *testing.T) {
	for id, want := range map[int]source.Class{
		0: source.General, 1: source.General, 4: source.General, 9: source.Percent, 10: source.Percent, 14: source.Date, 17: source.Date,
		18: source.Time, 21: source.Time, 22: source.DateTime, 37: source.General, 44: source.Currency, 45: source.Time, 46: source.Duration,
		47: source.Time, 49: source.TextFormat, 27: source.Date, 36: source.Date, 50: source.Date, 58: source.Date, 34: source.DateTime,
		32: source.Time, 71: source.Date, 79: source.Duration, 163: source.General,
	} {
		if got := Builtin(id).Class; got != want {
			t.Errorf("id %d: got %v, want %v", id, got, want)
		}
	}
}

func FuzzFormatCode(f *testing.F) {
	for _, s := range []string{"General", "yyyy-mm-dd", `[$-409]h:mm\ AM/PM;@`, `_(* "x"#,##0.00_)`, "[h]:mm:ss.00", `"`, `\`, "[", "*", "0%;[Red]0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, code string) { Parse(code) })
}
