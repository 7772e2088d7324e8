package main

// The newsletter list: an address, a Y, sometimes a date. Purpose, channel and notice stand nowhere in it; the mapping states
// them for the whole file, which makes no row a receipt.

func (d *data) newsletter() *sheet {
	type entry struct {
		n        int
		says     string
		since    any
		proof    string
		rule     string
		skipped  bool
		findings []string
	}
	var list []entry
	for i := range 22 { // people whom nothing else in the batch knows
		e := entry{n: 204 + i, says: []string{"Y", "Y", "yes", "ja"}[i%4], proof: []string{"Y", "", "website"}[i%3]}
		if i%4 != 3 {
			e.since = spell(i, day{2021, 1 + i%12, 1 + i})
		}
		list = append(list, e)
	}
	list = append(list,
		// Suppressed but given.
		entry{n: 201, says: "Y", since: day{2021, 5, 1}, findings: []string{"suppression.overrules"}},
		entry{n: 202, says: "Y", since: day{2021, 5, 2}, proof: "Y", findings: []string{"suppression.overrules"}},
		entry{n: 203, says: "ja", since: day{2021, 5, 3}, findings: []string{"suppression.overrules"}},
		// Withdrawn in the consent register.
		entry{n: 85, says: "Y", since: day{2021, 6, 9}, findings: []string{"consent.overruled"}},
		// Known to the register, with nothing against them.
		entry{n: 41, says: "Y", since: day{2021, 6, 10}},
		entry{n: 53, says: "Y", since: "11.06.2021"},
		entry{n: 64, says: "yes"},
		// A no is a refusal, "abgemeldet" a withdrawal.
		entry{n: 226, says: "N", since: day{2021, 7, 1}},
		entry{n: 227, says: "nein"},
		entry{n: 228, says: "abgemeldet", since: day{2025, 2, 11}},
		entry{n: 229, says: "abgemeldet"},
		// Nothing was answered.
		entry{n: 230, rule: "consent.no_answer", skipped: true},
		entry{n: 231, rule: "consent.no_answer", skipped: true},
		entry{n: 232, says: "n/a", rule: "consent.no_answer", skipped: true},
		entry{n: 233, says: "-", rule: "consent.no_answer", skipped: true},
		// Pasted twice.
		entry{n: 204, says: "Y", since: spell(0, day{2021, 1, 1}), proof: "Y", rule: "row.repeat", skipped: true},
		entry{n: 226, says: "N", since: day{2021, 7, 1}, rule: "row.repeat", skipped: true},
	)
	s := &sheet{name: "Newsletter 2021", header: 1, rows: [][]any{{"E-mail", "Newsletter", "Since", "Proof"}}, widths: map[string]float64{"A": 34}}
	t := d.source("newsletter")
	for i, e := range list {
		p := subject(e.n)
		d.private(p.email)
		s.rows = append(s.rows, []any{p.email, e.says, e.since, e.proof})
		switch {
		case e.skipped:
			d.skip(t, i+2, e.rule)
			continue
		default:
			d.accept(t, i+2, e.findings...)
		}
		missing := "purpose notice actor proof"
		if e.since == nil {
			missing += " time"
		}
		d.consent(missing)
	}
	return s
}
