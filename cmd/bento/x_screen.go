package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bentobuild/bento/internal/screen"
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
	_, plain := s.environ.Lookup("NO_COLOR")
	return screen.Show(ctx, set, screen.ViewOptions{ID: id, Keys: s.files[0], Terminal: s.files[2], Out: s.err, Plain: plain || !s.wantsColor()})
}
