package mappings

import (
	"fmt"
	"strings"
	"testing"

	"sheetlift/pipeline/finding"
)

// A column that the mapping does not use and that speaks against consents which its rows give is told, with its cells and without what they say.
func TestUnreadRefusals(t *testing.T) {
	given := record("consent", "", yesOnly)
	for _, tc := range []struct {
		name, mapping string
		rows          [][]cell
		want          string // "" for no warning
		rowsSaid      int
	}{
		{"an opt-out of days, answers and texts", given, sheet("Mail | S | Abgemeldet", "a@example.com | Y |", "b@example.com | Y | 13.05.2023", "c@example.com | Y | ja", "d@example.com | Y | nein", "e@example.com | Y | vermutlich", "f@example.com | Y | von anna berg"),
			`column "Abgemeldet" sounds like an opt-out, and 4 rows of it say something other than no (C3, C4, C6, C7).`, 4},
		{"an opt-out of yes and no", given, sheet("Mail | S | Do not mail", "a@example.com | Y | yes", "b@example.com | Y | no", "c@example.com | Y | -"), "1 row of it says something other than no (C2)", 1},
		{"an opt-out of noes alone", given, sheet("Mail | S | Do not mail", "a@example.com | Y | no", "b@example.com | Y | 0"), "", 0},
		{"links to unsubscribe", given, sheet("Mail | S | Unsubscribe URL", "a@example.com | Y | https://x.example/1", "b@example.com | Y | www.x.example/2"), "", 0},
		{"whoever opted out refuses anyway", record("consent", "", yesAndNo), sheet("Mail | S | Unsubscribed at", "a@example.com | N | 2024-01-02", "b@example.com | Y |"), "", 0},
		{"another record takes it", given + record("suppression", "{ column: T, not_blank: true }", byMail, blocked), sheet("Mail | S | T | Unsubscribed", "a@example.com | Y | 1 | yes", "b@example.com | Y | | "), "", 0},
		{"a record of another channel does not", record("consent", "", yesOnly, statedAs("channel", "sms")) + record("suppression", "{ column: T, not_blank: true }", byMail, blocked), sheet("Mail | S | T | Unsubscribed", "a@example.com | Y | 1 | yes", "b@example.com | Y | | "), "(D2)", 1},
		{"no record of the row is a consent", record("consent", "{ column: S, in: [Y] }", stated), sheet("Mail | S | Unsubscribed", "a@example.com | x | yes", "b@example.com | Y | "), "", 0},
		{"stated consents over states", record("consent", "", stated), sheet("Mail | Contact preferences", "a@example.com | None", "b@example.com | Do not contact", "c@example.com | Phone not email", "d@example.com | Email"), `column "Contact preferences" has, in 2 rows, a word that speaks against consent (B3, B4).`, 2},
		{"and over others", record("consent", "", stated), sheet("E-mail | Mail | Status", "x | a@example.com | Ingeschreven", "x | b@example.com | Uitgeschreven", "x | c@example.com | Wacht op bevestiging", "x | d@example.com | Geblokkeerd", "x | e@example.com | "), "(C3, C5)", 2},
		{"states of orders", record("consent", "", stated), sheet("Mail | Order", "a@example.com | cancelled", "b@example.com | shipped"), "", 0},
		{"remarks", given, sheet("Mail | S | Notes", "a@example.com | Y | pays in cash"), "", 0},
		{"rights", given, sheet("Mail | S | DSGVO", "a@example.com | Y | ok", "b@example.com | Y | Art. 21", "c@example.com | Y | gelöscht", "d@example.com | Y | Art. 6 Abs. 1 a", "e@example.com | Y | requested deletion"), `column "DSGVO" has, in 3 rows, a word that speaks against consent (C3, C4, C6).`, 3},
		{"what becomes of data", given, sheet("Mail | S | Löschfrist", "a@example.com | Y | Löschung", "b@example.com | Y | Archiv"), "", 0},
		{"more than are named", given, sheet("Mail | S | Unsubscribed", "a@x | Y | yes", "b@x | Y | yes", "c@x | Y | yes", "d@x | Y | yes", "e@x | Y | yes", "f@x | Y | yes", "g@x | Y | yes"), "(C2, C3, C4, C5, C6, and 2 more)", 7},
		{"a list of cases", "  - entity: case\n    key: [external_id]\n    fields: { external_id: Mail, request_type: { const: objection }, status: { const: open }, received_at: { from: R, zone: UTC } }\n", sheet("Mail | R | Unsubscribed", "a@example.com | 2026-03-01 | yes"), "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, size := range []int{1, 4096} {
				r := run(t, strings.Replace(mappingOf("[]", tc.mapping), "skip: []\n", "\n", 1), tc.rows, runOptions{size: size})
				if r.err != nil {
					t.Fatal(r.err)
				}
				got := leftOutOf(r)
				if len(got) != min(len(tc.want), 1) {
					t.Fatalf("%d findings, want %q: %+v", len(got), tc.want, got)
				}
				for _, f := range got {
					if text := fmt.Sprint(f); !strings.Contains(f.Message, tc.want) || f.Rows != tc.rowsSaid || f.Row == 0 || strings.Contains(text, "anna") {
						t.Errorf("%+v", f)
					}
				}
			}
		})
	}
}

// A column that the mapping does not use and by which nobody confirmed consents that are stated for all rows is told: by words of waiting, or by blanks among
// confirmations. Of a status that the row gives, the words under a header of confirmations are told too.
func TestUnreadWaiting(t *testing.T) {
	all, given := record("consent", "", stated), record("consent", "", yesOnly)
	for _, tc := range []struct {
		name, mapping string
		rows          [][]cell
		want          string // "" for no warning
		rowsSaid      int
	}{
		{"in Dutch", all, sheet("E-mail | Mail | Status", "x | a@example.com | Ingeschreven", "x | b@example.com | Wacht op bevestiging", "x | c@example.com | wacht op bevestiging", "x | d@example.com | "),
			`column "Status" has, in 2 rows, a word that says that nobody confirmed yet (C3, C4). The mapping does not use the column, and takes consents from these rows: they come in as given.`, 2},
		{"in English", all, sheet("Mail | State", "a@example.com | pending", "b@example.com | Unconfirmed", "c@example.com | active"), "in 2 rows, a word that says that nobody confirmed yet (B2, B3)", 2},
		{"in German", all, sheet("Mail | Stand", "a@example.com | ausstehend", "b@example.com | aktiv"), "in 1 row, a word that says that nobody confirmed yet (B2)", 1},
		{"in French", all, sheet("Mail | État", "a@example.com | en attente", "b@example.com | actif"), "(B2)", 1},
		{"blank confirmations", all, sheet("Mail | Double opt-in", "a@example.com | 2024-03-14", "b@example.com |", "c@example.com |"), `column "Double opt-in" asks whether an answer was confirmed, and is blank in 2 rows (B3, B4).`, 2},
		{"blank confirmations at the end", all, sheet("Mail | Bestätigt am", "a@example.com | 14.03.2024", "b@example.com", "c@example.com"), "is blank in 2 rows (B3, B4)", 2},
		{"no confirmation at all", all, sheet("Mail | Double opt-in | T", "a@example.com | | x", "b@example.com | | y"), "", 0},
		{"another column confirms, and is used", record("consent", "{ column: DOI, not_blank: true }", stated), sheet("Mail | DOI | Confirm IP", "a@example.com | x | 192.0.2.1", "b@example.com | x |"), "", 0},
		{"the column is used", record("consent", "{ column: State, in: [active] }", stated), sheet("Mail | State", "a@example.com | pending", "b@example.com | active"), "", 0},
		{"orders that wait", all, sheet("Mail | Order status | Zahlung", "a@example.com | pending | offen", "b@example.com | done | bezahlt"), "", 0},
		{"the row says so itself", given, sheet("Mail | S | State", "a@example.com | Y | pending", "b@example.com | Y | active"), "", 0},
		{"the row says so itself, and nobody confirmed", given, sheet("Mail | S | Double opt-in", "a@example.com | Y | pending", "b@example.com | Y | yes"), "(C2)", 1},
		{"whoever waits gives no consent", given, sheet("Mail | S | Double opt-in", "a@example.com | N | pending", "b@example.com | Y | yes"), "", 0},
		{"all refused", record("consent", "", "status: { const: refused, stated_by: { name: A, at: 2026-01-01 } }"), sheet("Mail | State", "a@example.com | pending", "b@example.com | active"), "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, size := range []int{1, 4096} {
				for _, f := range warned(t, "consent.waiting_left_out", tc.mapping, tc.rows, size, tc.want) {
					if !strings.Contains(f.Message, tc.want) || f.Rows != tc.rowsSaid || f.Row == 0 {
						t.Errorf("%+v", f)
					}
				}
			}
		})
	}
}

// Remarks by which somebody may have left are told beside consents that their rows give, whether the mapping keeps them as notes or not, and without what
// they say.
func TestUnreadRemarks(t *testing.T) {
	given := record("consent", "", yesOnly)
	noted := record("consent", "", yesOnly, "note: Notes")
	for _, tc := range []struct {
		name, mapping string
		rows          [][]cell
		want          string // "" for no warning
		rowsSaid      int
	}{
		{"in English", given, sheet("Mail | S | Notes", "a@example.com | Y | moved away, please delete", "b@example.com | Y | pays in cash", "c@example.com | Y | anna berg wants no mail", "d@example.com | Y |"),
			`column "Notes" holds remarks, and in 2 rows they may say that somebody wants no more or left (C2, C4). No answer is read from it, and the mapping takes consents from these rows: they come in as given.`, 2},
		{"kept as notes", noted, sheet("Mail | S | Notes", "a@example.com | Y | moved away, please delete"), "and in 1 row one may say that somebody wants no more or left (C2).", 1},
		{"words kept as notes", noted, sheet("Mail | S | Notes", "a@example.com | Y | Widerruf", "b@example.com | Y | nett", "c@example.com | Y | unsubscribed", "d@example.com | Y | STOP", "e@example.com | Y | gelöscht am 3.5.2024", "f@example.com | Y | nicht mehr anschreiben"),
			"and in 5 rows they may say that somebody wants no more or left (C2, C4, C5, C6, C7)", 5},
		{"words that are not kept", given, sheet("Mail | S | Notes", "a@example.com | Y | unsubscribed", "b@example.com | Y | raus"), "in 1 row one may say that somebody wants no more or left (C3)", 1},
		{"many words that are not kept", given, manyRemarks("unsubscribed"), "in 2 rows they may say that somebody wants no more or left (C2, C52)", 2},
		{"codes", noted, sheet("Mail | S | Notes", "a@example.com | Y | K-10042", "b@example.com | Y | DNC1", "c@example.com | Y | Widerruf-2023"), "in 1 row one may say that somebody wants no more or left (C4)", 1},
		{"reasons", given, sheet("Mail | S | Motivo", "a@example.com | Y | asked to be removed from the list"), "(C2)", 1},
		{"feedback", given, sheet("Mail | S | Customer feedback", "a@example.com | Y | please remove me"), "(C2)", 1},
		{"a name of a firm", given, sheet("Mail | S | Raison sociale", "a@example.com | Y | Stop"), "", 0},
		{"in German", given, sheet("Mail | S | Bemerkungen", "a@example.com | Y | bitte löschen", "b@example.com | Y | zahlt bar"), "(C2)", 1},
		{"in French", record("consent", "", stated), sheet("Mail | Remarques", "a@example.com | ne souhaite plus recevoir"), "(B2)", 1},
		{"whoever refuses anyway", record("consent", "", yesAndNo), sheet("Mail | S | Notes", "a@example.com | N | please delete", "b@example.com | Y | pays in cash"), "", 0},
		{"another record takes it", given + record("suppression", "{ column: Notes, matches: delete }", byMail, blocked), sheet("Mail | S | Notes", "a@example.com | Y | please delete"), "", 0},
		{"no remarks by its header", given, sheet("Mail | S | Street", "a@example.com | Y | please delete"), "", 0},
		{"a list of cases", "  - entity: case\n    key: [external_id]\n    fields: { external_id: Mail, request_type: { const: objection }, status: { const: open }, received_at: { from: R, zone: UTC } }\n", sheet("Mail | R | Notes", "a@example.com | 2026-03-01 | please delete"), "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, size := range []int{1, 4096} {
				for _, f := range warned(t, "consent.remark_left_out", tc.mapping, tc.rows, size, tc.want) {
					if text := fmt.Sprint(f); !strings.Contains(f.Message, tc.want) || f.Rows != tc.rowsSaid || f.Row == 0 || strings.Contains(text, "anna") || strings.Contains(text, "löschen") {
						t.Errorf("%+v", f)
					}
				}
			}
		})
	}
}

// manyRemarks is a list of remarks that differ, but for the first and the last.
func manyRemarks(ends string) [][]cell {
	rows := sheet("Mail | S | Notes", "x@example.com | Y | "+ends)
	for i := range 49 {
		rows = append(rows, sheet(fmt.Sprintf("a%d@example.com | Y | pays %d", i, i))...)
	}
	return append(rows, sheet("y@example.com | Y | "+ends)...)
}

// Neither is a list without a header passed over.
func TestUnreadRefusalsWithoutAHeader(t *testing.T) {
	const m = "version: 1\nmapping: m\nheader: { none: true }\nrecords:\n  - entity: consent\n    key: [email]\n    fields:\n      email: { from: { letter: A } }\n      " + stated + "\n"
	for _, size := range []int{1, 4096} {
		r := run(t, m, sheet("a@example.com", "b@example.com | unsubscribed", "c@example.com | active"), runOptions{size: size})
		if got := leftOutOf(r); r.err != nil || len(got) != 1 || got[0].Rows != 1 || !strings.Contains(got[0].Message, "column B has, in 1 row") {
			t.Fatalf("%v: %+v", r.err, got)
		}
	}
}

// A column of many values holds no states: names among them may look like words of refusals.
func TestManyValuesAreNoStates(t *testing.T) {
	rows := sheet("Mail | Name")
	for i := range 50 {
		rows = append(rows, []cell{txt(fmt.Sprintf("a%d@example.com", i)), txt(fmt.Sprintf("Block %c%c", 'a'+i%26, 'a'+i/26))})
	}
	for _, size := range []int{1, 7, 4096} {
		if r := run(t, strings.Replace(mappingOf("[]", record("consent", "", stated)), "skip: []\n", "\n", 1), rows, runOptions{size: size}); r.err != nil || len(leftOutOf(r)) > 0 {
			t.Fatalf("%v: %+v", r.err, leftOutOf(r))
		}
	}
}

// A profile that takes what remarks say from the one before is the same as that.
func TestTakeRemarks(t *testing.T) {
	m, err := Parse("m.yaml", []byte(strings.Replace(mappingOf("[]", record("consent", "", yesOnly)), "skip: []\n", "\n", 1)))
	if err != nil {
		t.Fatal(err)
	}
	list := blocks(sheet("Mail | S | Notes", "a@example.com | Y | moved away, please delete", "b@example.com | Y | pays in cash"), 1, false)
	before := profileOf(t, m, list)
	if r := before.Columns[2].Remarks; r == nil || r.Rows != 1 {
		t.Fatalf("%+v", before.Columns)
	}
	again, err := NewProfiler(m, Env{})
	if err != nil {
		t.Fatal(err)
	}
	again.TakeRemarks(before)
	for _, b := range list {
		if err := again.Add(b); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := again.Done(); err != nil || got.Digest() != before.Digest() {
		t.Errorf("%+v, %v", got, err)
	}
}

// warned gives the finding of a rule about a column of the sheet, if want is one, and none otherwise.
func warned(t *testing.T, rule, records string, rows [][]cell, size int, want string) (got []finding.Finding) {
	t.Helper()
	r := run(t, strings.Replace(mappingOf("[]", records), "skip: []\n", "\n", 1), rows, runOptions{size: size})
	if r.err != nil {
		t.Fatal(r.err)
	}
	for _, f := range r.columns {
		if f.Rule == rule {
			got = append(got, f)
		}
	}
	if len(got) != min(len(want), 1) {
		t.Fatalf("%d findings, want %q: %+v", len(got), want, got)
	}
	return got
}
