package importers

import "testing"

func TestRuleDue(t *testing.T) {
	for received, want := range map[string]string{
		"2024-03-05": "2024-04-05",
		"2024-01-31": "2024-02-29",
		"2023-01-31": "2023-02-28",
		"2024-08-31": "2024-09-30",
		"2024-12-15": "2025-01-15",
		"2024-02-29": "2024-03-29",
		"":           "",
		"31.01.2024": "",
	} {
		if got := RuleDue(received); got != want {
			t.Errorf("RuleDue(%q) = %q, want %q", received, got, want)
		}
	}
}

func TestCaseDue(t *testing.T) {
	rec := newRecord("case", map[string]Value{"status": text("open"), "received_at": when("2024-01-30T23:30:00Z", "Europe/Berlin", "minute")})
	if got := CaseDue(rec); got != "2024-02-29" {
		t.Errorf("CaseDue = %q: received on 31 January on its own clock", got)
	}
	*rec.Get("status") = text("closed_refused")
	if got := CaseDue(rec); got != "" {
		t.Errorf("a closed case has due date %q", got)
	}
}

func TestDue(t *testing.T) {
	tests := []struct {
		name                              string
		received, source, extended, today string
		wantDay                           string
		want                              DueState
	}{
		{"ahead", "2024-03-05", "", "", "2024-03-10", "2024-04-05", NotDue},
		{"soon", "2024-03-05", "", "", "2024-03-29", "2024-04-05", DueSoon},
		{"today", "2024-03-05", "", "", "2024-04-05", "2024-04-05", DueSoon},
		{"overdue", "2024-03-05", "", "", "2024-04-06", "2024-04-05", Overdue},
		{"the source's earlier date", "2024-03-05", "2024-04-01", "", "2024-04-02", "2024-04-01", Overdue},
		{"the source's later date does not help", "2024-03-05", "2024-05-01", "", "2024-04-06", "2024-04-05", Overdue},
		{"extended", "2024-03-05", "2024-04-01", "2024-05-20", "2024-04-06", "2024-05-20", NotDue},
		{"extended too far", "2024-03-05", "", "2025-01-01", "2024-06-06", "2024-06-05", Overdue},
		{"no day at all", "", "", "", "2024-06-06", "", NotDue},
		{"only the source's date", "", "2024-04-01", "", "2024-06-06", "2024-04-01", Overdue},
		{"today unknown", "2024-03-05", "", "", "", "2024-04-05", NotDue},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			day, got := Due(tt.received, tt.source, tt.extended, tt.today, 7)
			if day != tt.wantDay || got != tt.want {
				t.Errorf("Due = %q, %q, want %q, %q", day, got, tt.wantDay, tt.want)
			}
		})
	}
}
