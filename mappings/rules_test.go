package mappings

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/pipeline/finding"
)

// noteField is a consent with one more field; the sheet's columns are Mail, S and X.
func withField(fields ...string) string {
	return one("consent", "email", append([]string{"email: Mail", "status: { from: S, enum: { given: [Y] } }"}, fields...)...)
}

// valueCase is one cell X in a row that is right otherwise.
type valueCase struct {
	name  string
	field string // the mapping's line for the field that reads X
	cells []cell // X, or X and Z
	rule  string // of the finding; "" if there is none
	want  *importers.Value
	zone  string
	d1904 bool
}

func set(text string) *importers.Value { return &importers.Value{Set: true, Text: text} }

var valueCases = []valueCase{
	// Identifiers.
	{"id text", "external_id: X", []cell{txt("00042")}, "", set("00042"), "", false},
	{"id number", "external_id: X", []cell{num("123456789012345")}, "", set("123456789012345"), "", false},
	{"id of 16 digits", "external_id: X", []cell{num("1234567890123456")}, "id.precision_lost", nil, "", false},
	{"id in E-notation", "external_id: X", []cell{num("3.1010119560823098E+17")}, "id.precision_lost", nil, "", false},
	{"id in small E-notation", "external_id: X", []cell{num("1E+5")}, "id.precision_lost", nil, "", false},
	{"id text in E-notation", "external_id: X", []cell{txt("3,10E+17")}, "id.precision_lost", nil, "", false},
	{"id with an E", "external_id: X", []cell{txt("12E4")}, "", set("12E4"), "", false},
	{"id with zeros in the format", "external_id: X", []cell{flagged(num("42"), source.ZeroPadded)}, "id.zeros_lost", nil, "", false},
	{"id with a fraction", "external_id: X", []cell{num("12.5")}, "id.not_whole", nil, "", false},
	{"negative id", "external_id: X", []cell{num("-12")}, "id.not_whole", nil, "", false},
	{"id as a date", "external_id: X", []cell{classed("45292", source.Date)}, "id.reformatted", nil, "", false},
	{"id as a t=d date", "external_id: X", []cell{flagged(classedText("2024-01-01", source.DateTime), source.ISODate)}, "id.reformatted", nil, "", false},
	{"id TRUE", "external_id: X", []cell{boolean("TRUE")}, "value.kind", nil, "", false},
	{"id padded", "external_id: X", []cell{txt("42 ")}, "value.padded", nil, "", false},
	{"id trimmed by declaration", "external_id: { from: X, normalize: [trim] }", []cell{txt("42 ")}, "", set("42"), "", false},
	{"id with an apostrophe", "external_id: X", []cell{txt("'0042")}, "", set("'0042"), "", false},
	{"id without its apostrophe by declaration", "external_id: { from: X, normalize: [apostrophe] }", []cell{txt("'0042")}, "", set("0042"), "", false},
	{"only one apostrophe", "external_id: { from: X, normalize: [trim, apostrophe] }", []cell{txt(" ''42'")}, "", set("'42'"), "", false},
	{"nothing but an apostrophe", "external_id: { from: X, normalize: [apostrophe] }", []cell{txt("'")}, "", &importers.Value{}, "", false},
	{"phone without its apostrophe", "phone: { from: X, normalize: [apostrophe] }", []cell{txt("'+49 151 23456789")}, "", set("+4915123456789"), "", false},
	{"id with zero-width space", "external_id: X", []cell{txt("4\u200b2")}, "value.invisible", nil, "", false},
	{"id with no-break space", "external_id: X", []cell{txt("4\u00a02")}, "value.invisible", nil, "", false},
	{"id with a letter that looks Latin", "external_id: X", []cell{txt("\u0410BC-12")}, "value.lookalike", set("\u0410BC-12"), "", false},
	{"id in another script", "external_id: X", []cell{txt("\u0410\u0411\u0412-12 ABC")}, "", set("\u0410\u0411\u0412-12 ABC"), "", false},
	{"id with a Greek word", "external_id: X", []cell{txt("Ωmega µm")}, "", set("Ωmega µm"), "", false},
	{"id not in NFC", "external_id: X", []cell{txt("Mu\u0308ller")}, "", set("Müller"), "", false},
	{"id too long", "notice_version: X", []cell{txt(strings.Repeat("ä", 51))}, "value.too_long", nil, "", false},
	{"id as long as it may be", "notice_version: X", []cell{txt(strings.Repeat("ä", 50))}, "", set(strings.Repeat("ä", 50)), "", false},

	// E-mail addresses.
	{"email with name", "email: X", []cell{txt("A <a@example.com>")}, "email.invalid", nil, "", false},
	{"two emails", "email: X", []cell{txt("a@example.com, b@example.com")}, "email.invalid", nil, "", false},
	{"email in brackets", "email: X", []cell{txt("<a@example.com>")}, "email.invalid", nil, "", false},
	{"email with IDN", "email: X", []cell{txt("jürgen@münchen.example")}, "", set("jürgen@münchen.example"), "", false},
	{"email keeps its case", "email: X", []cell{txt("A.B+c@Example.COM")}, "", set("A.B+c@Example.COM"), "", false},
	{"email with a letter that looks Latin", "email: X", []cell{txt("\u0430nna@example.com")}, "value.lookalike", set("\u0430nna@example.com"), "", false},
	{"email number", "email: X", []cell{num("1")}, "value.kind", nil, "", false},
	{"email padded", "email: X", []cell{txt(" a@example.com")}, "value.padded", nil, "", false},

	// Telephone numbers.
	{"phone national", "phone: { from: X, region: DE }", []cell{txt("0151 / 234-56789")}, "", set("+4915123456789"), "", false},
	{"phone international", "phone: X", []cell{txt("+49 151 23456789")}, "", set("+4915123456789"), "", false},
	{"phone with 00", "phone: X", []cell{txt("0049 (151) 23456789")}, "", set("+4915123456789"), "", false},
	{"phone of another country", "phone: { from: X, region: DE }", []cell{txt("+91 98765 43210")}, "", set("+919876543210"), "", false},
	{"phone without region", "phone: X", []cell{txt("0151 23456789")}, "phone.no_region", nil, "", false},
	{"phone formula", "phone: { from: X, region: DE }", []cell{txt("=+4915123456789")}, "phone.invalid", nil, "", false},
	{"phone letters", "phone: { from: X, region: US }", []cell{txt("1-800-FLOWERS")}, "phone.invalid", nil, "", false},
	{"phone extension", "phone: { from: X, region: DE }", []cell{txt("030 123456 ext. 5")}, "phone.invalid", nil, "", false},
	{"phone too short", "phone: { from: X, region: DE }", []cell{txt("12")}, "phone.invalid", nil, "", false},
	{"phone two numbers", "phone: { from: X, region: DE }", []cell{txt("0151 23456789 / 0151 98765432")}, "phone.invalid", nil, "", false},
	{"phone with two endings", "phone: { from: X, region: DE }", []cell{txt("0931 1234 / 1235")}, "phone.invalid", nil, "", false},
	{"phone with a slash after the code", "phone: { from: X, region: DE }", []cell{txt("+49 (0) 931 / 12 34 56")}, "", set("+49931123456"), "", false},
	{"phone with an area of two groups", "phone: { from: X, region: DE }", []cell{txt("0 30/23 12 51 27")}, "", set("+493023125127"), "", false},
	{"phone abroad from Singapore", "phone: { from: X, region: SG }", []cell{txt("001 44 20 7946 0958")}, "", set("+442079460958"), "", false},
	{"phone abroad from Singapore, or of the US", "phone: { from: X, region: SG }", []cell{txt("001 66 2 234 5678")}, "phone.invalid", nil, "", false},
	{"phone abroad from Australia", "phone: { from: X, region: AU }", []cell{txt("0011 44 20 7946 0958")}, "", set("+442079460958"), "", false},
	{"phone with a foreign 00", "phone: { from: X, region: JP }", []cell{txt("0049 151 23456789")}, "", set("+4915123456789"), "", false},
	{"phone number lost its zero", "phone: { from: X, region: DE }", []cell{num("15123456789")}, "phone.zeros_lost", nil, "", false},
	{"phone number with country code", "phone: { from: X, region: DE }", []cell{num("4915123456789")}, "phone.zeros_lost", nil, "", false},
	{"phone number lost its plus", "phone: { from: X, region: DE }", []cell{num("493023125127")}, "phone.zeros_lost", nil, "", false},
	{"phone text without plus", "phone: { from: X, region: DE }", []cell{txt("49 30 23125127")}, "phone.zeros_lost", nil, "", false},
	{"phone number of India without plus", "phone: { from: X, region: IN }", []cell{num("919876543210")}, "phone.zeros_lost", nil, "", false},
	{"phone text in the US with its 1", "phone: { from: X, region: US }", []cell{txt("1-201-555-0123")}, "", set("+12015550123"), "", false},
	{"phone text without zero", "phone: { from: X, region: DE }", []cell{txt("151 23456789")}, "phone.zeros_lost", nil, "", false},
	{"phone text in Italy", "phone: { from: X, region: IT }", []cell{txt("347 123 4567")}, "", set("+393471234567"), "", false},
	{"phone number in India", "phone: { from: X, region: IN }", []cell{num("9876543210")}, "", set("+919876543210"), "", false},
	{"phone number in the US", "phone: { from: X, region: US }", []cell{num("2015550123")}, "", set("+12015550123"), "", false},
	{"phone in E-notation", "phone: { from: X, region: DE }", []cell{num("4.91512345678E+12")}, "phone.zeros_lost", nil, "", false},
	{"phone text in E-notation", "phone: { from: X, region: DE }", []cell{txt("4.91512E+12")}, "phone.zeros_lost", nil, "", false},
	{"phone zeros in the format", "phone: { from: X, region: DE }", []cell{flagged(num("15123456789"), source.ZeroPadded)}, "phone.zeros_lost", nil, "", false},
	{"phone number without region", "phone: X", []cell{num("4915123456789")}, "phone.zeros_lost", nil, "", false},
	{"phone date", "phone: { from: X, region: DE }", []cell{classed("45292", source.Date)}, "value.kind", nil, "", false},
	{"phone direction mark", "phone: X", []cell{txt("\u202a+4915123456789")}, "value.invisible", nil, "", false},

	// Words.
	{"own term", "channel: X", []cell{txt(" EMAIL ")}, "", set("email"), "", false},
	{"unknown word", "channel: X", []cell{txt("mail")}, "enum.unmapped", nil, "", false},
	{"word folded", "channel: { from: X, enum: { post: [\"STRASSE\"] } }", []cell{txt("straße")}, "", set("post"), "", false},
	{"own term when words are declared", "channel: { from: X, enum: { post: [Brief] } }", []cell{txt("email")}, "enum.unmapped", nil, "", false},
	{"word of a number", "channel: { from: X, enum: { post: [1] } }", []cell{num("1")}, "", set("post"), "", false},
	{"word of a number written otherwise", "channel: { from: X, enum: { post: [1] } }", []cell{num("1.0")}, "", set("post"), "", false},
	{"word of a bool", "channel: { from: X, enum: { post: [true] } }", []cell{boolean("TRUE")}, "", set("post"), "", false},
	{"free terms", "purpose: { from: X, enum: { Marketing-2: [\"News\"] } }", []cell{txt("news")}, "", set("Marketing-2"), "", false},
	{"null token", "channel: { from: X, null_tokens: [\"N/A\"] }", []cell{txt("n/a")}, "", &importers.Value{}, "", false},
	{"null token that is not declared", "channel: X", []cell{txt("n/a")}, "enum.unmapped", nil, "", false},
	{"NA is a value unless declared", "jurisdiction: X", []cell{txt("NA")}, "", set("NA"), "", false},
	{"blank", "channel: X", []cell{txt("   ")}, "", &importers.Value{}, "", false},

	// Codes.
	{"country", "jurisdiction: { from: X, type: country }", []cell{txt("deu")}, "", set("DE"), "", false},
	{"country by name", "jurisdiction: { from: X, type: country }", []cell{txt("Germany")}, "country.invalid", nil, "", false},
	{"country number", "jurisdiction: { from: X, type: country }", []cell{num("276")}, "value.kind", nil, "", false},
	{"a jurisdiction that is not read as a country", "jurisdiction: X", []cell{txt("Germany")}, "", set("Germany"), "", false},
	{"language", "language: { from: X, type: language }", []cell{txt("DE-at")}, "", set("de-AT"), "", false},
	{"language by name", "language: { from: X, type: language }", []cell{txt("German")}, "language.invalid", nil, "", false},
	{"language padded", "language: { from: X, type: language }", []cell{txt("de ")}, "value.padded", nil, "", false},

	// Text.
	{"text as it is", "note: X", []cell{txt(" a\n b ")}, "", set(" a\n b "), "", false},
	{"text normalized", "note: { from: X, normalize: [trim, nfc, lower, collapse] }", []cell{txt(" A\u0308  b\t\nC ")}, "", set("ä b c"), "", false},
	{"text upper", "note: { from: X, normalize: upper }", []cell{txt("äb")}, "", set("ÄB"), "", false},
	{"text of a number", "note: X", []cell{num("0.10000000000000001")}, "", set("0.1"), "", false},
	{"text of a small number", "note: X", []cell{num("1E-3")}, "", set("0.001"), "", false},
	{"text of a big number", "note: X", []cell{num("1E+18")}, "id.precision_lost", nil, "", false},
	{"text of a bool", "note: X", []cell{boolean("TRUE")}, "", set("TRUE"), "", false},
	{"text of a date", "note: X", []cell{classed("45292.5", source.DateTime)}, "value.rendered", set("2024-01-01 12:00:00"), "", false},
	{"text of a percentage", "note: X", []cell{classed("0.5", source.Percent)}, "value.rendered", set("0.5"), "", false},
	{"text with NUL", "note: X", []cell{txt("a\x00b")}, "value.invisible", nil, "", false},
	{"text that is not UTF-8", "note: X", []cell{txt("a\xffb")}, "value.invisible", nil, "", false},
	{"text with direction override", "note: X", []cell{txt("a\u202eb")}, "text.invisible", set("a\u202eb"), "", false},
	{"text too long", "note: X", []cell{txt(strings.Repeat("x", 4001))}, "value.too_long", nil, "", false},
	{"rules kept", "note: { from: X, rules: \"max=3\" }", []cell{txt("äöü")}, "", set("äöü"), "", false},
	{"rules broken", "note: { from: X, rules: \"max=3\" }", []cell{txt("äöüß")}, "value.rule", nil, "", false},
	{"error cell", "note: X", []cell{{kind: source.ErrorValue, text: "#N/A"}}, "value.error_cell", nil, "", false},
	{"formula without result", "note: X", []cell{{flags: source.Formula | source.NoCache}}, "value.no_cache", nil, "", false},
	{"joined text", "note: { from: [X, Z], join: \"; \" }", []cell{txt("a"), num("2")}, "", set("a; 2"), "", false},
	{"joined text, one blank", "note: { from: [X, Z] }", []cell{txt(""), txt("b")}, "", set("b"), "", false},
	{"joined text, error", "note: { from: [X, Z] }", []cell{txt("a"), {kind: source.ErrorValue, text: "#REF!"}}, "value.error_cell", nil, "", false},
	{"joined text of a date", "note: { from: [X, Z] }", []cell{txt("a"), classed("45292", source.Date)}, "value.rendered", set("a 2024-01-01"), "", false},
	{"first that is not blank", "external_id: { from: [X, Z] }", []cell{txt(" "), txt("b")}, "", set("b"), "", false},
	{"first, and the second is not looked at", "external_id: { from: [X, Z] }", []cell{txt("a"), txt("b ")}, "", set("a"), "", false},

	// Times.
	{"time with offset", "occurred_at: X", []cell{txt("2026-03-01T10:15:30.5+02:00")}, "", &importers.Value{Set: true, Int: 1772352930_500000, Raw: "2026-03-01T10:15:30.5+02:00", Zone: "+02:00", Precision: "micro"}, "Europe/Berlin", false},
	{"time in the source's zone", "occurred_at: X", []cell{txt("2026-03-01 10:15")}, "", &importers.Value{Set: true, Int: 1772356500_000000, Raw: "2026-03-01 10:15", Zone: "Europe/Berlin", Precision: "minute"}, "Europe/Berlin", false},
	{"time in the field's zone", "occurred_at: { from: X, zone: Asia/Kolkata }", []cell{txt("2026-03-01 10:15")}, "", &importers.Value{Set: true, Int: 1772340300_000000, Raw: "2026-03-01 10:15", Zone: "Asia/Kolkata", Precision: "minute"}, "Europe/Berlin", false},
	{"time without zone", "occurred_at: X", []cell{txt("2026-03-01 10:15")}, "", &importers.Value{Set: true, Int: 1772360100_000000, Raw: "2026-03-01 10:15", Precision: "minute"}, "", false},
	{"day", "occurred_at: X", []cell{txt("2026-03-01")}, "", &importers.Value{Set: true, Int: 1772319600_000000, Raw: "2026-03-01", Zone: "Europe/Berlin", Precision: "day"}, "Europe/Berlin", false},
	{"serial 1900", "occurred_at: X", []cell{classed("45292.5", source.DateTime)}, "", &importers.Value{Set: true, Int: 1704110400_000000, Raw: "45292.5", Precision: "minute"}, "", false},
	{"serial 1904", "occurred_at: X", []cell{classed("42735", source.Date)}, "", &importers.Value{Set: true, Int: 1609459200_000000, Raw: "42735", Precision: "day"}, "", true},
	{"serial 60", "occurred_at: X", []cell{classed("60", source.Date)}, "date.invalid", nil, "", false},
	{"negative serial", "occurred_at: X", []cell{classed("-1", source.Date)}, "date.invalid", nil, "", false},
	{"number that is not declared", "occurred_at: X", []cell{num("45292")}, "date.format", nil, "", false},
	{"number declared as serial", "occurred_at: { from: X, format: serial }", []cell{num("45292.25")}, "", &importers.Value{Set: true, Int: 1704088800_000000, Raw: "45292.25", Precision: "minute"}, "", false},
	{"text declared as serial", "occurred_at: { from: X, format: serial }", []cell{txt("45292")}, "", &importers.Value{Set: true, Int: 1704067200_000000, Raw: "45292", Precision: "day"}, "", false},
	{"serial with a declared decimal comma", "occurred_at: { from: X, format: serial, decimal: comma }", []cell{txt("45292,25")}, "", &importers.Value{Set: true, Int: 1704088800_000000, Raw: "45292,25", Precision: "minute"}, "", false},
	{"serial with a decimal comma", "occurred_at: { from: X, format: serial }", []cell{txt("45292,25")}, "date.format", nil, "", false},
	{"digits with a layout", "occurred_at: { from: X, format: YYYYMMDD }", []cell{num("20240101")}, "", &importers.Value{Set: true, Int: 1704067200_000000, Raw: "20240101", Precision: "day"}, "", false},
	{"date cell beside a layout", "occurred_at: { from: X, format: DD.MM.YYYY }", []cell{classed("45292", source.Date)}, "", &importers.Value{Set: true, Int: 1704067200_000000, Raw: "45292", Precision: "day"}, "", false},
	{"t=d cell", "occurred_at: { from: X, format: DD.MM.YYYY }", []cell{flagged(classedText("2024-01-01T00:00:00", source.DateTime), source.ISODate)}, "", &importers.Value{Set: true, Int: 1704067200_000000, Raw: "2024-01-01T00:00:00", Precision: "second"}, "", false},
	{"another layout", "occurred_at: { from: X, format: DD.MM.YYYY }", []cell{txt("2024-01-01")}, "date.format", nil, "", false},
	{"no date", "occurred_at: X", []cell{txt("next week")}, "date.format", nil, "", false},
	{"date percent", "occurred_at: X", []cell{classed("0.5", source.Percent)}, "date.format", nil, "", false},
	{"30 February", "occurred_at: X", []cell{txt("2026-02-30")}, "date.invalid", nil, "", false},
	{"30 February by layout", "occurred_at: { from: X, format: [DD.MM.YYYY, MM/DD/YYYY] }", []cell{txt("30.02.2026")}, "date.invalid", nil, "", false},
	{"time only", "occurred_at: X", []cell{txt("09:46")}, "date.time_only", nil, "", false},
	{"time only by layout", "occurred_at: { from: X, format: DD.MM.YYYY }", []cell{txt("09:46")}, "date.time_only", nil, "", false},
	{"time cell", "occurred_at: X", []cell{classed("0.4", source.Time)}, "date.time_only", nil, "", false},
	{"two layouts", "occurred_at: { from: X, format: [DD/MM/YYYY, MM/DD/YYYY] }", []cell{txt("03/04/2026")}, "date.two_readings", nil, "", false},
	{"two layouts that agree", "occurred_at: { from: X, format: [DD/MM/YYYY, MM/DD/YYYY] }", []cell{txt("04/04/2026")}, "", &importers.Value{Set: true, Int: 1775260800_000000, Raw: "04/04/2026", Precision: "day"}, "", false},
	{"gap", "occurred_at: X", []cell{txt("2026-03-29 02:30")}, "date.dst_gap", nil, "Europe/Berlin", false},
	{"fold", "occurred_at: X", []cell{txt("2026-10-25 02:30")}, "date.dst_fold", nil, "Europe/Berlin", false},
	{"fold with offset", "occurred_at: X", []cell{txt("2026-10-25 02:30+01:00")}, "", &importers.Value{Set: true, Int: 1792891800_000000, Raw: "2026-10-25 02:30+01:00", Zone: "+01:00", Precision: "minute"}, "Europe/Berlin", false},
	{"day field with a time", "occurred_at: { from: X, type: date }", []cell{txt("2026-03-01 10:15")}, "date.time_dropped", &importers.Value{Set: true, Int: 1772323200_000000, Raw: "2026-03-01 10:15", Precision: "day"}, "", false},
	{"padded date", "occurred_at: X", []cell{txt(" 2026-03-01 ")}, "", &importers.Value{Set: true, Int: 1772323200_000000, Raw: " 2026-03-01 ", Precision: "day"}, "", false},
	{"date and time texts", "occurred_at: { from: [X, Z] }", []cell{txt("2026-03-01"), txt("10:15")}, "", &importers.Value{Set: true, Int: 1772360100_000000, Raw: "2026-03-01 10:15", Precision: "minute"}, "", false},
	{"date and no time", "occurred_at: { from: [X, Z] }", []cell{txt("2026-03-01"), txt("")}, "", &importers.Value{Set: true, Int: 1772323200_000000, Raw: "2026-03-01", Precision: "day"}, "", false},
	{"date and time cells", "occurred_at: { from: [X, Z] }", []cell{classed("46082", source.Date), classed("0.42708333333333331", source.Time)}, "", &importers.Value{Set: true, Int: 1772360100_000000, Raw: "46082 0.42708333333333331", Precision: "minute"}, "", false},
	{"date text and time cell", "occurred_at: { from: [X, Z], format: DD.MM.YYYY }", []cell{txt("01.03.2026"), classed("0", source.Time)}, "", &importers.Value{Set: true, Int: 1772323200_000000, Raw: "01.03.2026 0", Precision: "minute"}, "", false},
	{"date cell and time text", "occurred_at: { from: [X, Z] }", []cell{classed("46082", source.Date), txt("10:15:30")}, "", &importers.Value{Set: true, Int: 1772360130_000000, Raw: "46082 10:15:30", Precision: "second"}, "", false},
	{"no date and a time cell", "occurred_at: { from: [X, Z] }", []cell{txt(""), classed("0.5", source.Time)}, "date.time_only", nil, "", false},
	{"no date and a time text", "occurred_at: { from: [X, Z] }", []cell{txt(""), txt("10:15")}, "date.time_only", nil, "", false},
	{"null token for the date and a time cell", "occurred_at: { from: [X, Z], null_tokens: [n/a] }", []cell{txt("n/a"), classed("0.5", source.Time)}, "date.time_only", nil, "", false},
	{"date and a null token for the time", "occurred_at: { from: [X, Z], null_tokens: [n/a] }", []cell{classed("46082", source.Date), txt("n/a")}, "", &importers.Value{Set: true, Int: 1772323200_000000, Raw: "46082", Precision: "day"}, "", false},
	{"date and no number for the time", "occurred_at: { from: [X, Z] }", []cell{classed("46082", source.Date), classed("NaN", source.Time)}, "date.invalid", nil, "", false},
	{"datetime cell and time", "occurred_at: { from: [X, Z] }", []cell{classed("46082.5", source.DateTime), classed("0.5", source.Time)}, "date.format", nil, "", false},
	{"date cell and a day for the time", "occurred_at: { from: [X, Z] }", []cell{classed("46082", source.Date), classed("1.5", source.Duration)}, "date.invalid", nil, "", false},
	{"date in a text field", "note: { from: X, type: date, format: DD.MM.YYYY }", []cell{txt("01.03.2026")}, "", &importers.Value{Set: true, Text: "2026-03-01", Raw: "01.03.2026"}, "", false},
}

func classedText(s string, class source.Class) cell {
	return cell{kind: source.Text, class: class, text: s}
}

func TestValues(t *testing.T) {
	for _, tc := range valueCases {
		t.Run(tc.name, func(t *testing.T) {
			name, _, _ := strings.Cut(tc.field, ":")
			mapping := withField(tc.field)
			if name == "email" {
				mapping = one("consent", "external_id", "external_id: Mail", tc.field, "status: { from: S, enum: { given: [Y] } }")
			}
			row := append([]cell{txt("a@example.com"), txt("Y")}, tc.cells...)
			r := run(t, mapping, append(sheet("Mail | S | X | Z"), row), runOptions{env: Env{Zone: tc.zone, Date1904: tc.d1904}})
			if r.err != nil {
				t.Fatal(r.err)
			}
			var rules []string
			if tc.rule != "" {
				rules = []string{tc.rule}
			}
			if got := r.rules(2); !reflect.DeepEqual(got, rules) {
				t.Fatalf("findings %v, want %v", got, rules)
			}
			got := r.row(t, 2)
			if (got.Verdict == Accepted) != (tc.want != nil) {
				t.Fatalf("%s by %s", got.Verdict, got.Rule)
			}
			if tc.want != nil {
				if v := *got.Records[0].Get(name); v != *tc.want {
					t.Errorf("got  %+v\nwant %+v", v, *tc.want)
				}
			}
			for _, f := range r.findings {
				if f.Field != "consent."+name || f.Row != 2 || f.Column < "C" || f.Column > "D" || f.Cell != f.Column+"2" {
					t.Errorf("place %+v", f)
				}
				checkNoValue(t, f, tc.cells)
			}
		})
	}
}

// checkNoValue holds a finding to the promise that it shows no value, except words of closed lists.
func checkNoValue(t *testing.T, f finding.Finding, cells []cell) {
	t.Helper()
	if f.Rule == "enum.unmapped" {
		return
	}
	for _, c := range cells {
		if len(c.text) > 3 && strings.Contains(f.Message+f.Remedy, c.text) {
			t.Errorf("the finding %s shows the value: %s", f.Rule, f.Message)
		}
	}
}

func TestTooLongSaysBothLengths(t *testing.T) {
	r := run(t, withField("note: X"), append(sheet("Mail | S | X"), []cell{txt("a@example.com"), txt("Y"), txt(strings.Repeat("ü", 4321))}), runOptions{})
	if m := r.findings[0].Message; !strings.Contains(m, "4321") || !strings.Contains(m, "4000") {
		t.Errorf("message %q", m)
	}
}

// A word that only looks like a known one is rejected all the same, and the finding says why it isn't known.
func TestWordThatLooksKnown(t *testing.T) {
	for word, looks := range map[string]bool{"\u0415mail": true, "e\u200bmail": true, "ｅｍａｉｌ": true, "emai1": false, "mail": false, "\u00a0email\u00ad": true} {
		r := run(t, withField("channel: X"), append(sheet("Mail | S | X"), []cell{txt("a@example.com"), txt("Y"), txt(word)}), runOptions{})
		if got := r.row(t, 2); got.Verdict != Rejected || got.Rule != "enum.unmapped" {
			t.Errorf("%q: %s by %s", word, got.Verdict, got.Rule)
		}
		said := slices.ContainsFunc(r.findings, func(f finding.Finding) bool { return strings.Contains(f.Message, "looks like one of the known") })
		if said != looks {
			t.Errorf("%q: looks known: %v, want %v", word, said, looks)
		}
	}
}

// rowCase is a sheet and the rules found in its last row and its columns.
type rowCase struct {
	name     string
	mapping  string
	rows     [][]cell
	textFile bool
	verdict  Verdict
	rule     string
	rules    []string // of the last row
	columns  []string // column rules
}

const polar = "status: { from: S, enum: { yes: [Y], no: [N], withdrawn: [gone] }, polarity: "

var rowCases = []rowCase{
	{"declared skip by expression", "skip: [{ column: Mail, matches: \"^test\", reason: r }]\n" + withField(), sheet("Mail | S", "test@example.com | Y"), false, Skipped, "row.declared_skip", []string{"row.declared_skip"}, nil},
	{"declared skip of blanks", "skip: [{ column: Mail, blank: true, reason: r }]\n" + withField(), sheet("Mail | S", " | Y"), false, Skipped, "row.declared_skip", []string{"row.declared_skip"}, nil},
	{"no record", strings.Replace(withField(), "    fields:", "    when: { column: S, in: [Y, N] }\n    fields:", 1), sheet("Mail | S", "a@example.com | maybe"), false, Skipped, "row.no_record", []string{"row.no_record"}, nil},
	{"when holds", strings.Replace(withField(), "    fields:", "    when: { column: S, in: [y, N] }\n    fields:", 1), sheet("Mail | S", "a@example.com | Y"), false, Accepted, "", nil, nil},
	{"blank status", withField(), sheet("Mail | S", "a@example.com | "), false, Skipped, "consent.no_answer", []string{"consent.no_answer"}, nil},
	{"blank status hides no other fault", withField("phone: X"), sheet("Mail | S | X", "bad | | bad"), false, Skipped, "consent.no_answer", []string{"consent.no_answer"}, nil},
	{"no to an opt-out is no consent", one("consent", "email", "email: Mail", polar+"inverted }"), sheet("Mail | S", "a@example.com | n"), false, Skipped, "consent.no_answer", []string{"consent.no_answer"}, nil},
	{"other lawful basis", withField("lawful_basis: X"), sheet("Mail | S | X", "a@example.com | Y | legitimate_interest"), false, Skipped, "consent.not_consent", []string{"consent.not_consent"}, nil},
	{"consent as lawful basis", withField("lawful_basis: X"), sheet("Mail | S | X", "a@example.com | Y | consent"), false, Accepted, "", nil, nil},
	{"header again", withField(), sheet("Mail | S", "a@example.com | Y", "MAIL | s"), false, Rejected, "row.repeated_header", []string{"row.repeated_header"}, nil},
	{"ragged", withField(), sheet("Mail | S", "a@example.com | Y | x"), true, Rejected, "row.ragged", []string{"row.ragged"}, []string{"column.unmapped"}},
	{"ragged but blank", withField(), sheet("Mail | S", "a@example.com | Y | "), true, Accepted, "", nil, nil},
	{"short", withField("note: X"), sheet("Mail | S | X", "a@example.com | Y"), true, Accepted, "", []string{"row.short"}, nil},
	{"required", one("purpose", "purpose_id", "purpose_id: P", "name: N"), sheet("P | N", "p1 | "), false, Rejected, "field.required", []string{"field.required"}, nil},
	{"key incomplete", withField(), sheet("Mail | S", " | Y"), false, Rejected, "key.incomplete", []string{"key.incomplete"}, nil},
	{"bool", caseOf("identity_verified: V"), sheet("I | T | S | R | V", "1 | access | open | 2026-03-01 | maybe"), false, Rejected, "bool.invalid", []string{"bool.invalid"}, []string{"date.no_zone", "enum.gaps"}},
	{"bool words", caseOf("identity_verified: { from: V, enum: { yes: [x], no: [o] } }"), sheet("I | T | S | R | V", "1 | access | open | 2026-03-01 | true"), false, Rejected, "enum.unmapped", []string{"enum.unmapped"}, []string{"date.no_zone", "enum.gaps"}},
	{"integer", retention(), sheet("R | M", "r1 | 12.5"), false, Rejected, "integer.invalid", []string{"integer.invalid"}, nil},
	{"several words that differ", one("consent", "email", "email: Mail", `status: { from: S, split: ";", enum: { given: [In], withdrawn: [Out] } }`), sheet("Mail | S", "a@example.com | In; Out"), false, Rejected, "enum.several", []string{"enum.several"}, nil},
	{"drafted and not confirmed", withField("note: { from: X, confirm: true }"), sheet("Mail | S | X", "a@example.com | Y | hello"), false, Accepted, "", nil, []string{"mapping.unconfirmed"}},
	{"several faults", withField("phone: X"), sheet("Mail | S | X", "bad | maybe | bad"), false, Rejected, "email.invalid", []string{"email.invalid", "phone.invalid", "enum.unmapped"}, []string{"enum.gaps"}},
	{"ambiguous dates", withField("occurred_at: { from: X, zone: UTC }"), sheet("Mail | S | X", "a@example.com | Y | 03/04/2026"), false, Rejected, "date.ambiguous", nil, []string{"date.ambiguous"}},
	{"day first is proven", withField("occurred_at: { from: X, zone: UTC }"), sheet("Mail | S | X", "b@example.com | Y | 13/04/2026", "a@example.com | Y | 03/04/2026"), false, Accepted, "", nil, nil},
	{"same either way", withField("occurred_at: { from: X, zone: UTC }"), sheet("Mail | S | X", "a@example.com | Y | 03/03/2026"), false, Accepted, "", nil, nil},
	{"a skipped row proves nothing", "skip: [{ column: S, equals: T, reason: r }]\n" + withField("occurred_at: { from: X, zone: UTC }"), sheet("Mail | S | X", "b@example.com | T | 13/04/2026", "a@example.com | Y | 03/04/2026"), false, Rejected, "date.ambiguous", nil, []string{"date.ambiguous"}},
	{"mixed order", withField("occurred_at: { from: X, zone: UTC }"), sheet("Mail | S | X", "a@example.com | Y | 13/04/2026", "b@example.com | Y | 04/13/2026"), false, Rejected, "date.mixed_order", nil, []string{"date.mixed_order"}},
	{"real dates and texts", withField("occurred_at: { from: X, zone: UTC }"), append(append(sheet("Mail | S | X"), []cell{txt("b@example.com"), txt("Y"), classed("45292", source.Date)}), sheet("a@example.com | Y | 13/04/2026")...), false, Accepted, "", nil, []string{"date.mixed_cells"}},
	{"no zone", withField("occurred_at: X"), sheet("Mail | S | X", "a@example.com | Y | 2026-03-01 10:15"), false, Accepted, "", nil, []string{"date.no_zone"}},
	{"offsets need no zone", withField("occurred_at: X"), sheet("Mail | S | X", "a@example.com | Y | 2026-03-01T10:15Z"), false, Accepted, "", nil, nil},
	{"polarity", one("consent", "email", "email: Mail", strings.Replace(polar, "from: S", "from: Do Not E-mail", 1)+"normal }"), sheet("Mail | Do not e-mail", "a@example.com | Y"), false, Accepted, "", nil, []string{"consent.polarity"}},
	{"polarity by a negation", one("consent", "email", "email: Mail", strings.Replace(polar, "from: S", "from: Never contact", 1)+"normal }"), sheet("Mail | Never contact", "a@example.com | Y"), false, Accepted, "", nil, []string{"consent.polarity"}},
	{"polarity by a list", one("consent", "email", "email: Mail", strings.Replace(polar, "from: S", "from: Schwarze Liste", 1)+"normal }"), sheet("Mail | Schwarze Liste", "a@example.com | Y"), false, Accepted, "", nil, []string{"consent.polarity"}},
	{"polarity by a stop", one("consent", "email", "email: Mail", strings.Replace(polar, "from: S", "from: Stop SMS", 1)+"normal }"), sheet("Mail | Stop SMS", "a@example.com | Y"), false, Accepted, "", nil, []string{"consent.polarity"}},
	{"polarity by what is prohibited", one("consent", "email", "email: Mail", strings.Replace(polar, "from: S", "from: Pubblicità vietata", 1)+"normal }"), sheet("Mail | Pubblicità vietata", "a@example.com | Y"), false, Accepted, "", nil, []string{"consent.polarity"}},
	{"polarity of a worker", one("consent", "email", "email: Mail", strings.Replace(polar, "from: S", "from: Newsletter trabajador", 1)+"normal }"), sheet("Mail | Newsletter trabajador", "a@example.com | Y"), false, Accepted, "", nil, nil},
	{"polarity of an answer's words", one("consent", "email", "email: Mail", strings.Replace(polar, "from: S", "from: Newsletter (ja/nein)", 1)+"normal }"), sheet("Mail | Newsletter (ja/nein)", "a@example.com | Y"), false, Accepted, "", nil, nil},
	{"polarity in German", one("consent", "email", "email: Mail", strings.Replace(polar, "from: S", "from: Werbesperre", 1)+"normal }"), sheet("Mail | Werbesperre", "a@example.com | Y"), false, Accepted, "", nil, []string{"consent.polarity"}},
	{"a null token that says no", one("consent", "email", "email: Mail", `status: { from: S, enum: { given: [Y] }, null_tokens: ["n/a", "-", "Opt-Out"] }`), sheet("Mail | S", "a@example.com | opt-out"), false, Skipped, "consent.no_answer", []string{"consent.no_answer"}, []string{"consent.refusal_is_null"}},
	{"a skip of a word that says no", "skip: [{ column: S, equals: Opt-Out, reason: r }]\n" + withField(), sheet("Mail | S", "a@example.com | opt-out"), false, Skipped, "row.declared_skip", []string{"row.declared_skip"}, []string{"consent.refusal_left_out"}},
	{"a null token that says nothing", one("consent", "email", "email: Mail", `status: { from: S, enum: { given: [Y] }, null_tokens: ["n/a", "-", "pending"] }`), sheet("Mail | S", "a@example.com | Y"), false, Accepted, "", nil, nil},
	{"inverted polarity", one("consent", "email", "email: Mail", strings.Replace(polar, "from: S", "from: Do Not E-mail", 1)+"inverted }"), sheet("Mail | Do not e-mail", "a@example.com | Y"), false, Accepted, "", nil, nil},
	{"keys that differ in case", withField(), sheet("Mail | S", "a@example.com | Y", "A@example.com | Y"), false, Accepted, "", nil, []string{"key.case_only"}},
	{"unmapped column", withField(), sheet("Mail | S | Sort", "a@example.com | Y | 7"), false, Accepted, "", nil, []string{"column.unmapped"}},
	{"noes that the mapping does not use", withField(), sheet("Mail | S | Abo", "a@example.com | Y | N", "b@example.com | Y | ja"), false, Accepted, "", nil, []string{"column.unmapped", "consent.refusal_left_out"}},
	{"words of waiting that the mapping does not use", one("consent", "email", "email: Mail", stated), sheet("Mail | State", "a@example.com | pending", "b@example.com | active"), false, Accepted, "", nil, []string{"column.unmapped", "consent.waiting_left_out"}},
	{"remarks of leaving", withField(), sheet("Mail | S | Notes", "a@example.com | Y | moved away, please delete"), false, Accepted, "", nil, []string{"column.unmapped", "consent.remark_left_out"}},
	{"yeses that the mapping does not use", withField(), sheet("Mail | S | Abo", "a@example.com | Y | Y"), false, Accepted, "", nil, []string{"column.unmapped"}},
	{"other words than yes and no", withField(), sheet("Mail | S | Abo", "a@example.com | Y | N", "b@example.com | Y | blue"), false, Accepted, "", nil, []string{"column.unmapped"}},
	{"noes that answer an ordinary question", withField(), sheet("Mail | S | VIP (yes/no)", "a@example.com | Y | no"), false, Accepted, "", nil, []string{"column.unmapped"}},
	{"noes that ask for nothing but an opt-out", withField(), sheet("Mail | S | HasOptedOutOfFax", "a@example.com | Y | no"), false, Accepted, "", nil, []string{"column.unmapped"}},
	{"noes to a confirmation of something else", withField(), sheet("Mail | S | IBAN verifiziert", "a@example.com | Y | no"), false, Accepted, "", nil, []string{"column.unmapped"}},
	{"rows above", "header: { row: 3 }\n" + withField(), sheet("Title", "", "Mail | S", "a@example.com | Y"), false, Accepted, "", nil, []string{"header.rows_above"}},
}

func caseOf(field string) string {
	return one("case", "external_id", "external_id: I", "request_type: T", "status: S", "received_at: R", field)
}

func retention() string {
	return one("retention_rule", "rule_id", "rule_id: R", "entity: { const: consent }", "months: M", "starts: { const: withdrawn }")
}

func TestRows(t *testing.T) {
	for _, tc := range rowCases {
		t.Run(tc.name, func(t *testing.T) {
			r := run(t, tc.mapping, tc.rows, runOptions{textFile: tc.textFile})
			if r.err != nil {
				t.Fatal(r.err)
			}
			last := r.rows[len(r.rows)-1]
			if last.Verdict != tc.verdict || last.Rule != tc.rule {
				t.Errorf("%s by %q, want %s by %q", last.Verdict, last.Rule, tc.verdict, tc.rule)
			}
			if got := r.rules(last.Num); !reflect.DeepEqual(got, tc.rules) {
				t.Errorf("row findings %v, want %v", got, tc.rules)
			}
			if got := r.columnRules(); !reflect.DeepEqual(got, tc.columns) {
				t.Errorf("column findings %v, want %v", got, tc.columns)
			}
			if (len(last.Records) > 0) != (last.Verdict == Accepted) {
				t.Errorf("%s with %d records", last.Verdict, len(last.Records))
			}
			if tc.textFile && last.Line != last.Num {
				t.Errorf("line %d", last.Line)
			}
		})
	}
}

// Every rule that mappings declares is raised by some case above.
func TestEveryRuleHasACase(t *testing.T) {
	file, err := os.ReadFile("../pipeline/finding/rules_mapping.go")
	if err != nil {
		t.Fatal(err)
	}
	var raised []string
	for _, c := range valueCases {
		raised = append(raised, c.rule)
	}
	for _, c := range rowCases {
		raised = append(append(raised, c.rules...), c.columns...)
	}
	declared := regexp.MustCompile(`\{(?:ID: )?"([a-z]+\.[a-z_]+)"`).FindAllSubmatch(file, -1)
	if len(declared) < 40 {
		t.Fatalf("%d rules found in the file", len(declared))
	}
	for _, m := range declared {
		if !slices.Contains(raised, string(m[1])) {
			t.Errorf("no case raises %s", m[1])
		}
	}
}

// The reference lists the rules, each where it belongs.
func TestReferenceListsTheRules(t *testing.T) {
	doc, err := os.ReadFile("../docs/mapping.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "\n## Findings")
	file, err := os.ReadFile("../pipeline/finding/rules_mapping.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\{(?:ID: )?"([a-z]+\.[a-z_]+)"`).FindAllSubmatch(file, -1) {
		rule, _ := finding.ByID(string(m[1]))
		for line := range strings.Lines(table) {
			cells := strings.Split(line, "|")
			for i, severity := range []finding.Severity{finding.Error, finding.Warning, finding.Info} {
				if len(cells) > i+2 && slices.Contains(strings.Fields(cells[i+2]), rule.ID) {
					if rule.Severity != severity || (rule.Scope == finding.Column) != strings.HasPrefix(cells[1], " the column") {
						t.Errorf("%s stands in the wrong place", rule.ID)
					}
					rule.ID = ""
				}
			}
		}
		if rule.ID != "" {
			t.Errorf("docs/mapping.md does not list %s", rule.ID)
		}
	}
}

// The example of the reference is a mapping.
func TestReferenceExample(t *testing.T) {
	doc, err := os.ReadFile("../docs/mapping.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	if _, err := Parse("docs/mapping.md", []byte(example)); err != nil {
		t.Error(err)
	}
}

func TestIntegers(t *testing.T) {
	for _, tc := range []struct {
		cell cell
		want int64
		rule string
	}{
		{txt(" 24 "), 24, ""},
		{txt("-3"), -3, ""},
		{num("24"), 24, ""},
		{num("24.0"), 24, ""},
		{num("2.4E+1"), 24, ""},
		{num("24.5"), 0, "integer.invalid"},
		{num("1E+15"), 0, "integer.invalid"},
		{txt("24,0"), 0, "integer.invalid"},
		{txt("1.000"), 0, "integer.invalid"},
		{txt("1234567890123456"), 0, "integer.invalid"},
		{txt("-"), 0, "integer.invalid"},
		{boolean("TRUE"), 0, "value.kind"},
		{classed("45292", source.Date), 0, "value.kind"},
	} {
		r := run(t, retention(), append(sheet("R | M"), []cell{txt("r1"), tc.cell}), runOptions{})
		got := r.row(t, 2)
		if got.Rule != tc.rule || tc.rule == "" && got.Records[0].Get("months").Int != tc.want {
			t.Errorf("%q: %s by %q, want %d, %q", tc.cell.text, got.Verdict, got.Rule, tc.want, tc.rule)
		}
	}
}
