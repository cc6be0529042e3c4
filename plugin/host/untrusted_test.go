package host

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/bentobuild/bento/adapters"
)

// forbidden launches a process unless why is set.
type forbidden struct {
	Launcher
	why error
	n   int
}

func (f *forbidden) Launch(ctx context.Context, stderr io.Writer) (*Stream, error) {
	f.n++
	if f.why != nil {
		return nil, f.why
	}
	return f.Launcher.Launch(ctx, stderr)
}

// TestResidentThatMustNotStart: a program that is not trusted is tried once, is not a crash, and starts
// again only after a reload.
func TestResidentThatMustNotStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &forbidden{why: &adapters.Failure{Code: adapters.NotTrusted, Message: "its files have changed"}}
		r, _, _ := reside(t, func(o *ResidentOptions) {
			l.Launcher, o.Launcher, o.Eager = o.Launcher, l, true
		}, greeted((*child).serve))
		synctest.Wait()
		for range 4 {
			_, err := ask(r, "a")
			if code, message := codeOf(err); code != adapters.NotTrusted || message != "its files have changed" {
				t.Fatalf("%v", err)
			}
		}
		if state, f := r.State(); state != Failed || f == nil || l.n != 1 {
			t.Errorf("%s, %v, %d starts", state, f, l.n)
		}
		l.why = nil
		r.Reload()
		if got, err := ask(r, "a"); err != nil {
			t.Errorf("%s, %v", got, err)
		}
	})
}

// TestCommandIsChecked: a check that fails starts nothing.
func TestCommandIsChecked(t *testing.T) {
	t.Parallel()
	no := errors.New("no")
	c := Command{Argv: []string{"/bin/sh", "-c", "exit"}, Check: func() error { return no }}
	if s, err := c.Launch(t.Context(), io.Discard); !errors.Is(err, no) {
		t.Errorf("%v, %v", s, err)
	}
}
