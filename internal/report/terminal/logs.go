package terminal

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

// failure writes the error of a failed task, its output unless that was shown before, and the findings that the shown
// output lacks.
func (l *Lines) failure(r *run.Result) {
	fmt.Fprintf(l.Err, "bento: %s %s: %s\n", r.Task.ID(), l.Style.Red("failed"), report.Indent(report.Printable(r.Message)))
	if r.Failure != nil {
		report.WriteFailure(l.Err, r.Failure)
	}
	findings := r.Diagnostics
	var told []diagnostics.Diagnostic
	switch {
	case l.Mode == Quiet && len(findings) > 0:
	case len(findings) > 0:
		told, findings = l.groupEnd(r)
	case l.Mode != Full && !l.streams(r.Task):
		l.group(r, 0)
	}
	more := ""
	if r.LogPath != "" {
		more = "; the log has them all"
	}
	report.WriteFindings(l.Err, l.Style, findings, "bento:   ", more)
	report.WritePlaces(l.Err, l.Style, told, "bento:   at ")
	if r.LogPath != "" {
		fmt.Fprintf(l.Err, "bento:   log: %s\n", report.Printable(r.LogPath))
	}
	if owners := r.Task.Dish.Owners(); len(owners) > 0 {
		fmt.Fprintf(l.Err, "bento:   owners: %s\n", report.PrintableLine(strings.Join(owners, " ")))
	}
}

// group replays a log from a byte on. For GitHub Actions, it makes a group that can be folded.
func (l *Lines) group(r *run.Result, from int) {
	if l.GitHub {
		fmt.Fprintf(l.Out, "::group::%s\n", report.PrintableLine(r.Task.ID()))
		defer fmt.Fprintln(l.Out, "::endgroup::")
	}
	l.replay(r, from)
}

// groupEnd replays the end of a log, unless it was shown before. It divides the findings: the output tells
// a reader all but the place of told.
func (l *Lines) groupEnd(r *run.Result) (told, untold []diagnostics.Diagnostic) {
	var m mark
	if err := r.ReplayLog(l.Store, m.note); err != nil {
		l.lacks(r.Task.ID(), err)
		return nil, r.Diagnostics
	}
	from, before := m.start()
	if l.Mode != Full && !l.streams(r.Task) {
		if from > 0 {
			fmt.Fprintf(l.Err, "bento:   the last lines; the log has %s more before them\n", report.Count(before, "line"))
		}
		l.group(r, from)
	}
	var end bytes.Buffer
	_ = l.replayFrom(r, from, func(_ action.Stream, p []byte) { end.Write(p) }) // what is missing has no findings
	return divide(r.Diagnostics, end.String(), l.Style)
}

// The bounds of groupEnd.
const (
	maxEndLines = 100
	maxEndBytes = MaxShown
)

// mark finds where the last lines of a log begin.
type mark struct {
	size   int
	lines  int                  // the begun lines, including the empty one after the last line end
	starts [maxEndLines + 1]int // the starts of the last lines: that of line i is at i modulo the length
}

func (m *mark) note(_ action.Stream, p []byte) {
	if m.size == 0 {
		m.begin(0)
	}
	for i, c := range p {
		if c == '\n' {
			m.begin(m.size + i + 1)
		}
	}
	m.size += len(p)
}

func (m *mark) begin(at int) {
	m.starts[m.lines%len(m.starts)] = at
	m.lines++
}

// start returns the byte at which the last lines begin, and the number of lines before it.
func (m *mark) start() (from, before int) {
	if m.lines == 0 {
		return 0, 0
	}
	at := func(line int) int { return m.starts[line%len(m.starts)] }
	lines := m.lines
	if at(lines-1) == m.size {
		lines--
	}
	for before = max(0, lines-maxEndLines); before < lines-1 && m.size-at(before) > maxEndBytes; {
		before++
	}
	return max(at(before), m.size-maxEndBytes), before
}

// replay writes the log of a task from a byte on, each stream to its own writer.
func (l *Lines) replay(r *run.Result, from int) {
	end := byte('\n')
	out, errs := l.shown(action.Stdout), l.shown(action.Stderr)
	err := l.replayFrom(r, from, func(s action.Stream, p []byte) {
		end = p[len(p)-1]
		w := out
		if s == action.Stderr {
			w = errs
		}
		w.Write(p) //nolint:errcheck // there is no other stream for the error
	})
	out.Close()
	errs.Close()
	if end != '\n' {
		fmt.Fprintln(l.Out)
	}
	l.lacks(r.Task.ID(), err)
}

// replayFrom calls emit with the pieces of the log of a task from a byte on; none is empty.
func (l *Lines) replayFrom(r *run.Result, from int, emit func(action.Stream, []byte)) error {
	return r.ReplayLog(l.Store, func(s action.Stream, p []byte) {
		skip := min(from, len(p))
		if from, p = from-skip, p[skip:]; len(p) > 0 {
			emit(s, p)
		}
	})
}

// MaxShown is the maximal size in bytes of the part of a log that Log and LogEnd show.
const MaxShown = 64 << 10

// Log writes the end of the output of a task, and the path of the whole log.
func (l *Lines) Log(r *run.Result) {
	var tail []byte
	err := r.ReplayLog(l.Store, func(_ action.Stream, p []byte) {
		tail = append(tail, p...)
		if over := len(tail) - MaxShown; over > 0 {
			tail = append(tail[:0], tail[over:]...)
		}
	})
	l.LogEnd(r.Task.ID(), r.LogPath, tail)
	l.lacks(r.Task.ID(), err)
}

// LogEnd writes the end of the output of a task, at most MaxShown bytes, and the path of the whole log if there is one.
func (l *Lines) LogEnd(id, path string, end []byte) {
	if i := bytes.IndexByte(end, '\n'); len(end) == MaxShown && i >= 0 {
		end = end[i+1:]
	}
	head := "the log of " + id
	switch {
	case len(end) == 0:
		head = id + " printed nothing"
	case path != "":
		head += ": " + path
	}
	fmt.Fprintf(l.Err, "bento: %s\n", report.Printable(head))
	out := l.shown(action.Stdout)
	out.Write(end) //nolint:errcheck // there is no other stream for the error
	out.Close()
	if len(end) > 0 && end[len(end)-1] != '\n' {
		fmt.Fprintln(l.Out)
	}
}

// lacks prints the error of a log that cannot be shown, if there is one.
func (l *Lines) lacks(id string, err error) {
	if err != nil {
		fmt.Fprintf(l.Err, "bento: the log of %s cannot be shown: %v\n", id, err)
	}
}
