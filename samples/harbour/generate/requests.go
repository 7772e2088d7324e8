package main

import (
	"fmt"
)

// The request tracker: a template with its sample rows still in it.

// dueFormula is a date cell whose value is a formula with its last result: the receipt (column F) and thirty days.
func dueFormula(row int, received day) raw {
	return raw{"day", "", fmt.Sprintf("<f>F%d+30</f><v>%d</v>", row, received.serial()+30)}
}

func (d *data) requests() []*sheet {
	type request struct {
		n                    int
		kind, status         string
		received             day
		extended, closed     any
		identity             string
		refusal, details     string
		byPhone, timed, text bool
	}
	list := []request{
		// Open: one overdue, one due in two days, one extended, four with time left.
		{n: 43, kind: "Access (Art. 15)", status: "In progress", received: day{2026, 8, 19}, identity: "Yes", details: "wants a copy of everything, by post"},
		{n: 47, kind: "Erasure (Art. 17)", status: "Open", received: day{2026, 9, 3}, identity: "No", details: "account and newsletter"},
		{n: 270, kind: "Auskunft", status: "In progress", received: day{2026, 8, 1}, extended: day{2026, 10, 31}, identity: "ja", details: "extended: three systems concerned"},
		{n: 271, kind: "Access (Art. 15)", status: "Open", received: day{2026, 9, 10}, identity: "nein", timed: true},
		{n: 272, kind: "Rectification (Art. 16)", status: "Open", received: day{2026, 9, 18}, identity: "Yes", byPhone: true, details: "surname after marriage"},
		{n: 273, kind: "Portability (Art. 20)", status: "In progress", received: day{2026, 9, 22}, identity: "Yes", text: true},
		{n: 274, kind: "Löschung", status: "Open", received: day{2026, 9, 28}, identity: "No"},
		// The one fulfilled erasure; the register still lists this subject.
		{n: 93, kind: "Erasure (Art. 17)", status: "Done", received: day{2026, 2, 16}, closed: day{2026, 3, 10}, identity: "Yes", details: "all marketing data erased"},
		// An objection counts against consent; a withdrawal that was taken back does not.
		{n: 92, kind: "Objection (Art. 21)", status: "Done", received: day{2026, 4, 7}, closed: moment{2026, 4, 9, 16, 40}, identity: "Yes", details: "no more profiling, please"},
		{n: 94, kind: "Withdrawal of consent", status: "Withdrawn by requester", received: day{2026, 5, 4}, closed: day{2026, 5, 6}, identity: "Yes"},
		{n: 275, kind: "Access (Art. 15)", status: "Withdrawn by requester", received: day{2025, 11, 24}, closed: day{2025, 12, 1}, identity: "No"},
		// Refused, with the reason.
		{n: 276, kind: "Erasure (Art. 17)", status: "Refused", received: day{2025, 6, 2}, closed: day{2025, 6, 20}, identity: "Yes", refusal: "invoices must be kept for ten years (section 147 AO)"},
		{n: 277, kind: "Access (Art. 15)", status: "Refused", received: day{2025, 9, 15}, closed: day{2025, 10, 2}, identity: "No", refusal: "identity was not confirmed within four weeks"},
		{n: 278, kind: "Other", status: "Refused", received: day{2026, 1, 12}, closed: day{2026, 1, 13}, identity: "No", refusal: "no data subject request, a complaint about a delivery"},
	}
	kinds := []string{"Access (Art. 15)", "Auskunft", "Rectification (Art. 16)", "Portability (Art. 20)", "Access (Art. 15)", "Restriction (Art. 18)"}
	for i := range 11 { // answered in time, history only
		r := request{n: 279 + i, kind: kinds[i%len(kinds)], status: []string{"Done", "Closed - fulfilled"}[i%2],
			received: day{2024 + i/6, 1 + i, 4 + i}, identity: []string{"Yes", "ja"}[i%2], timed: i%3 == 1, text: i%3 == 2, byPhone: i%5 == 4}
		r.closed = day{r.received.y, r.received.m, r.received.d + 12}
		list = append(list, r)
	}

	const header = 3
	s := &sheet{
		name: "Requests", header: header, grey: []int{4, 5},
		rows: [][]any{
			{"Data subject requests"},
			{},
			{"Case No", "Right", "Status", "Customer No", "Requester", "Received", "Due", "Extended to", "Identity checked", "E-mail", "Phone", "Came in by", "Closed", "Reason of refusal", "Handled by", "Details"},
		},
		widths: map[string]float64{"A": 14, "B": 24, "C": 22, "E": 22, "J": 32, "P": 44},
	}
	t := d.source("requests")
	for i, sampleRow := range [][]any{
		{"EXAMPLE-1", "Access (Art. 15)", "Open", "HB-00000", "Jane Sample", day{2026, 1, 1}, day{2026, 1, 31}, nil, "Yes", "jane.sample@example.com", nil, "E-mail", nil, nil, "Your name", "sample row of the template, to be deleted"},
		{"EXAMPLE-2", "Erasure (Art. 17)", "Done", "HB-00000", "John Sample", day{2026, 1, 2}, day{2026, 2, 1}, nil, "Yes", "john.sample@example.com", nil, "Post", day{2026, 1, 20}, nil, "Your name", "sample row of the template, to be deleted"},
	} {
		s.rows = append(s.rows, sampleRow)
		d.private(sampleRow[4].(string), sampleRow[9].(string), sampleRow[3].(string), sampleRow[15].(string))
		d.skip(t, header+1+i, "row.declared_skip")
	}
	for i, r := range list {
		row := header + 3 + i
		p := subject(r.n)
		received := any(r.received)
		switch {
		case r.timed:
			received = moment{r.received.y, r.received.m, r.received.d, 9, 5 * (r.n % 12)}
		case r.text:
			received = fmt.Sprintf("%02d.%02d.%d", r.received.d, r.received.m, r.received.y)
		}
		due := any(dueFormula(row, r.received))
		if r.text { // a formula can't add to a text
			due = fmt.Sprintf("%02d.%02d.%d", r.received.d, r.received.m%12+1, r.received.y+r.received.m/12)
		}
		email, phone, by := any(p.email), any(nil), "E-mail"
		if r.byPhone {
			email, phone, by = nil, p.phone(), "Telefon"
			d.private(p.phone(), "+49"+p.national, p.national)
		} else {
			d.private(p.email)
		}
		d.private(p.name(), p.customer, r.refusal, r.details)
		s.rows = append(s.rows, []any{
			fmt.Sprintf("DSR-%d-%03d", r.received.y, i+1), r.kind, r.status, p.customer, p.name(), received, due, r.extended, r.identity, email, phone, by,
			r.closed, r.refusal, []string{"Data protection office", "Customer service"}[i%2], r.details,
		})
		d.accept(t, row)
		d.record("case")
	}
	d.cases = caseTally{AsOf: "2026-10-01", Open: 7, Overdue: 1, DueSoon: 1}
	how := &sheet{name: "Instructions", rows: [][]any{
		{"How to use this tracker"},
		{"1. Delete the grey rows."},
		{"2. One row a request. The due date is worked out."},
		{"3. Ask the data protection office before you refuse."},
	}, widths: map[string]float64{"A": 60}}
	return []*sheet{how, s}
}
