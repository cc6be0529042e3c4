package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/bentobuild/bento/internal/companion"
	"github.com/bentobuild/bento/internal/screen"
	"github.com/bentobuild/bento/plugin/ainb"
)

// bento redraws a screen that requests it after redrawPause. It redraws any other screen soon after an input,
// whose effect may be delayed, and then less and less often.
const (
	redrawPause = 100 * time.Millisecond
	leastPause  = 20 * time.Millisecond
	mostPause   = time.Second
)

// showScreen shows the screen of an extension until q, or Ctrl-C.
func (s *session) showScreen(ctx context.Context, namespace string) error {
	e, open, err := s.serving(ctx, namespace)
	if err != nil {
		return err
	}
	id, ok := e.Screen(namespace)
	if !ok {
		return usageError(fmt.Sprintf("the extension %s has no screen", e.ID), "bento ext info "+e.ID+" lists its screens")
	}
	if !s.takesKeys() {
		return usageError("bento x --screen needs a terminal for its keys and its cells", "run it in a terminal, on Linux")
	}
	if !s.keyed {
		err := s.rerun(ctx)
		_, werr := io.WriteString(s.err, screen.Leave) // leaves the screen of a killed child, too
		return errors.Join(err, werr)
	}
	set := open()
	defer set.Close()
	v := &view{s: s, set: set, id: id, inputs: make(chan []screen.Input, 64), again: make(chan struct{}, 1)}
	_, plain := s.environ.Lookup("NO_COLOR")
	v.shown.Plain = plain || !s.wantsColor()
	return v.show(ctx)
}

// view is a screen that is shown.
type view struct {
	s      *session
	set    *companion.Set
	id     string // of the screen
	shown  screen.Screen
	reader screen.Reader // used only by the goroutine of the keyboard
	inputs chan []screen.Input
	again  chan struct{} // the terminal must be drawn from scratch
	frame  *ainb.Frame   // the last one
}

// show shows the screen until q or ctx is done.
func (v *view) show(ctx context.Context) error {
	first, err := v.set.Render(ctx, v.size())
	if err != nil {
		return err // before the terminal has changed
	}
	v.enter()
	defer v.leave()
	keys, err := openKeyboard(v.s.files[0], v.pressed, v.leave, v.resumed)
	if err != nil {
		return err
	}
	defer keys.Close()
	v.draw(first)
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)
	for pause := leastPause; ; {
		redraw := time.NewTimer(pause)
		pause = min(2*pause, mostPause)
		if v.frame.Redraw {
			pause = redrawPause
		}
		select {
		case <-ctx.Done():
			return nil
		case <-resized:
		case <-redraw.C:
		case <-v.again:
			v.enter()
			v.shown = screen.Screen{Plain: v.shown.Plain}
		case list := <-v.inputs:
			if v.take(list) {
				return nil
			}
			pause = leastPause
		}
		redraw.Stop()
		frame, err := v.set.Render(ctx, v.size())
		if err != nil {
			return err
		}
		v.draw(frame)
	}
}

func (v *view) enter() { io.WriteString(v.s.err, screen.Enter) } //nolint:errcheck // there is no other stream for the error
func (v *view) leave() { io.WriteString(v.s.err, screen.Leave) } //nolint:errcheck // likewise

// resumed requests a redraw of the terminal after Ctrl-Z.
func (v *view) resumed() {
	select {
	case v.again <- struct{}{}:
	default:
	}
}

// pressed receives typed bytes. It drops inputs if the queue is full.
func (v *view) pressed(typed []byte) {
	select {
	case v.inputs <- v.reader.Read(typed):
	default:
	}
}

// take passes inputs on to the extension. It reports whether one of them ends the view: q, unless the
// screen takes text.
func (v *view) take(list []screen.Input) (end bool) {
	for _, in := range list {
		switch {
		case in.Mouse != nil:
			v.set.Mouse(v.id, *in.Mouse)
		case in.Key.Code.Ch == "q" && in.Key.Mods == 0 && !v.frame.CapturesText:
			return true
		default:
			v.set.Key(v.id, *in.Key)
		}
	}
	return false
}

func (v *view) draw(f *ainb.Frame) {
	v.frame = f
	v.s.err.Write(v.shown.Draw(&f.Buffer, v.size())) //nolint:errcheck // there is no other stream for the error
}

// size returns the size of the terminal.
func (v *view) size() ainb.Viewport {
	width, height, err := term.GetSize(int(v.s.files[2].Fd()))
	if err != nil || width <= 0 || height <= 0 || width > 1000 || height > 1000 {
		width, height = 80, 24
	}
	return ainb.Viewport{Width: uint16(width), Height: uint16(height)}
}
