package panes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/ainb"
)

// shown is a terminal that executes the sequences of this package.
type shown struct {
	t    *testing.T
	rows [][]string
}

func newShown(t *testing.T, width, height int) *shown {
	s := &shown{t: t, rows: make([][]string, height)}
	for y := range s.rows {
		s.rows[y] = strings.Split(strings.Repeat(" ", width), "")
	}
	return s
}

// write executes text. It fails for a sequence that steers a terminal in another way.
func (s *shown) write(text string) {
	s.t.Helper()
	x, y := 0, 0
	for whole := text; text != ""; {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(c rune) bool { return c >= '@' && c <= '~' })
			switch params := rest[:end]; rest[end] {
			case 'H':
				fmt.Sscanf(params, "%d;%d", &y, &x)
				x, y = x-1, y-1
			case 'G':
				fmt.Sscanf(params, "%d", &x)
				x--
			case 'K':
				for i := range s.rows[y] {
					s.rows[y][i] = " "
				}
			case 'J', 'm', 'h', 'l':
			default:
				s.t.Fatalf("%q in %q", text[:8], whole)
			}
			text = rest[end+1:]
			continue
		}
		c, n := utf8.DecodeRuneInString(text)
		w := runewidth.RuneWidth(c)
		if c < ' ' || y >= len(s.rows) || x+w > len(s.rows[y]) {
			s.t.Fatalf("%q at %d,%d in %q", c, x, y, whole)
		}
		switch w {
		case 0:
			s.rows[y][x-1] += text[:n]
		case 2:
			s.rows[y][x], s.rows[y][x+1] = text[:n], ""
		default:
			s.rows[y][x] = text[:n]
		}
		x, text = x+w, text[n:]
	}
}

// line returns the text of a row.
func (s *shown) line(y int) string { return strings.TrimRight(strings.Join(s.rows[y], ""), " ") }

func (s *shown) text() string {
	var b strings.Builder
	for y := range s.rows {
		b.WriteString(s.line(y) + "\n")
	}
	return b.String()
}

// watched returns a model of tasks with the logs of a state directory.
func watched(t testing.TB, ids ...string) (m *model, logDir string, tasks []*plan.Task) {
	t.Helper()
	root := t.TempDir()
	logDir = filepath.Join(root, ".bento", action.LogDir)
	if err := os.MkdirAll(logDir, 0o755); err != nil {
		t.Fatal(err)
	}
	made := newModel(report.Style{Color: true}, "build", &logs{dir: state.Open(root)})
	for _, id := range ids {
		name, task, _ := strings.Cut(id, ":")
		tasks = append(tasks, &plan.Task{Dish: &dish.Dish{Name: name, Path: name}, Name: task, Requested: true})
	}
	made.setPlan(tasks)
	return &made, logDir, tasks
}

func write(t testing.TB, dir string, of *plan.Task, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, action.LogName(of.Dish.Name, of.Name, of.Place())), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// end reports a result of a task.
func (m *model) end(of *plan.Task, outcome run.Outcome) {
	m.take(run.TaskFinished{Result: &run.Result{Task: of, Outcome: outcome, Duration: 1200 * time.Millisecond, Message: "exited with status 1"}}, time.Time{})
}

// TestFrames: the terminal shows the tasks beside the log of the chosen one, at the sizes of a small and of a large
// terminal, and only what fits on the smallest ones.
func TestFrames(t *testing.T) {
	t.Parallel()
	m, dir, tasks := watched(t, "web:build", "api:test", "api:dev")
	write(t, dir, tasks[1], "first\n\x1b[31mred\x1b[0m \x1b]0;title\a\x1b[2Jtext\a\u202e\n世界 e\u0301\tx\r\n10%\r50%\r100%\n"+strings.Repeat("long ", 60))
	now := time.Unix(1000, 0)
	m.end(tasks[0], run.Built)
	m.end(tasks[1], run.Failed)
	m.take(run.TaskStarted{Task: tasks[2]}, now.Add(-3*time.Second))
	m.chosen = "api:test"
	for _, c := range []struct{ width, height, at int }{{80, 24, 24}, {200, 60, 24}} {
		s := newShown(t, c.width, c.height)
		s.write(new(painter).paint(m.frame(c.width, c.height, now)))
		for y, want := range map[int]string{
			1: "  running api:dev", 2: "> FAILED  api:test", 3: "  built   web:build",
		} {
			if left, _, _ := strings.Cut(s.line(y), "│"); strings.TrimRight(left, " ") != want {
				t.Errorf("%d columns: row %d is %q, want %q", c.width, y, left, want)
			}
		}
		right := func(y int) string { return strings.TrimRight(strings.Join(s.rows[y][c.at+2:], ""), " ") }
		want := []string{"api:test  FAILED after 1.2s  exited with status 1", "first", "red text\ufffd\ufffd", "世界 e\u0301  x", "100%"}
		for i, line := range want {
			if got := right(1 + i); got != line {
				t.Errorf("%d columns: row %d of the log is %q, want %q", c.width, i, got, line)
			}
		}
		if got := right(6); len(got) < (c.width-26)/2 || !strings.HasPrefix(got, "long long") {
			t.Errorf("%d columns: the long line begins with %q", c.width, got)
		}
		if !strings.HasPrefix(s.line(0), "bento watch build ") || !strings.HasSuffix(s.line(0), "3 tasks, 1 running, 1 failed") || !strings.HasSuffix(s.line(c.height-1), "q quit") {
			t.Errorf("%d columns:\n%s", c.width, s.text())
		}
	}
	for width := range 70 {
		for height := range 6 {
			newShown(t, width+1, height+1).write(new(painter).paint(m.frame(width+1, height+1, now)))
		}
	}
}

// TestPainter: only changed rows are drawn again.
func TestPainter(t *testing.T) {
	t.Parallel()
	m, _, tasks := watched(t, "a:build", "b:build")
	p, s := new(painter), newShown(t, 80, 24)
	s.write(p.paint(m.frame(80, 24, time.Time{})))
	if again := p.paint(m.frame(80, 24, time.Time{})); again != "" {
		t.Errorf("nothing has changed: %q", again)
	}
	m.end(tasks[1], run.Built)
	change := p.paint(m.frame(80, 24, time.Time{}))
	if s.write(change); strings.Count(change, "\x1b[2K") != 1 || !strings.HasPrefix(s.line(2), "  built   b:build") {
		t.Errorf("%q\n%s", change, s.text())
	}
}

// TestNoColour: without colours the panes have no attributes at all.
func TestNoColour(t *testing.T) {
	t.Parallel()
	m, dir, tasks := watched(t, "a:build")
	m.style = report.Style{}
	write(t, dir, tasks[0], "\x1b[31mred\x1b[0m")
	m.end(tasks[0], run.Failed)
	for _, r := range m.frame(80, 24, time.Time{}) {
		if strings.Contains(r.left+r.right, "\x1b") {
			t.Errorf("%q", r.left+r.right)
		}
	}
}

// press types keys, by their names or characters.
func press(p *Panes, keys ...string) {
	for _, k := range keys {
		code := ainb.KeyCode{Type: k}
		if utf8.RuneCountInString(k) == 1 {
			code = ainb.KeyCode{Type: "char", Ch: k}
		}
		if do := p.key(ainb.Key{Code: code}); do != nil {
			do()
		}
	}
}

// TestKeys: keys choose and filter tasks, scroll logs, and run tasks again.
func TestKeys(t *testing.T) {
	t.Parallel()
	var ids []string
	for i := range 1000 {
		ids = append(ids, fmt.Sprintf("d%03d:build", i))
	}
	m, dir, tasks := watched(t, ids...)
	var long strings.Builder
	for i := range 100 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	write(t, dir, tasks[999], long.String())
	var did []string
	do := func(what string) func() { return func() { did = append(did, what) } }
	p := &Panes{model: *m, o: Options{Rerun: func(id string) { did = append(did, "r "+id) }, RerunAll: do("R"), RerunFailed: do("f"), Quit: do("q")}}
	m = &p.model
	screen := func() *shown {
		s := newShown(t, 80, 24)
		s.write(new(painter).paint(m.frame(80, 24, time.Time{})))
		return s
	}
	has := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			if all := screen().text(); !strings.Contains(all, text) {
				t.Errorf("the screen lacks %q:\n%s", text, all)
			}
		}
	}
	has("> waiting d000:build")
	press(p, "up", "j", "down", "r")
	has("  waiting d001:build", "> waiting d002:build")
	for range 1000 {
		press(p, "j")
	}
	m.end(tasks[999], run.Failed)
	has("> FAILED  d999:build", "d979:build", "line 99\n")
	press(p, "page_up")
	has("line 79\n", "19 lines below, End shows them  d999:build")
	write(t, dir, tasks[999], long.String()+"more\n")
	has("line 79\n") // a log that was scrolled stays
	press(p, "G")
	has("│ more\n")
	press(p, "enter", "g")
	has("\nline 0\n")
	press(p, "down", "j", "k")
	has("\nline 1\n")
	press(p, "enter", "/", "0", "1", "Q", "backspace")
	has("/01_", "> waiting d001:build", "  waiting d301:build")
	press(p, "enter", "r", "/", "x", "enter")
	has("  no task", "/01x  Esc")
	press(p, "r", "esc", "?")
	has("restart the server", "any key goes back")
	press(p, "j", "R", "f")
	m.note("bento: warning: \x1b[31mred\x1b[0m\nthe end\n")
	has("\nthe end\n")
	press(p, "m")
	has("bento: warning: red")
	press(p, "m", "q")
	has("ending the tasks")
	if got, want := strings.Join(did, ", "), "r d002:build, r d001:build, R, f, q"; got != want {
		t.Errorf("keys did %q, want %q", got, want)
	}
}

// TestLongLog: of a log of megabytes, the end is read.
func TestLongLog(t *testing.T) {
	t.Parallel()
	m, dir, tasks := watched(t, "a:build")
	m.end(tasks[0], run.Built)
	write(t, dir, tasks[0], strings.Repeat("a line of a long log\n", 200_000)+"the end")
	rows := m.logs.text(m.tasks[0], 80, false)
	if len(rows) > maxLog/20 || rows[len(rows)-1] != "the end" || !strings.HasPrefix(rows[0], "… the log has more") {
		t.Errorf("%d rows, from %q to %q", len(rows), rows[0], rows[len(rows)-1])
	}
	write(t, dir, tasks[0], strings.Repeat("x", 3<<20)) // one line
	if rows = m.logs.text(m.tasks[0], 80, false); len(rows) > maxLog/80+1 {
		t.Errorf("%d rows", len(rows))
	}
	write(t, dir, tasks[0], "e"+strings.Repeat("\u0301", 100_000))
	if rows = m.logs.text(m.tasks[0], 80, false); len(rows) != 1 || len(rows[0]) > 40 {
		t.Errorf("%d rows of %d bytes", len(rows), len(rows[0]))
	}
}

// FuzzText: the rows of any log are text that fits, and so is any frame with it.
func FuzzText(f *testing.F) {
	f.Add("a\x1b[31mb\x1b]0;x\a世界\te\u0301\r\n\x9b2J", 7)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = 1 + width&0xff
		for _, line := range linesOf(text) {
			for _, row := range wrap(line, width) {
				if n := runewidth.StringWidth(row); n > width {
					t.Errorf("%q has %d columns, more than %d", row, n, width)
				}
				if strings.ContainsFunc(row, func(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 }) {
					t.Errorf("%q", row)
				}
			}
		}
		m, _, _ := watched(t, "a:"+strings.ToValidUTF8(text, "x"))
		m.style = report.Style{}
		m.note(text)
		m.saying = true
		newShown(t, width, 10).write(new(painter).paint(m.frame(width, 10, time.Time{})))
	})
}
