package importers

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// at reads an instant such as 2024-03-14T09:12:31Z.
func at(s string) int64 {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t.UnixMicro()
}

func when(instant, zone, precision string) Value {
	return Value{Set: true, Int: at(instant), Zone: zone, Precision: precision}
}

func TestWindow(t *testing.T) {
	tests := []struct {
		name     string
		v        Value
		earliest string
		latest   string
	}{
		{"a second", when("2024-03-14T09:12:31Z", "UTC", "second"), "2024-03-14T09:12:31Z", "2024-03-14T09:12:31.999999Z"},
		{"a minute", when("2024-03-14T09:12:00Z", "Europe/Berlin", "minute"), "2024-03-14T09:12:00Z", "2024-03-14T09:12:59.999999Z"},
		{"a microsecond", when("2024-03-14T09:12:31.5Z", "+02:00", "micro"), "2024-03-14T09:12:31.5Z", "2024-03-14T09:12:31.5Z"},
		{"a day in its zone", when("2024-03-13T23:00:00Z", "Europe/Berlin", "day"), "2024-03-13T23:00:00Z", "2024-03-14T22:59:59.999999Z"},
		{"a day of 23 hours", when("2024-03-30T23:00:00Z", "Europe/Berlin", "day"), "2024-03-30T23:00:00Z", "2024-03-31T21:59:59.999999Z"},
		{"a day of 25 hours", when("2024-10-26T22:00:00Z", "Europe/Berlin", "day"), "2024-10-26T22:00:00Z", "2024-10-27T22:59:59.999999Z"},
		{"a day without midnight", when("2018-11-04T03:00:00Z", "America/Sao_Paulo", "day"), "2018-11-04T03:00:00Z", "2018-11-05T01:59:59.999999Z"},
		{"a day whose midnight comes twice", when("2010-11-07T12:00:00Z", "America/St_Johns", "day"), "2010-11-07T02:30:00Z", "2010-11-08T03:29:59.999999Z"},
		{"the day before, which runs on after midnight", when("2010-11-06T12:00:00Z", "America/St_Johns", "day"), "2010-11-06T02:30:00Z", "2010-11-07T03:29:59.999999Z"},
		{"a day at a fixed offset", when("2024-03-13T18:30:00Z", "+05:30", "day"), "2024-03-13T18:30:00Z", "2024-03-14T18:29:59.999999Z"},
		{"a day without a zone", when("2024-03-14T00:00:00Z", "", "day"), "2024-03-13T10:00:00Z", "2024-03-15T11:59:59.999999Z"},
		{"a second without a zone", when("2024-03-14T12:00:00Z", "", "second"), "2024-03-13T22:00:00Z", "2024-03-15T00:00:00.999999Z"},
		{"an unknown zone is none", when("2024-03-14T12:00:00Z", "Mars/Olympus", "second"), "2024-03-13T22:00:00Z", "2024-03-15T00:00:00.999999Z"},
		{"the machine's zone is none", when("2024-03-14T12:00:00Z", "Local", "second"), "2024-03-13T22:00:00Z", "2024-03-15T00:00:00.999999Z"},
		{"an unknown precision is a day", when("2024-03-14T12:00:00Z", "UTC", "fortnight"), "2024-03-14T00:00:00Z", "2024-03-14T23:59:59.999999Z"},
		{"a date field", text("2024-03-14"), "2024-03-13T10:00:00Z", "2024-03-15T11:59:59.999999Z"},
		{"before 1970", when("1969-12-31T12:00:00Z", "", "day"), "1969-12-30T10:00:00Z", "1970-01-01T11:59:59.999999Z"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			earliest, latest := Window(tt.v)
			if earliest != at(tt.earliest) || latest != at(tt.latest) {
				t.Errorf("Window = %s … %s, want %s … %s", show(earliest), show(latest), tt.earliest, tt.latest)
			}
		})
	}
	if e, l := Window(Value{}); e != never || l <= at("2999-01-01T00:00:00Z") {
		t.Errorf("an unset value could be any time, got %d … %d", e, l)
	}
	if e, l := Window(text("not a day")); e != never || l <= at("2999-01-01T00:00:00Z") {
		t.Errorf("an unreadable day could be any time, got %d … %d", e, l)
	}
}

func show(us int64) string { return time.UnixMicro(us).UTC().Format(time.RFC3339Nano) }

// A window holds the instant it was made from, and each instant of it falls on the same day of the zone.
func TestWindowOfADayHoldsTheDay(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/St_Johns", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kolkata", "-03:30", "Africa/Cairo", "America/Havana", "Asia/Beirut"}
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		us := rapid.Int64Range(at("1970-01-02T00:00:00Z"), at("2037-12-31T00:00:00Z")).Draw(t, "us")
		v := Value{Set: true, Int: us, Zone: zone, Precision: "day"}
		earliest, latest := Window(v)
		if earliest > us || latest < us {
			t.Fatalf("%s is not in %s … %s", show(us), show(earliest), show(latest))
		}
		day := Day(v)
		for _, edge := range []int64{earliest, latest} {
			if got := Day(Value{Set: true, Int: edge, Zone: zone, Precision: "micro"}); got != day {
				t.Fatalf("edge %s falls on %s, not %s", show(edge), got, day)
			}
		}
		before := Day(Value{Set: true, Int: earliest - 1, Zone: zone, Precision: "micro"})
		after := Day(Value{Set: true, Int: latest + 1, Zone: zone, Precision: "micro"})
		if before == day || after == day {
			t.Fatalf("the day %s goes on outside its window", day)
		}
	})
}

func TestInForce(t *testing.T) {
	tests := []struct {
		name     string
		from, to string
		v        Value
		want     bool
	}{
		{"in the middle", "2024-01-01", "2024-12-31", when("2024-06-01T12:00:00Z", "UTC", "second"), true},
		{"still in force", "2024-01-01", "", when("2030-06-01T12:00:00Z", "UTC", "second"), true},
		{"first day, on its own clock", "2024-01-01", "", when("2023-12-31T23:30:00Z", "Europe/Berlin", "minute"), true},
		{"the day before", "2024-01-01", "", when("2023-12-31T22:30:00Z", "Europe/Berlin", "minute"), false},
		{"last day", "2024-01-01", "2024-01-31", when("2024-01-31T22:59:00Z", "Europe/Berlin", "minute"), true},
		{"after the last day", "2024-01-01", "2024-01-31", when("2024-01-31T23:00:00Z", "Europe/Berlin", "minute"), false},
		{"a whole day", "2024-01-01", "2024-01-31", when("2024-01-31T00:00:00Z", "UTC", "day"), true},
		{"without a zone, near the edge", "2024-01-01", "", when("2024-01-01T12:00:00Z", "", "second"), false},
		{"without a zone, far from it", "2024-01-01", "", when("2024-01-05T12:00:00Z", "", "second"), true},
		{"undated", "2024-01-01", "", Value{}, false},
		{"a notice without a first day", "", "", when("2024-01-05T12:00:00Z", "UTC", "second"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := InForce(tt.from, tt.to, tt.v); got != tt.want {
				t.Errorf("InForce = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestLocation(t *testing.T) {
	for _, name := range []string{"UTC", "Z", "Europe/Berlin", "+05:30", "-0330", "+02", "+14:00"} {
		if Location(name) == nil {
			t.Errorf("Location(%q) = nil", name)
		}
	}
	for _, name := range []string{"", "Local", "local", "+15:00", "+5", "+05:77", "+aa:bb", "+05:3", "../etc/passwd", "Nowhere"} {
		if Location(name) != nil {
			t.Errorf("Location(%q) is known", name)
		}
	}
	if _, offset := time.Unix(0, 0).In(Location("-03:30")).Zone(); offset != -(3*3600 + 30*60) {
		t.Errorf("offset of -03:30 is %d", offset)
	}
}
