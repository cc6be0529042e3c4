// Package terminal prints the progress and results of a run for people, on a terminal or in a log.
package terminal

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

// Mode is the amount of task output that is shown.
type Mode string

// The modes of --output.
const (
	Grouped Mode = "grouped" // the default: one line for each task, the output of failures
	Stream  Mode = "stream"  // every line as it comes, its task in front
	Quiet   Mode = "quiet"   // failures only
	Full    Mode = "full"    // the whole output of every task when it ends, cache hits included
)

// Modes lists the modes.
func Modes() []string { return []string{string(Grouped), string(Stream), string(Quiet), string(Full)} }

// Lines is a run.Reporter that writes plain lines. It writes the status and the stdout of tasks to Out, and the
// rest to Err.
type Lines struct {
	Out, Err io.Writer
	Mode     Mode
	Style    report.Style
	Store    cache.Store // where the logs of hits are
	Verbose  bool
	Tools    bool // shows what the tools of installs print
	GitHub   bool // Out is read by GitHub Actions
	// OutTerminal and ErrTerminal say that Out or Err is a terminal: there, the output of a task can only
	// show text.
	OutTerminal, ErrTerminal bool
	// News leaves out the hits of tasks whose key has not changed since they were last
	// printed, for several runs.
	News bool
	// Brief leaves out hits and the totals: it is for the run of one server during other runs.
	Brief bool
	// Few shows the output of the requested tasks as it comes, if the run has at most Few of them.
	Few int

	width   int          // of the longest task id
	hits    []*plan.Task // those that writeHits has not written yet
	partial map[source]*bytes.Buffer
	failed  []*run.Result
	unbegun unbegun
	few     int                  // the number of requested tasks whose output is shown as it comes
	raw     [2]io.WriteCloser    // stdout, stderr: the output of the only one of them
	printed map[string]cache.Key // of News, by task
	open    [2]bool              // stdout, stderr: the last forwarded output ended within a line
}

// source is one stream of one task.
type source struct {
	id     string
	stream action.Stream
}

// Reporter reports a run to people.
type Reporter interface {
	run.Reporter
	// Open sets the store that has the logs of cache hits.
	Open(cache.Store)
	// Live reports whether the reporter needs run.TaskOutput events.
	Live() bool
}

// Open sets the store that has the logs of cache hits.
func (l *Lines) Open(store cache.Store) { l.Store = store }

// Live reports whether the reporter needs run.TaskOutput events.
func (l *Lines) Live() bool { return l.Mode == Stream || l.Few > 0 }

// Report renders one event.
func (l *Lines) Report(ev run.Event) {
	if l.speaks(ev) {
		l.endLines()
	}
	switch ev := ev.(type) {
	case run.Started:
		l.begin(ev.Plan)
	case run.InstallStarted:
		l.status("install", l.Style.Dim, ev.Install.Dish, ev.Install.Command+" ("+ev.Install.Reason+")")
	case run.InstallLog:
		l.installLog(ev)
	case run.InstallFinished:
		l.installed(ev.Install)
	case run.TaskStarted:
		if ev.Terminal || ev.Task.Persistent { // it may last
			l.writeHits()
		}
		if ev.Terminal {
			l.status("terminal", l.Style.Dim, ev.Task.ID(), "has it until it ends")
		}
	case run.TaskOutput:
		switch {
		case l.isRaw(ev.Task):
			l.rawOutput(ev)
		case l.streams(ev.Task):
			l.output(ev)
		}
	case run.TaskFinished:
		l.finished(ev.Result)
	case run.Warned:
		report.WriteProblems(l.Err, l.Style, ev.Diagnostics)
	case run.Finished:
		l.writeHits()
		l.writeUnbegun()
		l.summary(ev.Report)
	}
}

// begin prepares the report of a run.
func (l *Lines) begin(p *plan.Plan) {
	l.failed, l.few = nil, 0
	for _, t := range p.Tasks {
		l.width = max(l.width, min(len(t.ID()), 40))
		if t.Requested {
			l.few++
		}
	}
	if l.few > l.Few {
		l.few = 0
	}
}

// streams reports whether the output of a task is shown at once. A server has no end to wait for.
func (l *Lines) streams(t *plan.Task) bool {
	return l.Mode == Stream || t.Persistent && l.Mode != Quiet || t.Requested && l.few > 0
}

// Restart prints that a server starts again, and the reason.
func (l *Lines) Restart(id, why string) {
	l.status("restart", l.Style.Yellow, id+":", report.PrintableLine(why))
}

// stopped prints that bento has ended a server.
func (l *Lines) stopped(r *run.Result) {
	if l.Mode == Quiet {
		return
	}
	rest := "after " + lasted(r.Duration)
	if r.Killed != "" {
		rest += ", " + r.Killed
	}
	if r.LogPath != "" {
		rest += "; log: " + r.LogPath
	}
	l.status("stopped", l.Style.Dim, r.Task.ID(), rest)
}

// lasted writes a duration in whole seconds, and a shorter one in milliseconds.
func lasted(d time.Duration) string {
	if d < time.Second {
		return report.Seconds(max(d, time.Millisecond))
	}
	return elapsed(d)
}

// status writes one line about a task or an install.
func (l *Lines) status(word string, paint func(string) string, id, rest string) {
	io.WriteString(l.Out, l.line(word, paint, id, rest)) //nolint:errcheck // there is no other stream for the error
}

func (l *Lines) line(word string, paint func(string) string, id, rest string) string {
	line := paint(fmt.Sprintf("%-9s", word)) + " " + fmt.Sprintf("%-*s", l.width, report.Printable(id))
	if rest != "" {
		line += "  " + report.Printable(rest)
	}
	if line = strings.TrimRight(line, " "); l.OutTerminal {
		line = l.Style.Line(line)
	}
	return line + "\n"
}

func (l *Lines) finished(r *run.Result) {
	l.flush(r.Task)
	switch {
	case r.Stopped:
		l.stopped(r)
		return
	case l.News && l.isOld(r), l.Brief && r.Outcome == run.CacheHit, l.unbegunToo(r):
		return
	}
	switch r.Outcome {
	case run.CacheHit:
		if l.Mode == Grouped && !l.Verbose {
			l.hits = append(l.hits, r.Task)
			return
		}
		l.quietStatus("hit", l.Style.Dim, r, "")
	case run.Built:
		rest := report.Seconds(r.Duration)
		if r.Flaky {
			rest += fmt.Sprintf("  flaky: %d attempts", r.Attempts)
		}
		if r.Place != "" {
			rest += "  on a worker"
		}
		l.quietStatus("built", l.Style.Green, r, rest)
	case run.Failed:
		l.failed = append(l.failed, r)
		l.status("FAILED", l.Style.Red, r.Task.ID(), strings.TrimSpace(firstLine(r.Message)+"  "+report.Seconds(r.Duration)))
	case run.Skipped:
		if r.Reason == run.ReasonToolMissing && l.Mode != Full {
			return // a warning has named the reason for all of them
		}
		why := r.Reason
		if why == run.ReasonDependencyFailed {
			why = firstLine(r.Message)
		}
		if r.Killed != "" {
			why += ", " + r.Killed
		}
		l.quietStatus("skipped", l.Style.Yellow, r, why)
	}
	if l.Mode == Full && !l.streams(r.Task) {
		l.replay(r, 0)
	}
}

// isOld reports whether a result is a hit whose key was printed before.
func (l *Lines) isOld(r *run.Result) bool {
	id := r.Task.ID()
	key, printed := l.printed[id]
	switch {
	case r.Outcome == run.CacheHit && printed && key == r.Key:
		return true
	case l.printed == nil:
		l.printed = make(map[string]cache.Key)
	}
	if delete(l.printed, id); r.Outcome == run.CacheHit || r.Outcome == run.Built {
		l.printed[id] = r.Key
	}
	return false
}

func (l *Lines) quietStatus(word string, paint func(string) string, r *run.Result, rest string) {
	if l.Mode != Quiet {
		l.status(word, paint, r.Task.ID(), rest)
	}
	if l.Mode == Stream && r.Outcome == run.CacheHit {
		l.lacks(r.Task.ID(), r.ReplayLog(l.Store, func(s action.Stream, p []byte) { l.output(run.TaskOutput{Task: r.Task, Stream: s, Data: p}) }))
		l.flush(r.Task)
	}
}

func (l *Lines) stream(s action.Stream) io.Writer {
	if s == action.Stderr {
		return l.Err
	}
	return l.Out
}

// shown returns the writer for the output of a task. For a terminal, the writer removes control sequences.
func (l *Lines) shown(s action.Stream) io.WriteCloser {
	if s == action.Stderr && l.ErrTerminal || s != action.Stderr && l.OutTerminal {
		return &Safe{W: l.stream(s)}
	}
	return verbatim{l.stream(s)}
}

type verbatim struct{ io.Writer }

func (verbatim) Close() error { return nil }

// maxPartial bounds a line that does not end, in bytes.
const maxPartial = 64 << 10

// output writes the complete lines of the output of a task, with its name in front.
func (l *Lines) output(ev run.TaskOutput) {
	if l.partial == nil {
		l.partial = make(map[source]*bytes.Buffer)
	}
	at := source{ev.Task.ID(), ev.Stream}
	buf := l.partial[at]
	if buf == nil {
		buf = new(bytes.Buffer)
		l.partial[at] = buf
	}
	buf.Write(ev.Data)
	var out bytes.Buffer // one write, however many lines
	for prefix := l.prefix(at); ; {
		i := bytes.IndexByte(buf.Bytes(), '\n')
		if i < 0 && buf.Len() < maxPartial {
			break
		}
		if i < 0 {
			i = buf.Len() - 1
		}
		l.prefixed(&out, at, prefix, buf.Next(i+1))
	}
	if out.Len() > 0 {
		l.stream(at.stream).Write(out.Bytes()) //nolint:errcheck // there is no other stream for the error
	}
}

func (l *Lines) prefix(at source) string {
	return l.Style.Name(at.id, fmt.Sprintf("%-*s |", l.width, at.id)) + " "
}

func (l *Lines) prefixed(out *bytes.Buffer, at source, prefix string, line []byte) {
	out.WriteString(prefix)
	line = bytes.TrimRight(line, "\r\n")
	if _, whole := l.shown(at.stream).(verbatim); whole {
		out.Write(line)
	} else {
		s := &Safe{W: out}
		s.Write(line) //nolint:errcheck // a buffer
		s.Close()
	}
	out.WriteByte('\n')
}

// flush writes the incomplete lines of a task.
func (l *Lines) flush(t *plan.Task) {
	if l.isRaw(t) {
		l.endRaw()
	}
	id := t.ID()
	for _, s := range []action.Stream{action.Stdout, action.Stderr} {
		at := source{id, s}
		if buf := l.partial[at]; buf != nil && buf.Len() > 0 {
			var out bytes.Buffer
			l.prefixed(&out, at, l.prefix(at), buf.Bytes())
			l.stream(s).Write(out.Bytes()) //nolint:errcheck // there is no other stream for the error
		}
		delete(l.partial, at)
	}
}

// saidOnce reports whether a message for several tasks has the error of a failed task: then the line of the task
// names only the reason.
func saidOnce(f *run.Result, r *run.Report) bool {
	failed := func(i *run.Install) bool { return i.Err != nil }
	return f.Reason == run.ReasonToolMissing || f.Reason == run.ReasonInstallFailed && slices.ContainsFunc(r.Installs, failed)
}

// summary writes the output of failed tasks, and the totals.
func (l *Lines) summary(r *run.Report) {
	for _, f := range l.failed {
		if !saidOnce(f, r) {
			l.failure(f)
		}
	}
	for _, i := range r.Installs {
		if i.Err != nil {
			l.installFailure(i)
		}
	}
	word := l.Style.Green("done")
	switch {
	case r.Interrupted:
		word = l.Style.Yellow("interrupted")
	case r.Count(run.Failed) > 0:
		word = l.Style.Red("failed")
	}
	if l.Brief {
		return
	}
	if len(r.Results) == 0 && !r.Interrupted {
		fmt.Fprintf(l.Out, "%s  nothing to do\n", word)
		return
	}
	fmt.Fprintf(l.Out, "%s  %s: %s  %s\n", word, report.Count(len(r.Results), "task"), totals(r), report.Seconds(r.Duration))
	for _, line := range []string{report.RemoteLine(r), report.ExecutionLine(r)} {
		if line != "" {
			fmt.Fprintln(l.Out, line)
		}
	}
}

// totals counts the outcomes of the tasks of a run. A server that bento ended is not counted as skipped.
func totals(r *run.Report) string {
	var built, skipped, stopped int
	for _, res := range r.Results {
		switch {
		case res.Stopped:
			stopped++
		case res.Outcome == run.Built:
			built++
		case res.Outcome == run.Skipped:
			skipped++
		}
	}
	text := fmt.Sprintf("%s, %d built, %d failed, %d skipped", report.Count(r.Count(run.CacheHit), "hit"), built, r.Count(run.Failed), skipped)
	if stopped > 0 {
		text += fmt.Sprintf(", %d stopped", stopped)
	}
	if n := warnings(r); n > 0 {
		text += ", " + report.Count(n, "warning")
	}
	return text
}

// warnings counts the findings in the output of successful tasks.
func warnings(r *run.Report) (n int) {
	for _, res := range r.Results {
		if res.Outcome == run.Built {
			n += len(report.Warnings(res.Diagnostics))
		}
	}
	return n
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
