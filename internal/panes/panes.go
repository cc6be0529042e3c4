// Package panes shows bento watch on a whole terminal: the tasks with their states, and the log of the chosen one. It
// prints text alone: no byte of a log or a name steers the terminal.
package panes

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/screen"
	"github.com/bentobuild/bento/internal/state"
)

// Enter switches a terminal to its alternate screen, without a cursor and without wrapping lines. Leave undoes this; it
// is harmless without Enter.
const (
	Enter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"
	Leave = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// tick is the interval of redraws while a task runs.
const tick = 200 * time.Millisecond

// Options are the terminal and the functions of Panes. None may be nil.
type Options struct {
	Keys     *os.File // the terminal whose keys are read
	Terminal *os.File // the terminal that shows the panes
	Style    report.Style
	Title    string // what is watched
	State    *state.Dir

	// The functions below are what keys do. They return at once.

	Rerun       func(task string)
	RerunAll    func()
	RerunFailed func()
	Quit        func()
}

// Panes is a shown terminal. It is a terminal.Reporter that is safe for concurrent use.
type Panes struct {
	o     Options
	out   *screen.Alternate
	again chan struct{} // the panes have changed
	fresh chan struct{} // the terminal shows something else

	mu      sync.Mutex
	model   model
	lines   *terminal.Lines // reports to the messages what is about no task
	reader  screen.Reader
	width   int
	height  int
	painter painter

	keys    *screen.Keyboard
	closing chan struct{}
	resized chan os.Signal
	ended   sync.WaitGroup
}

// Open shows panes until ctx is done. After Ctrl-C or q they stay until Close, which the caller always calls: the tasks end
// meanwhile.
func Open(ctx context.Context, o Options) (*Panes, error) {
	p := &Panes{o: o, out: screen.NewAlternate(o.Terminal, Enter, Leave), again: make(chan struct{}, 1), fresh: make(chan struct{}, 1), resized: make(chan os.Signal, 1), closing: make(chan struct{})}
	p.model = newModel(o.Style, o.Title, &logs{dir: o.State})
	p.lines = &terminal.Lines{Out: p.Messages(), Err: p.Messages(), Mode: terminal.Grouped}
	p.measure()
	p.out.Enter()
	keys, err := screen.OpenKeyboard(o.Keys, p.pressed, p.out.Leave, p.refresh)
	if err != nil {
		p.out.Leave()
		return nil, err
	}
	p.keys = keys
	signal.Notify(p.resized, syscall.SIGWINCH)
	p.ended.Go(func() { p.draw(ctx) })
	return p, nil
}

// Close waits until the terminal shows what it showed before Open.
func (p *Panes) Close() {
	close(p.closing)
	p.ended.Wait()
	signal.Stop(p.resized)
	p.keys.Close()
}

// draw draws the panes after each change until they end.
func (p *Panes) draw(ctx context.Context) {
	defer p.out.Leave()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for done := ctx.Done(); ; {
		var ticks <-chan time.Time
		if p.show() {
			ticks = ticker.C
		}
		select {
		case <-p.closing:
			return
		case <-done:
			if done = nil; !p.stays(ctx) {
				return
			}
		case <-p.again:
		case <-ticks:
		case <-p.resized:
			p.mu.Lock()
			p.measure()
			p.mu.Unlock()
		case <-p.fresh:
			p.out.Enter()
			p.mu.Lock()
			p.measure()
			p.mu.Unlock()
		}
	}
}

// stays reports whether a user has ended the watch at the terminal, and says what happens.
func (p *Panes) stays(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.model.ending = p.model.ending || errors.Is(context.Cause(ctx), proc.ErrInterrupt)
	return p.model.ending
}

// show draws what has changed. It reports whether a task is running.
func (p *Panes) show() (running bool) {
	p.mu.Lock()
	frame := p.model.frame(p.width, p.height, time.Now())
	bytes := p.painter.paint(frame)
	running = p.model.running() > 0
	p.mu.Unlock()
	if bytes != "" {
		p.out.Draw(bytes)
	}
	return running
}

// measure reads the size of the terminal, which is then drawn from scratch.
func (p *Panes) measure() {
	width, height, err := term.GetSize(int(p.o.Terminal.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		width, height = 80, 24
	}
	p.width, p.height, p.painter = min(width, 1000), min(height, 1000), painter{}
}

// changed requests a redraw.
func (p *Panes) changed() {
	select {
	case p.again <- struct{}{}:
	default:
	}
}

// refresh requests a redraw of the whole terminal, after Ctrl-Z.
func (p *Panes) refresh() {
	select {
	case p.fresh <- struct{}{}:
	default:
	}
}

// Open sets the store that has the logs of cache hits.
func (p *Panes) Open(store cache.Store) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.model.logs.store = store
}

// Live returns false: logs are read from their files.
func (p *Panes) Live() bool { return false }

// Messages returns a writer for text about no single task. The panes show its last line, and all of it on request.
func (p *Panes) Messages() io.Writer { return messages{p} }

type messages struct{ p *Panes }

func (m messages) Write(text []byte) (int, error) {
	m.p.mu.Lock()
	m.p.model.note(string(text))
	m.p.mu.Unlock()
	m.p.changed()
	return len(text), nil
}
