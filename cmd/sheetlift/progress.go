package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
)

// What --progress may say.
const (
	progressAuto  = "auto"
	progressPlain = "plain"
	progressJSON  = "json"
	progressNone  = "none"
)

// plainEvery is how often progress is said where no bar can be drawn, drawEvery how often a bar is drawn at most.
const (
	plainEvery = 10 * time.Second
	drawEvery  = 200 * time.Millisecond
)

// progress shows how far work has come: one bar on a terminal, a plain line or a JSON event every ten seconds elsewhere, and
// whenever the process is asked by a signal. It begins with the first update, ends with Stop, and may begin again. All methods may be
// called from any goroutine.
type progress struct {
	out  io.Writer
	form string // plain, json, none; "" is the bar
	asks []os.Signal

	mu          sync.Mutex
	what        string
	stage, from string
	done, all   int64
	pass        int // over the same rows, from 1
	begun       time.Time
	drawn       time.Time
	bars        *mpb.Progress
	current     *mpb.Bar
	quit, ended chan struct{} // of the goroutine that says lines

	beside atomic.Pointer[string] // what stands beside the bar; drawing must not wait for mu, which waits for drawing
}

func newProgress(out io.Writer, form string) *progress {
	p := &progress{out: out, form: form, asks: whereSignals}
	if form == "" || form == progressAuto {
		p.form = progressPlain
		if drawable(out) {
			p.form = ""
		}
	}
	return p
}

// drawable reports whether a bar can be drawn on w.
func drawable(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" && os.Getenv("TERM") != ""
}

// Update says that done of all rows are done; all is 0 when unknown.
func (p *progress) Update(stage, source string, done, all int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what := stage
	if source != "" {
		what += " " + source
	}
	changed := what != p.what
	switch {
	case changed:
		p.begun, p.pass = time.Now(), 1
	case done < p.done: // the rows are gone over again
		p.begun = time.Now()
		p.pass++
	}
	p.what, p.stage, p.from, p.done, p.all = what, stage, source, done, all
	if p.form == "" {
		p.draw(changed)
	}
	if p.quit == nil {
		p.quit, p.ended = make(chan struct{}), make(chan struct{})
		go p.say(p.quit, p.ended)
	}
}

func (p *progress) draw(changed bool) {
	now := time.Now()
	if !changed && p.current != nil && now.Sub(p.drawn) < drawEvery {
		return
	}
	p.drawn = now
	pace := p.now().pace()
	p.beside.Store(&pace)
	if p.bars == nil {
		p.bars = mpb.New(mpb.WithOutput(p.out), mpb.WithWidth(40), mpb.WithRefreshRate(drawEvery))
	}
	if changed || p.current == nil {
		if p.current != nil {
			p.current.Abort(true)
		}
		p.current = p.bars.AddBar(p.all,
			mpb.PrependDecorators(decor.Name(p.what, decor.WCSyncSpaceR), decor.Any(func(decor.Statistics) string { return *p.beside.Load() })),
			mpb.AppendDecorators(decor.OnComplete(decor.Elapsed(decor.ET_STYLE_GO), "")),
			mpb.BarRemoveOnComplete())
	}
	p.current.SetTotal(p.all, false)
	p.current.SetCurrent(p.done)
}

// state is where the work is.
type state struct {
	Event     string  `json:"event"`
	Stage     string  `json:"stage"`
	Source    string  `json:"source,omitempty"`
	Rows      int64   `json:"rows"`
	Of        int64   `json:"of,omitempty"`
	PerSecond int64   `json:"rows_per_second,omitempty"`
	Elapsed   float64 `json:"elapsed_seconds"`
	Remaining float64 `json:"remaining_seconds,omitempty"` // of this pass
	Pass      int     `json:"pass,omitempty"`              // over the same rows, from the second

	what string
}

func (p *progress) state() state {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now()
}

// now is state for those who hold mu.
func (p *progress) now() state {
	s := state{Event: "progress", Stage: p.stage, Source: p.from, Rows: p.done, Of: p.all, what: p.what}
	if p.what == "" {
		return s
	}
	if p.pass > 1 {
		s.Pass = p.pass
	}
	elapsed := time.Since(p.begun)
	s.Elapsed = elapsed.Round(100 * time.Millisecond).Seconds()
	if elapsed >= time.Second && p.done > 0 {
		rate := float64(p.done) / elapsed.Seconds()
		s.PerSecond = int64(rate)
		if p.all > p.done {
			s.Remaining = time.Duration(float64(p.all-p.done) / rate * float64(time.Second)).Round(time.Second).Seconds()
		}
	}
	return s
}

// pace says how far and how fast.
func (s state) pace() string {
	line := finding.Count(s.Rows, "row", "rows")
	if s.Of > 0 {
		line = fmt.Sprintf("%d of %s (%d %%)", s.Rows, finding.Count(s.Of, "row", "rows"), s.Rows*100/s.Of)
	}
	if s.Pass > 1 {
		line += fmt.Sprintf(", pass %d", s.Pass)
	}
	if s.PerSecond > 0 {
		line += fmt.Sprintf(", %d rows/s", s.PerSecond)
	}
	if s.Remaining > 0 {
		line += ", " + time.Duration(s.Remaining*float64(time.Second)).String() + " left"
	}
	return line
}

// write says where the work is, in a line of its own.
func (p *progress) write(form string) {
	s := p.state()
	if s.what == "" {
		return
	}
	if form == progressJSON {
		line, err := json.Marshal(s)
		if err == nil {
			fmt.Fprintf(p.out, "%s\n", line)
		}
		return
	}
	fmt.Fprintf(p.out, "%s: %s\n", s.what, s.pace())
}

// say writes a line every ten seconds where there is no bar, and whenever a signal asks for one.
func (p *progress) say(quit, ended chan struct{}) {
	defer close(ended)
	asked := make(chan os.Signal, 1)
	if len(p.asks) > 0 {
		signal.Notify(asked, p.asks...)
		defer signal.Stop(asked)
	}
	tick := time.NewTicker(plainEvery)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-asked:
			p.answer()
		case <-tick.C:
			if p.form == progressPlain || p.form == progressJSON {
				p.write(p.form)
			}
		}
	}
}

// answer says where the work is because somebody asked, above the bar if there is one.
func (p *progress) answer() {
	p.mu.Lock()
	bars := p.bars
	p.mu.Unlock()
	if s := p.state(); bars != nil && s.what != "" {
		fmt.Fprintf(bars, "%s: %s\n", s.what, s.pace())
		return
	}
	p.write(p.form)
}

// Stop takes the bar away, so that a result can be written. It returns when nothing more will be drawn.
func (p *progress) Stop() {
	p.mu.Lock()
	bars, current, quit, ended := p.bars, p.current, p.quit, p.ended
	p.bars, p.current, p.quit, p.ended, p.what = nil, nil, nil, nil, ""
	p.mu.Unlock()
	if quit != nil {
		close(quit)
		<-ended
	}
	if current != nil {
		current.Abort(true)
	}
	if bars != nil {
		bars.Wait()
	}
}

// Notify says something a person should see at once, such as what is waited for.
func (p *progress) Notify(n ledger.Notice) {
	p.Stop()
	if p.form == progressJSON {
		if line, err := json.Marshal(n); err == nil {
			fmt.Fprintf(p.out, "%s\n", line)
		}
		return
	}
	fmt.Fprintf(p.out, "sheetlift: %s\n", n.Message)
}
