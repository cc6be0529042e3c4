package panes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
)

// A terminal narrower than leastBoth has one pane, the list or the log.
const (
	leastBoth = 60
	leastList = 24
	stateWide = 8 // columns of the state of a task
)

// row is a row of the terminal: text from column 0, and text from another one, unless that is 0.
type row struct {
	left, right string
	at          int
}

// frame returns the rows of a terminal of a size.
func (m *model) frame(width, height int, now time.Time) []row {
	rows := make([]row, 0, height)
	add := func(r row) { rows = append(rows, r) }
	add(row{left: m.head(width)})
	body := max(0, height-3)
	switch {
	case m.help:
		for _, line := range keysPage {
			add(row{left: terminal.Cut(line, width)})
		}
	case m.zoomed:
		for _, line := range m.log(width, body, now) {
			add(row{left: line})
		}
	case width < leastBoth:
		for _, line := range m.list(width, body) {
			add(row{left: line})
		}
	default:
		wide := m.listWidth(width)
		list, log := m.list(wide, body), m.log(width-wide-2, body, now)
		for i := range body {
			add(row{left: list[i], right: m.style.Dim("│") + " " + log[i], at: wide})
		}
	}
	for len(rows) < height-2 {
		add(row{})
	}
	rows = rows[:min(len(rows), max(1, height-2))]
	if height >= 3 {
		add(row{left: m.style.Dim(terminal.Cut(m.lastSaid(), width))})
	}
	if height >= 2 {
		add(row{left: m.foot(width)})
	}
	return rows
}

func (m *model) head(width int) string {
	title, totals := "bento watch "+printable(m.title), m.totals()
	room := width - terminal.Width(totals) - 2
	if room < 12 {
		return strings.Repeat(" ", max(0, width-terminal.Width(totals))) + terminal.Cut(totals, width)
	}
	title = terminal.Cut(title, room)
	return m.style.Bold(title) + strings.Repeat(" ", max(2, width-terminal.Width(title)-terminal.Width(totals))) + totals
}

// foot is the last row: the filter while it is typed, else the keys.
func (m *model) foot(width int) string {
	switch {
	case m.ending:
		return terminal.Cut("ending the tasks; Ctrl-C again kills them", width)
	case m.typing:
		return terminal.Cut("/"+printable(m.filter)+"_  Enter keeps it, Esc shows all", width)
	case m.filter != "":
		return terminal.Cut("/"+printable(m.filter)+"  Esc shows all  "+keysLine, width)
	case m.help:
		return terminal.Cut("any key goes back", width)
	}
	return m.style.Dim(terminal.Cut(keysLine, width))
}

// lastSaid is the last line of the messages.
func (m *model) lastSaid() string {
	lines := linesOf(m.said[max(0, len(m.said)-4<<10):])
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// listWidth returns the columns of the list: as many as the names need, and at most two in five.
func (m *model) listWidth(width int) int {
	longest := 0
	for _, t := range m.tasks {
		longest = max(longest, terminal.Width(t.ID()))
	}
	return max(leastList, min(2+stateWide+longest+1, width*2/5))
}

// list returns n rows of the list, with the chosen task among them.
func (m *model) list(width, n int) []string {
	list := m.listed()
	rows := make([]string, n)
	_, chosen := m.current(list)
	m.top = max(0, min(m.top, chosen, len(list)-n))
	if chosen >= m.top+n {
		m.top = chosen - n + 1
	}
	for i := range rows {
		at := m.top + i
		if at >= len(list) {
			break
		}
		rows[i] = m.listRow(list[at], at == chosen, width)
	}
	if len(list) == 0 && n > 0 {
		rows[0] = terminal.Cut("  no task", width)
	}
	return rows
}

func (m *model) listRow(t *task, chosen bool, width int) string {
	mark := "  "
	if chosen {
		mark = "> "
	}
	word, paint := m.word(t)
	name := terminal.Cut(report.PrintableLine(t.ID()), max(1, width-len(mark)-stateWide-1))
	if chosen {
		name = m.style.Bold(name)
	}
	if width < 2+stateWide+4 {
		return terminal.Cut(mark+name, width)
	}
	return mark + paint(fmt.Sprintf("%-*s", stateWide, word)) + name
}

// log returns n rows: a line about the chosen task, and the end of its log, or the messages.
func (m *model) log(width, n int, now time.Time) []string {
	rows := make([]string, n)
	if n < 2 || width < 1 {
		return rows
	}
	var text []string
	t, _ := m.current(m.listed())
	switch {
	case m.saying:
		rows[0] = m.style.Bold(terminal.Cut("messages of bento", width))
		for _, line := range linesOf(m.said) {
			text = append(text, wrap(line, width)...)
		}
	case t == nil:
		return rows
	default:
		text = m.logs.text(t, width, m.up > 0)
		rows[0] = terminal.Cut(m.about(t, now), width)
	}
	m.page = n - 1
	m.up = max(0, min(m.up, len(text)-m.page))
	if m.up > 0 {
		rows[0] = terminal.Cut(fmt.Sprintf("%d lines below, End shows them  %s", m.up, rows[0]), width)
	}
	end := len(text) - m.up
	copy(rows[1:], text[max(0, end-m.page):end])
	return rows
}

// about is the line about a task above its log.
func (m *model) about(t *task, now time.Time) string {
	word, paint := m.word(t)
	line := m.style.Bold(report.PrintableLine(t.ID())) + "  " + paint(word)
	switch {
	case t.phase == running, t.phase == serving:
		return line + " for " + now.Sub(t.since).Truncate(time.Second).String()
	case t.phase != "":
		return line
	}
	if r := t.result; r.Outcome.Executed() && r.Duration > 0 {
		line += " after " + report.Seconds(r.Duration)
	}
	if r := t.result; r.Outcome == run.Failed || r.Outcome == run.Skipped && !r.Stopped {
		why, _, _ := strings.Cut(r.Message, "\n")
		line += "  " + report.PrintableLine(why)
	}
	return line
}

// painter draws frames of one size. Its zero value knows nothing about the terminal.
type painter struct{ drawn []row }

// paint returns what a terminal has to be sent to show a frame, "" if it shows it already.
func (p *painter) paint(frame []row) string {
	var b strings.Builder
	for y, r := range frame {
		if y < len(p.drawn) && p.drawn[y] == r {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[0m\x1b[2K%s", y+1, r.left)
		if r.at > 0 {
			fmt.Fprintf(&b, "\x1b[0m\x1b[%dG%s", r.at+1, r.right)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	text := "\x1b[?2026h" // terminals that support it show the frame at once
	if p.drawn == nil {
		text += "\x1b[2J"
	}
	p.drawn = slices.Clone(frame)
	return text + b.String() + "\x1b[0m\x1b[?2026l"
}
