package screen

import (
	"io"
	"sync"
)

// Alternate is the alternate screen of a terminal. It is for several goroutines. Errors of the terminal are dropped:
// there is no other stream for them.
type Alternate struct {
	out          io.Writer
	enter, leave string

	mu    sync.Mutex
	shown bool
}

// NewAlternate returns an alternate screen, not yet shown. enter is written to show it, leave to show what was before.
func NewAlternate(out io.Writer, enter, leave string) *Alternate {
	return &Alternate{out: out, enter: enter, leave: leave}
}

// Enter shows the screen.
func (a *Alternate) Enter() { a.set(true, a.enter) }

// Leave shows what the terminal showed before. It is harmless without Enter.
func (a *Alternate) Leave() { a.set(false, a.leave) }

func (a *Alternate) set(shown bool, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.shown = shown
	io.WriteString(a.out, text) //nolint:errcheck // as said above
}

// Draw writes text if the screen is shown. After Leave, it would go to the user's own screen.
func (a *Alternate) Draw(text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shown {
		io.WriteString(a.out, text) //nolint:errcheck // as said above
	}
}
