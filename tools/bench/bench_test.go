package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Every peer must find the same cells in the workload, or their times say nothing.
func TestPeersCountTheSameCells(t *testing.T) {
	dir := t.TempDir()
	w := workload{rows: 500, sheets: 2, every: faultEvery, each: 1, samples: "../../samples/bench"}
	if err := w.write(dir); err != nil {
		t.Fatal(err)
	}
	want := int64(0)
	for s := 1; s <= w.sheets; s++ {
		for i := 1; i <= w.rows; i++ {
			r := w.record(s, i)
			want += filled(r.fields[:]) + 1 // and the date
		}
	}
	header := int64(len(columns))
	for _, tt := range []struct {
		peer, file string
		want       int64
	}{
		{"excelize", sharedFile, want + 2*header},
		{"excelize", inlineFile, want + 2*header},
		{"csv", csvFile, want + header},
	} {
		if got, err := peers[tt.peer](filepath.Join(dir, tt.file)); err != nil || got != tt.want {
			t.Errorf("%s of %s: %d, %v; want %d", tt.peer, tt.file, got, err, tt.want)
		}
	}
	if n, err := peers["inflate"](filepath.Join(dir, sharedFile)); err != nil || n < 2*500*300 {
		t.Errorf("inflate: %d bytes, %v", n, err)
	}
}

func TestRatiosAreTakenWithinARound(t *testing.T) {
	a, b := []measured{{wall: 2, cpu: 1}, {wall: 30, cpu: 1}, {wall: 6, cpu: 1}}, []measured{{wall: 1, cpu: 4}, {wall: 10, cpu: 5}, {wall: 3, cpu: 4}}
	got := ratiosOf(a, b, false)
	if median(got) != 2 || got[0] != 2 || got[2] != 3 {
		t.Errorf("got %v", got)
	}
	if got := ratiosOf(a, b, true); median(got) != 0.25 {
		t.Errorf("by processor time: %v", got)
	}
}

func TestTableFailsWithItsCommands(t *testing.T) {
	c := contender{name: "false", args: []string{"sh", "-c", "echo reason >&2; exit 3"}}
	if _, err := c.run(); err == nil || !strings.Contains(err.Error(), "reason") {
		t.Errorf("got %v", err)
	}
}
