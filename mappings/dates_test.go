package mappings

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func (c civil) String() string {
	s := string(c.appendClock(append(c.appendDay(nil), ' '))) + " " + c.prec.String()
	if c.hasOffset {
		s += " " + offsetName(c.offset)
	}
	return s
}

func TestLayouts(t *testing.T) {
	for _, tc := range []struct{ layout, text, want string }{
		{"YYYY-MM-DD", "2026-03-01", "2026-03-01 00:00:00 day"},
		{"YYYY-MM-DD", "2026-3-01", "no"},
		{"YYYY-MM-DD", "2026-03-01 ", "no"},
		{"YYYY-MM-DD", "2026-02-29", "bad"},
		{"YYYY-MM-DD", "2024-02-29", "2024-02-29 00:00:00 day"},
		{"D.M.YYYY", "1.3.2026", "2026-03-01 00:00:00 day"},
		{"D.M.YYYY", "01.03.2026", "2026-03-01 00:00:00 day"},
		{"D.M.YYYY", "001.03.2026", "no"},
		{"DD.MM.YYYY HH:mm", "01.03.2026 23:59", "2026-03-01 23:59:00 minute"},
		{"DD.MM.YYYY HH:mm", "01.03.2026 24:00", "bad"},
		{"DD.MM.YYYY 'um' HH:mm 'Uhr'", "01.03.2026 um 08:05 Uhr", "2026-03-01 08:05:00 minute"},
		{"DD.MM.YY", "01.03.26", "2026-03-01 00:00:00 day"},
		{"DD.MM.YY", "01.03.69", "1969-03-01 00:00:00 day"},
		{"DD/MMM/YY h:mm A", "30/Oct/26 5:00 PM", "2026-10-30 17:00:00 minute"},
		{"DD/MMM/YY h:mm A", "30/oct/26 12:00 am", "2026-10-30 00:00:00 minute"},
		{"DD/MMM/YY h:mm A", "30/Oct/26 12:30 p.m.", "2026-10-30 12:30:00 minute"},
		{"DD/MMM/YY h:mm A", "30/Oct/26 13:00 PM", "bad"},
		{"D MMMM YYYY", "3 september 2026", "2026-09-03 00:00:00 day"},
		{"D MMMM YYYY", "3 sept 2026", "no"},
		{"YYYY-MM-DDTHH:mm:ss.SSSZ", "2026-03-01T10:00:00.5+05:30", "2026-03-01 10:00:00.500000 micro +05:30"},
		{"YYYY-MM-DDTHH:mm:ss.SSSZ", "2026-03-01T10:00:00.123456789Z", "2026-03-01 10:00:00.123456 micro +00:00"},
		{"YYYY-MM-DD'T'HH:mm:ssZ", "2026-03-01T10:00:07-0230", "2026-03-01 10:00:07 second -02:30"},
		{"YYYYMMDDHHmmss", "20260301101112", "2026-03-01 10:11:12 second"},
		{"MM/DD/YYYY", "13/01/2026", "bad"},
		{"YYYY''MM''DD", "2026'03'01", "2026-03-01 00:00:00 day"},
		{"YYYY年M月D日", "", "error \"年\""},
		{"YYYY'年'M'月'D'日'", "2026年3月1日", "2026-03-01 00:00:00 day"},
		{"DMYYYY", "", "error D may have one or two digits"},
		{"DD.MM.YYYY hh:mm", "", "error hh is the hour of a 12-hour clock"},
		{"DD.MM.YYYY HH:mm A", "", "error the half of the day, A, needs"},
		{"DD.MM.YYYY mm", "", "error the layout has minutes without hours"},
		{"DD.MM.YYYY HH:ss", "", "error the layout leaves out a part"},
		{"DD.MM.YYYY 'x", "", "error a quote is opened"},
		{"DD.DD.YYYY", "", "error DD and DD both stand for the day"},
		{"HH:mm", "", "error the layout \"HH:mm\" has no full date"},
		{"2026-MM-DD", "", "error the digit 2"},
		{"", "", "error the layout is empty"},
	} {
		var got string
		if l, err := compileLayout(tc.layout); err != nil {
			got = "error " + err.Error()
		} else {
			c, reading := l.read([]byte(tc.text))
			got = [...]string{"no", "bad", c.String()}[reading]
		}
		if got != tc.want && !(strings.HasPrefix(tc.want, "error ") && strings.HasPrefix(got, tc.want)) {
			t.Errorf("%s, %q: %s, want %s", tc.layout, tc.text, got, tc.want)
		}
	}
}

func TestShapes(t *testing.T) {
	for text, want := range map[string]string{
		"2026-03-01":                        "iso 2026-03-01 00:00:00 day",
		"2026-03-01 10:15":                  "iso 2026-03-01 10:15:00 minute",
		"2026-03-01T10:15:30Z":              "iso 2026-03-01 10:15:30 second +00:00",
		"2026-03-01 10:15:30 +0200":         "iso 2026-03-01 10:15:30 second +02:00",
		"2025-03-06T21:49:46.914848Z":       "iso 2025-03-06 21:49:46.914848 micro +00:00",
		"2026-03-01T10:15:30,25-03":         "iso 2026-03-01 10:15:30.250000 micro -03:00",
		"2026-03-01T":                       "other",
		"2026-3-1":                          "other",
		"20260301":                          "other",
		"13/04/2026":                        "numeric 13 4 2026",
		"1.2.2026 9:05":                     "numeric 1 2 2026",
		"1-2-2026":                          "numeric 1 2 2026",
		"1/2-2026":                          "other",
		"1/2/26":                            "other",
		"1/2/20261":                         "other",
		"9:46":                              "time",
		"23:59:59":                          "time",
		"9:4":                               "other",
		"tomorrow":                          "other",
		"":                                  "other",
		"2026-03-01 10:15:30.5 Europe/Rome": "other",
	} {
		kind, c, d := readShape([]byte(text))
		got := [...]string{"other", "iso " + c.String(), fmt.Sprintf("numeric %d %d %d", d.first, d.second, d.c.year), "time"}[kind]
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestSerials(t *testing.T) {
	for _, tc := range []struct {
		text      string
		date1904  bool
		showsTime bool
		want      string
	}{
		{"1", false, false, "1900-01-01 00:00:00 day"},
		{"59", false, false, "1900-02-28 00:00:00 day"},
		{"60", false, false, "bad"}, // 29 February 1900
		{"60.5", false, true, "bad"},
		{"61", false, false, "1900-03-01 00:00:00 day"},
		{"44148", false, false, "2020-11-13 00:00:00 day"},
		{"42735", true, false, "2021-01-01 00:00:00 day"},
		{"0", true, false, "1904-01-01 00:00:00 day"},
		{"0.5", false, true, "time"},
		{"-1", false, false, "bad"},
		{"-0.5", true, false, "bad"},
		{"2958465", false, false, "9999-12-31 00:00:00 day"},
		{"2958466", false, false, "bad"},
		{"2957003", true, false, "9999-12-31 00:00:00 day"},
		{"2957004", true, false, "bad"},
		{"45292.39621527778", false, true, "2024-01-01 09:30:33 second"},
		{"45292.5", false, false, "2024-01-01 12:00:00 minute"},
		{"45292", false, true, "2024-01-01 00:00:00 minute"},
		{"45292.999999999", false, true, "2024-01-02 00:00:00 minute"},
		{"45292.000005787", false, true, "2024-01-01 00:00:00.500000 micro"},
		{"1e308", false, false, "bad"},
		{"NaN", false, false, "bad"},
		{"x", false, false, "bad"},
	} {
		c, reading := readSerial([]byte(tc.text), tc.date1904, tc.showsTime)
		if got := [...]string{c.String(), "bad", "time"}[reading]; got != tc.want {
			t.Errorf("%s (1904 %v): %s, want %s", tc.text, tc.date1904, got, tc.want)
		}
	}
}

// Our calendar arithmetic is the standard library's.
func TestCalendarAgreesWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(-719162, 2932896).Draw(t, "days") // 0001-01-01 to 9999-12-31
		var c civil
		c.setDay(n)
		want := time.Unix(int64(n)*86400, 0).UTC()
		if c.year != want.Year() || c.month != int(want.Month()) || c.day != want.Day() || c.days() != int64(n) || !c.valid() {
			t.Fatalf("day %d: %s, want %s", n, c, want)
		}
	})
}

func TestZones(t *testing.T) {
	for _, tc := range []struct{ zone, local, want string }{
		{"Europe/Berlin", "2026-03-01 10:15", "2026-03-01T09:15:00Z"},
		{"Europe/Berlin", "2026-07-01 10:15", "2026-07-01T08:15:00Z"},
		{"Europe/Berlin", "2026-03-29 01:59", "2026-03-29T00:59:00Z"},
		{"Europe/Berlin", "2026-03-29 02:30", "gap"},
		{"Europe/Berlin", "2026-03-29 03:00", "2026-03-29T01:00:00Z"},
		{"Europe/Berlin", "2026-10-25 01:59", "2026-10-24T23:59:00Z"},
		{"Europe/Berlin", "2026-10-25 02:30", "fold"},
		{"Europe/Berlin", "2026-10-25 03:00", "2026-10-25T02:00:00Z"},
		{"Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00Z"},
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"}, // clocks went from midnight to one
		{"America/Sao_Paulo", "2018-11-04 00:30", "gap"},
		{"America/Sao_Paulo", "2018-02-18", "2018-02-18T03:00:00Z"},
		{"America/Sao_Paulo", "2018-02-17 23:30", "fold"},
		{"Pacific/Apia", "2011-12-30", "gap"}, // a day that never was
		{"Asia/Kolkata", "2026-03-01 10:15", "2026-03-01T04:45:00Z"},
		{"UTC", "2026-03-01 10:15", "2026-03-01T10:15:00Z"},
		{"+02:00", "2026-03-29 02:30", "2026-03-29T00:30:00Z"},
		{"Australia/Lord_Howe", "2026-04-05 01:45", "fold"}, // half an hour
	} {
		z, err := loadZone(tc.zone)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time from what the zone remembers
			_, c, _ := readShape([]byte(tc.local))
			u, local := z.instant(&c)
			if got := [...]string{time.Unix(u, 0).UTC().Format(time.RFC3339), "gap", "fold"}[local]; got != tc.want {
				t.Errorf("%s %s: %s, want %s", tc.zone, tc.local, got, tc.want)
			}
		}
	}
	for _, name := range []string{"", "Local", "Berlin", "../etc/passwd", "+25:00", "posix/UTC"} {
		if _, err := loadZone(name); err == nil {
			t.Errorf("zone %q is accepted", name)
		}
	}
}

// An instant shown in its zone gives back the local time; what the zone remembers changes nothing.
func TestZonesRoundTrip(t *testing.T) {
	names := []string{"Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca", "Pacific/Apia"}
	remembering := map[string]*zone{}
	for _, n := range names {
		remembering[n], _ = loadZone(n)
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(names).Draw(t, "zone")
		u := rapid.Int64Range(0, 2_000_000_000).Draw(t, "instant")
		z := remembering[name]
		shown := time.Unix(u, 0).In(z.loc)
		c := civil{year: shown.Year(), month: int(shown.Month()), day: shown.Day(), hour: shown.Hour(), minute: shown.Minute(), sec: shown.Second(), prec: bySecond}
		got, local := z.instant(&c)
		fresh, _ := loadZone(name)
		other, otherLocal := fresh.instant(&c)
		if local != otherLocal || local == localOnce && got != other {
			t.Fatalf("%s %s: %d %d with memory, %d %d without", name, c, got, local, other, otherLocal)
		}
		if local == localGap || local == localOnce && got != u {
			t.Fatalf("%s %s: %d (%d), want %d", name, c, got, local, u)
		}
	})
}

func FuzzLayout(f *testing.F) {
	for _, s := range []string{"YYYY-MM-DD", "DD.MM.YY 'um' h:mm A", "YYYY-MM-DDTHH:mm:ss.SSSZ", "D MMMM YYYY"} {
		f.Add(s, "2026-03-01")
	}
	f.Fuzz(func(t *testing.T, layout, text string) {
		l, err := compileLayout(layout)
		if err != nil {
			return
		}
		if c, reading := l.read([]byte(text)); reading == readRight && !c.valid() {
			t.Fatalf("%q read %q as %s", layout, text, c)
		}
	})
}
