package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bentobuild/bento/internal/panes"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/watch"
)

// rerunPanes runs the same command line in a child process that draws on the terminal. This process prints what the
// child has written to stderr, after it has restored the terminal: the child may have been killed, or have crashed.
func (s *session) rerunPanes(ctx context.Context) error {
	if err := s.refusePanes(); err != nil {
		return err
	}
	path, err := os.Executable()
	if err != nil {
		return err
	}
	tty, err := openTerminal()
	if err != nil {
		return err
	}
	defer tty.Close()
	said := new(keptEnd)
	res, err := proc.Run(ctx, proc.Spec{
		Program: path, Argv: append([]string{os.Args[0], keyedCommand}, os.Args[1:]...), Env: os.Environ(),
		Stdin: s.files[0], Stdout: s.files[1], Stderr: said, Terminal: s.files[0], Gentle: true, Grace: endGrace,
	})
	s.outcome = max(0, res.ExitCode)
	_, terr := io.WriteString(tty, panes.Leave)
	_, werr := s.err.Write(said.text)
	return errors.Join(err, terr, werr)
}

// refusePanes returns an error if panes cannot be shown.
func (s *session) refusePanes() error {
	hint := "leave out --ui: bento watch then prints lines"
	switch term := s.environ.Get("TERM"); {
	case s.files[0] == nil || !proc.OwnsTerminal(s.files[0]):
		return usageError("bento watch --ui needs a terminal for its keys and its panes, on Linux", hint)
	case term == "" || term == "dumb":
		return usageError(fmt.Sprintf("bento watch --ui cannot draw on a terminal with TERM=%q", term), hint)
	case s.flags.events == "-" && s.terminal:
		return usageError("bento watch --ui draws where --events - would print", "name a file after --events")
	}
	return nil
}

// openTerminal opens the terminal of this process for writing: each of the standard streams may be another file.
func openTerminal() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }

// keptEnd is a writer that keeps the last maxKeptEnd bytes.
type keptEnd struct{ text []byte }

const maxKeptEnd = 64 << 10

func (w *keptEnd) Write(p []byte) (int, error) {
	w.text = append(w.text, p...)
	if over := len(w.text) - maxKeptEnd; over > 0 {
		w.text = append(w.text[:0], w.text[over:]...)
	}
	return len(p), nil
}

// openPanes shows the panes, to which the session then prints. closePanes ends that, and names the failed tasks.
func (w *watching) openPanes(ctx context.Context, root string) (closePanes func(), err error) {
	s := w.s
	tty, err := openTerminal()
	if err != nil {
		return nil, err
	}
	style := report.Style{Color: s.paintsPanes()}
	w.panes, err = panes.Open(ctx, panes.Options{
		Keys: s.files[0], Terminal: tty, Style: style, Title: strings.Join(w.sel.Tasks, " "), State: state.Open(root),
		Rerun: func(id string) { w.loop.RunTask(id) }, RerunAll: func() { w.loop.Request(watch.RunAll) }, RerunFailed: func() { w.loop.Request(watch.RunFailed) },
		Quit: func() {
			w.quit.Store(true)
			w.end()
		},
	})
	if err != nil {
		return nil, errors.Join(err, tty.Close())
	}
	before := s.process
	s.out, s.err, s.columns, s.terminal = w.panes.Messages(), w.panes.Messages(), nil, false
	s.style = report.Style{Places: s.style.Places}
	return func() {
		w.end()
		w.panes.Close()
		s.process = before
		tty.Close()
		if failed := w.panes.Failed(); len(failed) > 0 {
			fmt.Fprintf(s.err, "bento: %s failed: %s\n", report.Count(len(failed), "task"), report.PrintableLine(strings.Join(failed[:min(len(failed), maxCandidates)], ", ")))
		}
	}, nil
}

// paintsPanes reports whether the panes have colours. Stdout may be another file than their terminal.
func (s *session) paintsPanes() bool {
	_, no := s.environ.Lookup("NO_COLOR")
	return s.flags.color == "always" || s.flags.color == "auto" && !no
}

// restarter shows that servers start again.
func (w *watching) restarter() interface{ Restart(id, why string) } {
	if w.panes != nil {
		return w.panes
	}
	return w.s.lines()
}
