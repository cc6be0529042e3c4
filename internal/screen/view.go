package screen

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/bentobuild/bento/plugin/ainb"
)

// bento redraws a screen that requests it after redrawPause. It redraws any other screen soon after an input,
// whose effect may be delayed, and then less and less often.
const (
	redrawPause = 100 * time.Millisecond
	leastPause  = 20 * time.Millisecond
	mostPause   = time.Second
)

// Extension draws a screen and receives its inputs.
type Extension interface {
	Render(context.Context, ainb.Viewport) (*ainb.Frame, error)
	Key(screen string, k ainb.Key)
	Mouse(screen string, m ainb.Mouse)
}

// ViewOptions say which screen of an extension is shown, and where.
type ViewOptions struct {
	ID       string    // of the screen
	Keys     *os.File  // the terminal whose keys are read
	Terminal *os.File  // the terminal whose size is that of the screen
	Out      io.Writer // writes to Terminal
	Plain    bool      // without colours
}

// view is a screen that is shown.
type view struct {
	o      ViewOptions
	of     Extension
	out    *Alternate
	shown  Screen
	reader Reader // used only by the goroutine of the keyboard
	inputs chan []Input
	again  chan struct{} // the terminal must be drawn from scratch
	frame  *ainb.Frame   // the last one
}

// Show shows a screen of an extension until q or ctx is done.
func Show(ctx context.Context, of Extension, o ViewOptions) error {
	v := &view{o: o, of: of, out: NewAlternate(o.Out, Enter, Leave), inputs: make(chan []Input, 64), again: make(chan struct{}, 1), shown: Screen{Plain: o.Plain}}
	return v.show(ctx)
}

func (v *view) show(ctx context.Context) error {
	first, err := v.of.Render(ctx, v.size())
	if err != nil {
		return err // before the terminal has changed
	}
	v.out.Enter()
	defer v.out.Leave()
	keys, err := OpenKeyboard(v.o.Keys, v.pressed, v.out.Leave, v.resumed)
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
			v.out.Enter()
			v.shown = Screen{Plain: v.shown.Plain}
		case list := <-v.inputs:
			if v.take(list) {
				return nil
			}
			pause = leastPause
		}
		redraw.Stop()
		frame, err := v.of.Render(ctx, v.size())
		if err != nil {
			return err
		}
		v.draw(frame)
	}
}

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
func (v *view) take(list []Input) (end bool) {
	for _, in := range list {
		switch {
		case in.Mouse != nil:
			v.of.Mouse(v.o.ID, *in.Mouse)
		case in.Key.Code.Ch == "q" && in.Key.Mods == 0 && !v.frame.CapturesText:
			return true
		default:
			v.of.Key(v.o.ID, *in.Key)
		}
	}
	return false
}

func (v *view) draw(f *ainb.Frame) {
	v.frame = f
	v.out.Draw(string(v.shown.Draw(&f.Buffer, v.size())))
}

// size returns the size of the terminal.
func (v *view) size() ainb.Viewport {
	width, height, err := term.GetSize(int(v.o.Terminal.Fd()))
	if err != nil || width <= 0 || height <= 0 || width > 1000 || height > 1000 {
		width, height = 80, 24
	}
	return ainb.Viewport{Width: uint16(width), Height: uint16(height)}
}
