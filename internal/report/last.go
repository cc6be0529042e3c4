package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/run"
)

// slowest is the maximal number of tasks that are listed as the slowest.
const slowest = 8

// taskOfRun is a task of a Run document with its id.
type taskOfRun struct {
	id string
	runTask
}

// tasks lists the tasks of a run in the order of the document.
func (doc *Run) tasks() []taskOfRun {
	var list []taskOfRun
	for _, b := range doc.Bentos {
		for _, d := range b.Dishes {
			for _, t := range d.Tasks {
				list = append(list, taskOfRun{d.Name + ":" + t.Name, t})
			}
		}
	}
	return list
}

// installOfRun is an install of a Run document.
type installOfRun struct {
	id string
	*installed
}

// installs lists the installs of a run in the order of the document.
func (doc *Run) installs() []installOfRun {
	var list []installOfRun
	for _, b := range doc.Bentos {
		for _, d := range b.Dishes {
			if d.Install != nil {
				list = append(list, installOfRun{(&run.Install{Dish: d.Name}).ID(), d.Install})
			}
		}
	}
	return list
}

// Durations returns the durations of the executed tasks, by id.
func (doc *Run) Durations() map[string]time.Duration {
	took := make(map[string]time.Duration)
	for _, t := range doc.tasks() {
		if t.Outcome.Kind != "cache_hit" {
			took[t.id] = milliseconds(t.DurationMS)
		}
	}
	return took
}

// Ran is what a run has about the log of a task.
type Ran struct {
	Outcome string // as in the document
	Log     string // the path of the log, "" if the task has none
	Key     string // in hexadecimal digits, "" if it is unknown
}

// Ran returns the row of a task, and reports whether the run has it.
func (doc *Run) Ran(id string) (Ran, bool) {
	for _, t := range doc.tasks() {
		if t.id == id {
			row := Ran{Outcome: t.Outcome.Kind, Log: t.Log}
			if t.Key != nil {
				row.Key = *t.Key
			}
			return row, true
		}
	}
	return Ran{}, false
}

// IDs returns the ids of the tasks.
func (doc *Run) IDs() (ids []string) {
	for _, t := range doc.tasks() {
		ids = append(ids, t.id)
	}
	return ids
}

// WriteLast prints the summaries of the last runs for people: of the last one, and if that had only hits, of the last
// one that executed tasks.
func WriteLast(w io.Writer, style Style, docs []*Run, now time.Time) {
	for i, doc := range docs {
		if i > 0 {
			fmt.Fprint(w, "\nthe last run that executed tasks:\n")
		}
		doc.writeSummary(w, style, now)
	}
}

func (doc *Run) writeSummary(w io.Writer, style Style, now time.Time) {
	s, first := doc.Summary, ""
	if doc.isIdle() {
		first = "first " // runs of the same hits are not recorded again
	}
	fmt.Fprintf(w, "%s  %s, %s%s ago, took %s\n", doc.Row().state(style), PrintableLine(doc.Command), first, ago(now.Sub(doc.StartedAt)), Seconds(max(time.Millisecond, milliseconds(s.DurationMS))))
	fmt.Fprintf(w, "  %s: %s (%d %%), %d built, %d failed, %d skipped", Count(s.Tasks, "task"), Count(s.Hits, "hit"), 100*s.Hits/max(1, s.Tasks), s.Built, s.Failed, s.Skipped)
	if s.Installs > 0 {
		fmt.Fprintf(w, "; %s", Count(s.Installs, "install"))
	}
	fmt.Fprintln(w)
	doc.writeSlowest(w, style)
	doc.writeCriticalPath(w, style)
	doc.writeFailed(w, style)
	doc.writeWarnings(w, style)
}

// isIdle reports whether the run has neither executed nor restored anything.
func (doc *Run) isIdle() bool {
	return len(doc.installs()) == 0 && !slices.ContainsFunc(doc.tasks(), func(t taskOfRun) bool { return t.StartMS != nil || t.Outcome.Kind != "cache_hit" })
}

func (doc *Run) writeCriticalPath(w io.Writer, style Style) {
	if len(doc.CriticalPath) == 0 {
		return
	}
	var took time.Duration
	for _, t := range doc.tasks() {
		if slices.Contains(doc.CriticalPath, t.id) {
			took += milliseconds(t.DurationMS)
		}
	}
	for _, i := range doc.installs() {
		if slices.Contains(doc.CriticalPath, i.id) {
			took += milliseconds(i.DurationMS)
		}
	}
	fmt.Fprintf(w, "%s  %s\n  %s\n", style.Bold("critical path"), Seconds(took), PrintableLine(strings.Join(doc.CriticalPath, " → ")))
}

func (doc *Run) writeSlowest(w io.Writer, style Style) {
	list := slices.DeleteFunc(doc.tasks(), func(t taskOfRun) bool { return t.DurationMS == 0 || t.Outcome.Kind == "cache_hit" })
	slices.SortStableFunc(list, func(x, y taskOfRun) int { return cmp.Compare(y.DurationMS, x.DurationMS) })
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(w, style.Bold("slowest"))
	for _, t := range list[:min(len(list), slowest)] {
		fmt.Fprintf(w, "  %8s  %s  %s\n", Seconds(milliseconds(t.DurationMS)), PrintableLine(t.id), style.Dim(t.Outcome.Kind))
	}
}

func (doc *Run) writeFailed(w io.Writer, style Style) {
	head := style.Bold("failed") + "\n"
	for _, t := range doc.tasks() {
		if t.Outcome.Kind != "failed" {
			continue
		}
		fmt.Fprintf(w, "%s  %s  %s\n", head, PrintableLine(t.id), Indent(Printable(t.Outcome.Message)))
		head = ""
		WriteFindings(w, style, diagnosticsOf(t.Diagnostics), "    ", "; the log has them all")
		if t.Log != "" {
			fmt.Fprintf(w, "    %s\n", PrintableLine(t.Log))
		}
	}
}

// writeWarnings lists the findings in the output of successful tasks.
func (doc *Run) writeWarnings(w io.Writer, style Style) {
	head := style.Bold("warnings") + "\n"
	for _, t := range doc.tasks() {
		found := Warnings(diagnosticsOf(t.Diagnostics))
		if t.Outcome.Kind != "built" || len(found) == 0 {
			continue
		}
		fmt.Fprintf(w, "%s  %s\n", head, PrintableLine(t.id))
		head = ""
		WriteFindings(w, style, found, "    ", "; bento last "+PrintableLine(t.id)+" prints the log")
	}
}

// Findings are the findings of the tools in the last run.
type Findings struct {
	Schema    string           `json:"schema"`
	Command   string           `json:"command,omitempty"` // the command line of the run
	StartedAt time.Time        `json:"started_at"`
	Entries   []findingsOfTask `json:"entries"` // only tasks that have findings
}

type findingsOfTask struct {
	Task        string    `json:"task"`
	Outcome     string    `json:"outcome" enum:"cache_hit,built,failed,skipped"`
	Log         string    `json:"log,omitempty"`
	Diagnostics []Problem `json:"diagnostics"` // each once
}

// NewFindings makes the document of the findings of a run.
func NewFindings(doc *Run) Findings {
	found := Findings{Schema: Schema("findings"), Command: doc.Command, StartedAt: doc.StartedAt, Entries: []findingsOfTask{}}
	for _, t := range doc.tasks() {
		if len(t.Diagnostics) > 0 {
			found.Entries = append(found.Entries, findingsOfTask{t.id, t.Outcome.Kind, t.Log, ProblemsOf(distinct(diagnosticsOf(t.Diagnostics)))})
		}
	}
	return found
}

// WriteAllFindings prints the findings of a run for people.
func WriteAllFindings(w io.Writer, style Style, doc Findings) {
	if len(doc.Entries) == 0 {
		fmt.Fprintln(w, "the last run has no findings")
	}
	for _, t := range doc.Entries {
		fmt.Fprintf(w, "%s  %s\n", PrintableLine(t.Task), style.Dim(t.Outcome))
		WriteFindings(w, style, diagnosticsOf(t.Diagnostics), "  ", "; bento last --findings --json has them all")
	}
}

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// ago returns a duration in its largest unit, as in "3 hours".
func ago(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if n := int(d / unit.size); n == 1 {
			return "1 " + unit.name
		} else if n > 1 {
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return "less than a second"
}
