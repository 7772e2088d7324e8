package manifests

import (
	"bytes"
	"strings"
	"testing"
)

func TestManifestRoundTrip(t *testing.T) {
	d := strings.Repeat("0a", 32)
	data := formatManifest([]File{{Path: "data/b", SHA256: d}, {Path: "data/100%.csv", SHA256: d}})
	if want := d + "  data/100%25.csv\n" + d + "  data/b\n"; string(data) != want {
		t.Fatalf("formatManifest = %q, want %q", data, want)
	}
	files, faults := parseManifest("m", data)
	if len(faults) > 0 || len(files) != 2 || files[0].Path != "data/100%.csv" || files[1].SHA256 != d {
		t.Fatalf("parseManifest = %v, %v", files, faults)
	}
}

func TestParseManifestFaults(t *testing.T) {
	d := strings.Repeat("0a", 32)
	tests := []struct {
		name, in string
		kind     FaultKind
	}{
		{"cut off", d + "  data/a", Malformed},
		{"one space", d + " data/a\n", Malformed},
		{"binary mark", d + " *data/a\n", Malformed},
		{"upper-case digest", strings.ToUpper(d) + "  data/a\n", Malformed},
		{"short digest", d[2:] + "  data/a\n", Malformed},
		{"CRLF", d + "  data/a\r\n", Malformed},
		{"bare percent", d + "  data/100%\n", Malformed},
		{"other escape", d + "  data/%41\n", Malformed},
		{"line feed", d + "  data/a%0Ab\n", Unsafe},
		{"carriage return, lower case", d + "  data/a%0db\n", Unsafe},
		{"climbs out", d + "  data/../../etc/passwd\n", Unsafe},
		{"absolute", d + "  /etc/passwd\n", Unsafe},
		{"twice", d + "  data/a\n" + d + "  data/a\n", Unsafe},
		{"twice but for case", d + "  data/a\n" + d + "  data/A\n", Unsafe},
		{"empty line", d + "  data/a\n\n", Malformed},
		{"empty path", d + "  \n", Unsafe},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, faults := parseManifest("m", []byte(tt.in))
			if len(faults) != 1 || faults[0].Kind != tt.kind {
				t.Fatalf("faults = %v, want one %s", faults, tt.kind)
			}
		})
	}
}

// What parses without a fault is written again as it was, but for the order of lines and the case of escapes.
func FuzzParseManifest(f *testing.F) {
	d := strings.Repeat("0a", 32)
	f.Add([]byte(d + "  data/a\n" + d + "  data/100%25\n"))
	f.Add([]byte(d + "  data/a%0a\n"))
	f.Add([]byte(d + "  data/a"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, faults := parseManifest("m", data)
		if len(faults) > 0 {
			return
		}
		again := formatManifest(files)
		if len(again) != len(data) || bytes.Count(again, []byte{'\n'}) != bytes.Count(data, []byte{'\n'}) {
			t.Fatalf("%q was written again as %q", data, again)
		}
		if back, faults := parseManifest("m", again); len(faults) > 0 || len(back) != len(files) {
			t.Fatalf("what was written does not parse: %v", faults)
		}
	})
}

func FuzzParseInfo(f *testing.F) {
	f.Add([]byte("Bagging-Date: 2026-10-01\nPayload-Oxum: 1.1\n"))
	f.Add([]byte("A: b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		pairs, faults := parseInfo(data)
		if len(faults) == 0 && !bytes.Equal(formatInfo(pairs), data) {
			t.Fatalf("%q was written again as %q", data, formatInfo(pairs))
		}
	})
}
