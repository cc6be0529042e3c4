package panes

import (
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// maxLog bounds the read part of a log, in bytes: its end.
const maxLog = 256 << 10

// logs reads the log of one task at a time, and again when it has changed.
type logs struct {
	dir   *state.Dir
	store cache.Store // has the logs of hits

	of    source
	lines []string // the text, a line each
	width int      // of rows
	rows  []string // lines, wrapped
}

// source identifies a state of a log.
type source struct {
	id       string
	result   *run.Result // of a hit, whose log is in the store
	size     int64
	modified time.Time
}

// text reads the log of a task, unless held says that what was read last stays, and returns it in rows of a width.
func (l *logs) text(t *task, width int, held bool) []string {
	if !held || l.of.id != t.ID() {
		l.read(t)
	}
	if l.width != width || l.rows == nil {
		l.width, l.rows = width, []string{}
		for _, line := range l.lines {
			l.rows = append(l.rows, wrap(line, width)...)
		}
	}
	return l.rows
}

// read reads the log of a task if it has changed.
func (l *logs) read(t *task) {
	now := source{id: t.ID()}
	if t.phase == "" && t.result.Outcome == run.CacheHit {
		if now.result = t.result; now != l.of {
			l.set(now, l.cached(t.result))
		}
		return
	}
	f, err := l.dir.OpenFile(action.LogDir + "/" + action.LogName(t.Dish.Name, t.Name, t.Place()))
	if err != nil || t.phase == waiting && t.result == nil {
		if err == nil {
			f.Close()
		}
		l.set(now, nil) // it has printed nothing
		return
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return
	}
	if now.size, now.modified = fi.Size(), fi.ModTime(); now == l.of {
		return
	}
	_, _ = f.Seek(max(0, now.size-maxLog), io.SeekStart)
	data, _ := io.ReadAll(io.LimitReader(f, maxLog)) // what can be read is shown
	l.set(now, cutStart(data, now.size > maxLog))
}

// cached returns the end of the log of a hit.
func (l *logs) cached(r *run.Result) (end []byte) {
	cut := false
	_ = r.ReplayLog(l.store, func(_ action.Stream, p []byte) { // what can be read is shown
		end = append(end, p[max(0, len(p)-maxLog):]...)
		if over := len(end) - maxLog; over > 0 {
			end, cut = append(end[:0], end[over:]...), true
		}
	})
	return cutStart(end, cut)
}

// cutStart removes the rest of a line from the start of a text that was cut.
func cutStart(text []byte, cut bool) []byte {
	if !cut {
		return text
	}
	_, rest, found := strings.Cut(string(text), "\n")
	if !found {
		return text
	}
	return []byte("… the log has more before this\n" + rest)
}

func (l *logs) set(of source, text []byte) {
	l.of, l.lines, l.rows = of, linesOf(string(text)), nil
}

// linesOf returns the lines of an untrusted text, without colours and other sequences for a terminal. A line that was
// overwritten, as progress is, has its last text.
func linesOf(text string) (lines []string) {
	if text = strings.TrimSuffix(diagnostics.Unescaped(text), "\n"); text == "" {
		return nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(line, "\r")
		line = line[strings.LastIndexByte(line, '\r')+1:]
		lines = append(lines, printable(line))
	}
	return lines
}

// printable replaces what would steer a terminal, and puts blanks in place of tabs.
func printable(line string) string {
	var b strings.Builder
	column := 0
	for _, c := range line {
		switch {
		case c == '\t':
			n := 8 - column%8
			b.WriteString(strings.Repeat(" ", n))
			column += n
			continue
		case diagnostics.Unprintable(c):
			c = utf8.RuneError
		}
		b.WriteRune(c)
		column += runewidth.RuneWidth(c)
	}
	return b.String()
}

// maxJoined bounds the characters without a width that follow another one.
const maxJoined = 8

// wrap divides a line into rows of at most width columns. A character without a width stays behind the one before it.
func wrap(line string, width int) (rows []string) {
	var row strings.Builder
	used, joined := 0, 0
	for _, c := range line {
		w := runewidth.RuneWidth(c)
		switch {
		case w == 0 && (used == 0 || joined == maxJoined):
			continue
		case w == 0:
			joined++
		default:
			joined = 0
		}
		if w > width {
			c, w = '?', 1
		}
		if used+w > width {
			rows = append(rows, row.String())
			row.Reset()
			used = 0
		}
		row.WriteRune(c)
		used += w
	}
	return append(rows, row.String())
}
