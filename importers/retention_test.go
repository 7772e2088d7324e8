package importers

import "testing"

func TestRetentionExpiry(t *testing.T) {
	obtained := at("2024-09-01T12:00:00Z")
	consent := func(status, date string) *Record {
		v := map[string]Value{"status": text(status), "purpose": text("news")}
		if date != "" {
			v["occurred_at"] = when(date+"T00:00:00Z", "UTC", "day")
		}
		return newRecord("consent", v)
	}
	kase := func(status string, closed string) *Record {
		v := map[string]Value{"status": text(status), "received_at": when("2021-03-01T10:00:00Z", "UTC", "minute")}
		if closed != "" {
			v["closed_at"] = when(closed+"T00:00:00Z", "UTC", "day")
		}
		return newRecord("case", v)
	}
	tests := []struct {
		name  string
		rec   *Record
		rules []RetentionRule
		want  string // "" for none
		rule  string
	}{
		{"from the act", consent("given", "2021-01-31"), []RetentionRule{{"R1", "consent", "", 13, "occurred"}}, "2022-02-28T23:59:59.999999Z", "R1"},
		{"undated, from the export", consent("given", ""), []RetentionRule{{"R1", "consent", "", 12, "occurred"}}, "2025-09-01T12:00:00Z", "R1"},
		{"from the export", consent("given", "2021-01-31"), []RetentionRule{{"R1", "consent", "", 12, "obtained"}}, "2025-09-01T12:00:00Z", "R1"},
		{"from a withdrawal that has not happened", consent("given", "2021-01-31"), []RetentionRule{{"R1", "consent", "", 12, "withdrawn"}}, "", ""},
		{"from a withdrawal", consent("withdrawn", "2021-01-31"), []RetentionRule{{"R1", "consent", "", 12, "withdrawn"}}, "2022-01-31T23:59:59.999999Z", "R1"},
		{"another entity", consent("given", "2021-01-31"), []RetentionRule{{"R1", "case", "", 12, "occurred"}}, "", ""},
		{"another purpose", consent("given", "2021-01-31"), []RetentionRule{{"R1", "consent", "offers", 12, "occurred"}}, "", ""},
		{"the purpose's own rule goes before the general one", consent("given", "2021-01-31"), []RetentionRule{{"R1", "consent", "", 6, "occurred"}, {"R2", "consent", "news", 24, "occurred"}}, "2023-01-31T23:59:59.999999Z", "R2"},
		{"of several the earliest end", consent("given", "2021-01-31"), []RetentionRule{{"R1", "consent", "", 36, "occurred"}, {"R2", "consent", "", 24, "occurred"}}, "2023-01-31T23:59:59.999999Z", "R2"},
		{"an open case has not begun to count", kase("open", ""), []RetentionRule{{"R1", "case", "", 12, "closed"}}, "", ""},
		{"a closed case", kase("closed_fulfilled", "2021-04-01"), []RetentionRule{{"R1", "case", "", 12, "closed"}}, "2022-04-01T23:59:59.999999Z", "R1"},
		{"a closed case without a date", kase("closed_refused", ""), []RetentionRule{{"R1", "case", "", 12, "closed"}}, "2025-09-01T12:00:00Z", "R1"},
		{"a case occurs when it is received", kase("open", ""), []RetentionRule{{"R1", "case", "", 12, "occurred"}}, "2022-03-01T10:00:59.999999Z", "R1"},
		{"a start nobody knows", consent("given", "2021-01-31"), []RetentionRule{{"R1", "consent", "", 12, "someday"}}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, rule, ok := RetentionExpiry(tt.rec, tt.rules, obtained)
			if ok != (tt.want != "") || rule != tt.rule || ok && got != at(tt.want) {
				t.Errorf("RetentionExpiry = %s by %q (%v), want %s by %q", show(got), rule, ok, tt.want, tt.rule)
			}
		})
	}
	if _, _, ok := RetentionExpiry(consent("given", ""), []RetentionRule{{"R1", "consent", "", 12, "occurred"}}, 0); ok {
		t.Error("without any date nothing can be called expired")
	}
	rec := newRecord("retention_rule", map[string]Value{"rule_id": text("R1"), "entity": text("consent"), "months": {Set: true, Int: 36}, "starts": text("occurred")})
	if got := RetentionRuleOf(rec); got != (RetentionRule{"R1", "consent", "", 36, "occurred"}) {
		t.Errorf("RetentionRuleOf = %+v", got)
	}
}
