package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
)

// keyedCommand is the command by which bento starts itself to read keys. See rerun.
const keyedCommand = "__keyed"

// takesKeys reports whether a user at a terminal can press keys and sees what they do.
func (s *session) takesKeys() bool {
	_, ci := s.environ.Lookup("CI")
	return s.files[0] != nil && s.columns != nil && !ci && s.environ.Get("TERM") != "dumb" && proc.OwnsTerminal(s.files[0])
}

// hasEnded reports whether a server has ended.
func (s *server) hasEnded() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
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

// ask is the request of a key to the next round.
type ask int32

const (
	askNothing ask = iota
	askFailed      // run failed tasks again
	askAll         // run all tasks again
)

// keys has the requests of a user at the terminal to bento watch.
type keys struct {
	asked atomic.Int32  // the pending ask
	wake  chan struct{} // receives for each request
	quit  atomic.Bool
	end   context.CancelFunc

	mu   sync.Mutex
	last *run.Result // the last failed task of the last run, else the task that ended last
}

// take returns the request since the last call.
func (k *keys) take() ask { return ask(k.asked.Swap(int32(askNothing))) }

// pending reports whether a request is pending.
func (k *keys) pending() bool { return ask(k.asked.Load()) != askNothing }

func (k *keys) ask(what ask) {
	if old := k.asked.Load(); ask(old) < what {
		k.asked.CompareAndSwap(old, int32(what))
	}
	k.rouse()
}

// rouse makes the watcher evaluate the workspace now.
func (k *keys) rouse() {
	select {
	case k.wake <- struct{}{}:
	default: // the watcher is already woken
	}
}

// noteLast keeps the result whose log is shown on request.
func (k *keys) noteLast(results []*run.Result) {
	var last *run.Result
	for _, r := range results {
		if !r.Outcome.Executed() {
			continue
		}
		worse, late := r.Outcome == run.Failed, r.Started.Add(r.Duration)
		if last == nil || worse && last.Outcome != run.Failed || worse == (last.Outcome == run.Failed) && late.After(last.Started.Add(last.Duration)) {
			last = r
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = cmp.Or(last, k.last)
}

func (k *keys) lastResult() *run.Result {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// press runs the actions of the typed keys. It ignores escape sequences, such as of arrow keys.
func (w *watching) press(typed []byte) {
	sequences := regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|O.|.)?`)
	for _, key := range sequences.ReplaceAll(typed, nil) {
		switch key {
		case '\r', '\n':
			w.keys.ask(askAll)
		case 'f':
			w.keys.ask(askFailed)
		case 'l':
			w.showLast()
		case 'q', 4: // Ctrl-D
			w.keys.quit.Store(true)
			w.keys.end()
		}
	}
}

// showLast prints the log of the last task.
func (w *watching) showLast() {
	r := w.keys.lastResult()
	if r == nil {
		fmt.Fprintln(w.s.err, "bento: no task has ended yet")
		return
	}
	w.s.lines().Log(r)
}

// openKeys reads keys until the returned function is called.
func (w *watching) openKeys() (closeKeys func()) {
	if !w.s.keyed || !w.s.takesKeys() {
		return func() {}
	}
	pause, resume := func() {}, func() {}
	if live, ok := w.people.(*terminal.Live); ok {
		pause, resume = live.Screen.Pause, live.Screen.Resume
	}
	k, err := openKeyboard(w.s.files[0], w.press, pause, resume)
	if err != nil {
		w.s.warn("keys_unread", "the terminal passes on no keys: "+err.Error(), "Ctrl-C ends bento watch")
		return func() {}
	}
	w.keyed = true
	return k.Close
}

// rest shows that bento waits for changes: in the block of a live terminal, else in a line.
func (w *watching) rest(ctx context.Context) {
	if live, ok := w.people.(*terminal.Live); ok {
		live.Rest(w.resting())
		return
	}
	if w.ran && ctx.Err() == nil {
		keys := "Ctrl-C ends it"
		if w.keyed {
			keys = keysHelp
		}
		fmt.Fprintln(w.s.err, w.s.style.Dim("bento: watching; "+keys))
	}
	w.ran = false
}

// The help for keys, for wide and narrow terminals.
const (
	keysHelp  = "Enter runs all again, f what failed, l shows the last log, q ends"
	keysShort = "Enter f l q"
)

// resting returns the function that returns the lines of the block while bento waits.
func (w *watching) resting() func() []string {
	tasks, failed, broken, servers := w.watched, len(w.bad), w.failed, maps.Clone(w.servers)
	return func() []string {
		running, failed := 0, failed
		for _, s := range servers {
			switch {
			case !s.hasEnded():
				running++
			case s.failed.Load():
				failed++
			}
		}
		state := "  waiting for changes, " + report.Count(tasks, "task")
		switch {
		case broken:
			state = "  waiting for the errors to be corrected"
		case failed > 0:
			state += ", " + w.s.style.Red(fmt.Sprintf("%d failed", failed))
		}
		if running > 0 {
			state += ", " + report.Count(running, "server") + " running"
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
}

// askedFor makes the tasks due that a key requests.
func (w *watching) askedFor(what ask) {
	if what == askNothing {
		return
	}
	found := what == askAll
	for id, s := range w.servers {
		if s.hasEnded() && (what == askAll || s.failed.Load()) {
			w.stopServer(id)
			found = true
		}
	}
	if what == askAll {
		clear(w.last)
	}
	for id := range w.bad {
		delete(w.last, id)
		found = true
	}
	if !found {
		fmt.Fprintln(w.s.err, "bento: no task has failed")
	}
}
