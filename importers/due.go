package importers

import "time"

// RuleDue returns our own due date (YYYY-MM-DD) of a request received on that day: one month later, GDPR Art. 12(3). Months
// count as in Regulation (EEC, Euratom) 1182/71 Art. 3(2)(c): the last day bears the number of the day of receipt, or is the
// month's last day where that month has no such day (31 January gives 28 or 29 February). The extension of Art. 3(4) to the
// next working day is not applied: holidays differ by country, and the earlier day is the safe one.
// It is "" when received is not a day.
func RuleDue(received string) string { return addMonths(received, 1) }

// CaseDue returns the derived rule_due_at of a case record: open cases only, else "".
func CaseDue(rec *Record) string {
	if rec.Get("status").Text != "open" {
		return ""
	}
	return RuleDue(Day(*rec.Get("received_at")))
}

// DueState says how an open case stands.
type DueState string

// The states of a due date.
const (
	NotDue  DueState = ""        // closed, or more than the warning period ahead
	DueSoon DueState = "soon"    // due today or within the warning period
	Overdue DueState = "overdue" // the due date has passed
)

// Due returns the day an open case must be answered by, and how it stands today. extended counts if set, but at most three
// months after receipt (one month and two more, GDPR Art. 12(3)); else the earlier of the source's due date and ours. All
// days are YYYY-MM-DD; soon is the warning period in days.
func Due(received, sourceDue, extended, today string, soon int) (day string, state DueState) {
	day = RuleDue(received)
	switch {
	case extended != "":
		day = extended
		if most := addMonths(received, 3); most != "" && most < day {
			day = most
		}
	case sourceDue != "" && (day == "" || sourceDue < day):
		day = sourceDue
	}
	if day == "" {
		return "", NotDue
	}
	if day < today {
		return day, Overdue
	}
	t, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return day, NotDue
	}
	if day <= t.AddDate(0, 0, soon).Format(time.DateOnly) {
		return day, DueSoon
	}
	return day, NotDue
}

// addMonths adds n months to a day, clamped to the month's end; "" when day is none.
func addMonths(day string, n int) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return ""
	}
	return plusMonths(t, n).Format(time.DateOnly)
}

// plusMonths is AddDate without its overflow: one month after 31 January is the last day of February, not 3 March.
func plusMonths(t time.Time, n int) time.Time {
	out := t.AddDate(0, n, 0)
	if out.Day() != t.Day() {
		out = out.AddDate(0, 0, -out.Day())
	}
	return out
}
