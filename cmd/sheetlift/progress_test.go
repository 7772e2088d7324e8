package main

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// locked is a writer that goroutines may share with the test.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.b.String()
	l.b.Reset()
	return s
}

func TestPlainProgressEveryTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out locked
		p := newProgress(&out, progressAuto)
		p.Stop() // before anything began
		p.Update("dryrun", "consents", 10, 0)
		time.Sleep(9 * time.Second)
		if got := out.take(); got != "" {
			t.Errorf("quick work says %q", got)
		}
		p.Update("dryrun", "consents", 5000, 0)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got, want := out.take(), "dryrun consents: 5000 rows\n"; got != want {
			t.Errorf("after ten seconds %q, want %q", got, want)
		}
		p.Update("import", "consents", 1, 4)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got, want := out.take(), "import consents: 1 of 4 rows (25 %)\n"; got != want {
			t.Errorf("after twenty seconds %q, want %q", got, want)
		}
		p.Stop()
		time.Sleep(time.Minute)
		if got := out.take(); got != "" {
			t.Errorf("after the end %q", got)
		}
		p.Update("reconcile", "", 2, 0) // and it may begin again
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if got, want := out.take(), "reconcile: 2 rows\n"; got != want {
			t.Errorf("begun again %q, want %q", got, want)
		}
		p.Notify("waiting for another process")
		if got, want := out.take(), "sheetlift: waiting for another process\n"; got != want {
			t.Errorf("Notify says %q, want %q", got, want)
		}
	})
}

// The bar's goroutines end with Stop, whatever the order of updates.
func TestBarEnds(t *testing.T) {
	p := &progress{out: io.Discard, bar: true}
	for round := range 3 {
		p.Update("map", "a", 1, 0)
		p.Update("map", "a", 2, 0)
		p.Update("map", "b", 5, 10)
		p.Update("map", "b", 10, 10)
		ended := make(chan struct{})
		go func() { p.Stop(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatalf("round %d: Stop does not return", round)
		}
	}
}
