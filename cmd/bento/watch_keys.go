package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/screen"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/watch"
)

// keyedCommand is the command by which bento starts itself to read keys. See rerun.
const keyedCommand = "__keyed"

// takesKeys reports whether a user at a terminal can press keys and sees what they do.
func (s *session) takesKeys() bool {
	_, ci := s.environ.Lookup("CI")
	return s.files[0] != nil && s.columns != nil && !ci && s.environ.Get("TERM") != "dumb" && proc.OwnsTerminal(s.files[0])
}

// rerun runs the same command line in a child process that has the terminal and changes its mode. This
// process waits, to restore the mode however the child ends, even if it is killed.
func (s *session) rerun(ctx context.Context) error {
	path, err := os.Executable()
	if err != nil {
		return err
	}
	res, err := proc.Run(ctx, proc.Spec{
		Program: path, Argv: append([]string{os.Args[0], keyedCommand}, os.Args[1:]...), Env: os.Environ(),
		Stdin: s.files[0], Stdout: s.files[1], Stderr: s.files[2], Terminal: s.files[0], Grace: endGrace,
	})
	s.outcome = max(0, res.ExitCode)
	return err
}

// endGrace is the time that bento watch has to end its tasks, each with its own grace, and itself. A second signal
// cuts it.
const endGrace = 10 * time.Minute

// press runs the actions of the typed keys. It ignores escape sequences, such as of arrow keys.
func (w *watching) press(typed []byte) {
	sequences := regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|O.|.)?`)
	for _, key := range sequences.ReplaceAll(typed, nil) {
		switch key {
		case '\r', '\n':
			w.loop.Request(watch.RunAll)
		case 'f':
			w.loop.Request(watch.RunFailed)
		case 'l':
			w.showLast()
		case 'q', 4: // Ctrl-D
			w.quit.Store(true)
			w.end()
		}
	}
}

// showLast prints the log of the last task, or of the server that has started last.
func (w *watching) showLast() {
	switch ended, serving := w.loop.Latest(); {
	case ended != nil:
		w.s.lines().Log(ended)
	case serving != nil:
		w.showServing(serving)
	default:
		fmt.Fprintln(w.s.err, "bento: no task has ended yet")
	}
}

// showServing prints the end of the log of a running server.
func (w *watching) showServing(t *plan.Task) {
	root, _, err := w.s.root()
	if err != nil {
		return // bento watch has found it
	}
	dir, name := state.Open(root), action.LogDir+"/"+action.LogName(t.Dish.Name, t.Name, t.Place())
	var end []byte
	if f, err := dir.OpenFile(name); err == nil { // else it has printed nothing yet
		if fi, err := f.Stat(); err == nil {
			_, _ = f.Seek(max(0, fi.Size()-terminal.MaxShown), io.SeekStart)
			end, _ = io.ReadAll(io.LimitReader(f, terminal.MaxShown))
		}
		f.Close()
	}
	w.s.lines().LogEnd(t.ID(), dir.Shown(name), end)
}

// openKeys reads keys until the returned function is called.
func (w *watching) openKeys() (closeKeys func()) {
	if w.panes != nil || !w.s.keyed || !w.s.takesKeys() {
		return func() {}
	}
	pause, resume := func() {}, func() {}
	if live := w.reporting.live; live != nil {
		pause, resume = live.Screen.Pause, live.Screen.Resume
	}
	k, err := screen.OpenKeyboard(w.s.files[0], w.press, pause, resume)
	if err != nil {
		w.s.warn("keys_unread", "the terminal passes on no keys: "+err.Error(), "Ctrl-C ends bento watch")
		return func() {}
	}
	w.keyed = true
	return k.Close
}

// rest shows that bento waits for changes: in the block of a live terminal, else in a line.
func (w *watching) rest(ran bool, state func() watch.State) {
	if live := w.reporting.live; live != nil {
		live.Rest(func() []string { return w.resting(state()) })
		return
	}
	if ran && w.panes == nil {
		keys := "Ctrl-C ends it"
		if w.keyed {
			keys = keysHelp
		}
		fmt.Fprintln(w.s.err, w.s.style.Dim("bento: watching; "+keys))
	}
}

// The help for keys, for wide and narrow terminals.
const (
	keysHelp  = "Enter runs all again, f what failed, l shows the last log, q ends"
	keysShort = "Enter f l q"
)

// resting returns the lines of the block while bento waits.
func (w *watching) resting(now watch.State) []string {
	state := "  waiting for changes, " + report.Count(now.Tasks, "task")
	switch {
	case now.Broken:
		state = "  waiting for the errors to be corrected"
	case now.Failed > 0:
		state += ", " + w.s.style.Red(fmt.Sprintf("%d failed", now.Failed))
	}
	if now.Servers > 0 {
		state += ", " + report.Count(now.Servers, "server") + " running"
	}
	if !w.keyed {
		return []string{state}
	}
	help := keysHelp
	if w.s.columns() < len(keysHelp)+3 {
		help = keysShort
	}
	return []string{state, "  " + w.s.style.Dim(help)}
}
