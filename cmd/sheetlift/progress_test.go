package main

import (
	"bytes"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sheetlift/pipeline/ledger"
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
		p.asks = nil // signals come from outside the bubble
		p.Stop()     // before anything began
		p.Update("dryrun", "consents", 10, 0)
		time.Sleep(9 * time.Second)
		if got := out.take(); got != "" {
			t.Errorf("quick work says %q", got)
		}
		p.Update("dryrun", "consents", 5000, 0)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got, want := out.take(), "dryrun consents: 5000 rows, 500 rows/s\n"; got != want {
			t.Errorf("after ten seconds %q, want %q", got, want)
		}
		p.Update("import", "consents", 1, 4)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got, want := out.take(), "import consents: 1 of 4 rows (25 %), 27s left\n"; got != want {
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
		p.Notify(ledger.Remark("waiting for another process"))
		if got, want := out.take(), "sheetlift: waiting for another process\n"; got != want {
			t.Errorf("Notify says %q, want %q", got, want)
		}
		p = newProgress(&out, progressJSON)
		p.Notify(ledger.Notice{Event: ledger.NoticeWaiting, Message: "waiting", Stage: "import", Batch: "b", Operator: "x", Seconds: 14})
		if got, want := out.take(), `{"event":"waiting","message":"waiting","stage":"import","batch":"b","operator":"x","seconds":14}`+"\n"; got != want {
			t.Errorf("Notify says %q, want %q", got, want)
		}
	})
}

// The bar's goroutines end with Stop, whatever the order of updates.
func TestBarEnds(t *testing.T) {
	p := &progress{out: io.Discard}
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

// A signal is answered at once, with what is known; JSON events hold the same in fields.
func TestSignalAsksWhereItIs(t *testing.T) {
	if len(whereSignals) == 0 {
		t.Skip("this system has no such signal")
	}
	mine := make(chan os.Signal, 1) // one that comes before somebody listens must not end the process
	signal.Notify(mine, whereSignals...)
	defer signal.Stop(mine)
	for form, want := range map[string]string{
		progressPlain: "import consents: 2 of 8 rows (25 %)", progressNone: "import consents: 2 of 8 rows (25 %)",
		progressJSON: `{"event":"progress","stage":"import","source":"consents","rows":2,"of":8,"elapsed_seconds":`,
	} {
		var out locked
		p := newProgress(&out, form)
		p.Update("import", "consents", 2, 8)
		got := ""
		for wait := time.Now(); got == "" && time.Since(wait) < 10*time.Second; time.Sleep(50 * time.Millisecond) {
			if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
			got = out.take()
		}
		got, _, _ = strings.Cut(got, "\n") // asked twice, it may have answered twice
		got += "\n"
		if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "\n") {
			t.Errorf("%s: %q, want %q", form, got, want)
		}
		p.Stop()
	}
}
