package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

// plainEvery is how often progress is said where no bar can be drawn.
const plainEvery = 10 * time.Second

// progress shows how far work has come: one bar on a terminal, a plain line every ten seconds elsewhere. It begins with the
// first update, ends with Stop, and may begin again. All methods may be called from any goroutine.
type progress struct {
	out io.Writer
	bar bool

	mu          sync.Mutex
	what        string
	done, all   int64
	bars        *mpb.Progress
	current     *mpb.Bar
	quit, ended chan struct{} // of the goroutine that says plain lines
}

func newProgress(out io.Writer) *progress {
	return &progress{out: out, bar: drawable(out)}
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
	p.what, p.done, p.all = what, done, all
	if p.bar {
		p.draw(changed)
	} else if p.quit == nil {
		p.quit, p.ended = make(chan struct{}), make(chan struct{})
		go p.say(p.quit, p.ended)
	}
}

func (p *progress) draw(changed bool) {
	if p.bars == nil {
		p.bars = mpb.New(mpb.WithOutput(p.out), mpb.WithWidth(40))
	}
	if changed || p.current == nil {
		if p.current != nil {
			p.current.Abort(true)
		}
		p.current = p.bars.AddBar(p.all,
			mpb.PrependDecorators(decor.Name(p.what, decor.WCSyncSpaceR), decor.CurrentNoUnit("%d rows")),
			mpb.AppendDecorators(decor.OnComplete(decor.Elapsed(decor.ET_STYLE_GO), "")),
			mpb.BarRemoveOnComplete())
	}
	p.current.SetCurrent(p.done)
}

// say writes a line every ten seconds.
func (p *progress) say(quit, ended chan struct{}) {
	defer close(ended)
	tick := time.NewTicker(plainEvery)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		p.mu.Lock()
		line := fmt.Sprintf("%s: %d rows", p.what, p.done)
		if p.all > 0 {
			line = fmt.Sprintf("%s: %d of %d rows (%d %%)", p.what, p.done, p.all, p.done*100/p.all)
		}
		p.mu.Unlock()
		fmt.Fprintln(p.out, line)
	}
}

// Stop takes the bar away, so that a result can be written. It returns when nothing more will be drawn.
func (p *progress) Stop() {
	p.mu.Lock()
	bars, current, quit, ended := p.bars, p.current, p.quit, p.ended
	p.bars, p.current, p.quit, p.ended, p.what = nil, nil, nil, nil, ""
	p.mu.Unlock()
	if current != nil {
		current.Abort(true)
	}
	if bars != nil {
		bars.Wait()
	}
	if quit != nil {
		close(quit)
		<-ended
	}
}

// Notify says something a person should see at once, such as what is waited for.
func (p *progress) Notify(message string) {
	p.Stop()
	fmt.Fprintf(p.out, "sheetlift: %s\n", message)
}
