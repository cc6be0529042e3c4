package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run"
)

// Plan is the document of `bento plan`.
type Plan struct {
	Schema   string              `json:"schema"`
	Bentos   []bentoOf[planDish] `json:"bentos"`
	Summary  planSummary         `json:"summary"`
	LeftOut  []dish.LeftOut      `json:"left_out,omitempty"` // directories that have a manifest but are no dishes
	Problems []Problem           `json:"problems,omitempty"`
}

type planDish struct {
	dishHead
	Notes []string `json:"notes,omitempty"` // of its adapter, about its tasks
	// InnerDishes are the dishes inside this one whose files are among the default inputs of its
	// tasks.
	InnerDishes []string   `json:"inner_dishes,omitempty"`
	Tasks       []planTask `json:"tasks"`
	// Scripts of the root of a workspace that have the name of a lifecycle task.
	RootTasks []RootTask `json:"root_tasks,omitempty"`
	// taskless: its adapter has no recipe for it, and its dish.toml no task.
	taskless bool
}

type planTask struct {
	Name       string   `json:"name"`
	Run        string   `json:"run"`
	Key        *string  `json:"key"` // null while it cannot be known
	Status     string   `json:"status" enum:"cache_hit,cache_miss,no_adapter,skipped_diff_clean,skipped_tool_missing"`
	MissReason string   `json:"miss_reason,omitempty"`
	LastFailed string   `json:"last_failure,omitempty"` // the kind of failure of its last execution
	Notes      []string `json:"notes,omitempty"`        // the changes, or the pending dependencies
	DependsOn  []string `json:"depends_on,omitempty"`   // "dish:task"
	Requested  bool     `json:"requested"`
	// NeverStored tasks run each time: their results are not kept in the cache.
	NeverStored bool `json:"never_stored,omitempty"`
	// Place: remote for a task with remote = true or "only" that a worker can execute. Unfit says why none can.
	Place string `json:"place,omitempty" enum:"remote"`
	Unfit string `json:"unfit,omitempty"`
	Held  bool   `json:"held,omitempty"` // it does not run, whether it is up to date or not
}

type planSummary struct {
	Dishes  int `json:"dishes"`
	Tasks   int `json:"tasks"`
	Hits    int `json:"hits"`
	Misses  int `json:"misses"`
	Skipped int `json:"skipped"`
	// NeverStored counts the tasks whose result is never stored.
	NeverStored int `json:"never_stored"`
}

// diffClean is the status of a task that no change since a ref concerns.
const diffClean = "skipped_diff_clean"

// The status of a dish without adapter and tasks, which gets one row of this name.
const (
	noAdapter = "no_adapter"
	noneTask  = "<none>"
)

// AddPlaces adds where tasks are executed that want to be executed elsewhere. unfit returns why a task cannot be, "" if it can.
func (p *Plan) AddPlaces(tasks []*plan.Task, unfit func(*plan.Task) string) {
	places := make(map[string]string) // why not, by id
	for _, t := range tasks {
		if t.Where != dish.PlaceHere {
			places[t.ID()] = unfit(t)
		}
	}
	if len(places) == 0 {
		return
	}
	for _, b := range p.Bentos {
		for _, d := range b.Dishes {
			for i := range d.Tasks {
				t := &d.Tasks[i]
				if why, wants := places[d.Name+":"+t.Name]; wants && why == "" {
					t.Place = run.PlaceRemote
				} else if wants {
					t.Unfit = why
				}
			}
		}
	}
}

// NewPlan makes the document of an evaluated plan.
// clean are requested tasks that no change concerns.
func NewPlan(p *plan.Plan, results []*key.Evaluation, clean []*plan.Task, problems []diagnostics.Diagnostic) Plan {
	doc := Plan{Schema: Schema("plan"), LeftOut: p.Workspace.LeftOut, Problems: ProblemsOf(problems)}
	by := tasksByDish(p)
	left := make(map[*dish.Dish][]planTask)
	pulled := make(map[string]bool) // other tasks need them
	for _, t := range p.Tasks {
		pulled[t.ID()] = true
	}
	for _, t := range clean {
		if pulled[t.ID()] {
			continue
		}
		doc.Summary.Skipped++
		left[t.Dish] = append(left[t.Dish], planTask{Name: t.Name, Run: t.Command(), Status: diffClean, Requested: true})
	}
	dishes := shown(p)
	doc.Summary.Dishes = len(dishes)
	doc.Bentos = byBento(dishes, func(d *dish.Dish) planDish {
		row := planDish{dishHead: headOf(d), Notes: d.Notes, Tasks: []planTask{}, RootTasks: RootTasks(p, d)}
		row.InnerDishes = innerDishes(by[d])
		for _, t := range by[d] {
			row.Tasks = append(row.Tasks, newPlanTask(results[t.Index]))
		}
		row.Tasks = append(row.Tasks, left[d]...)
		if len(row.Tasks) == 0 && d.Adapter == nil && len(p.TasksOf(d)) == 0 {
			row.Tasks = append(row.Tasks, planTask{Name: noneTask, Status: noAdapter})
		}
		row.taskless = len(row.Tasks) == 0 && len(p.TasksOf(d)) == 0
		return row
	})
	for _, e := range results {
		doc.Summary.Tasks++
		if e.IsNeverStored() {
			doc.Summary.NeverStored++
		}
		switch {
		case e.Status == key.Hit:
			doc.Summary.Hits++
		case e.Task.Held, e.Status == key.LeftOut:
			doc.Summary.Skipped++
		default:
			doc.Summary.Misses++
		}
	}
	return doc
}

// innerDishes returns the sorted names of the inner dishes whose files are inputs of tasks of one dish.
func innerDishes(tasks []*plan.Task) []string {
	var names []string
	for _, t := range tasks {
		if len(t.Inner) > len(names) { // tasks with the default inputs have the same inner dishes, others have fewer
			names = names[:0]
			for _, d := range t.Inner {
				names = append(names, d.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func newPlanTask(ev *key.Evaluation) planTask {
	t := ev.Task
	row := planTask{
		Name: t.Name, Run: t.Command(), Status: string(ev.Status), MissReason: ev.Reason, LastFailed: ev.Failed, Notes: ev.Notes, Requested: t.Requested,
		Held: t.Held, NeverStored: ev.IsNeverStored(),
	}
	if ev.Known {
		key := ev.Key.String()
		row.Key = &key
	}
	if ev.Err != nil && ev.Status != key.LeftOut {
		row.Notes = append(row.Notes, ev.Err.Error())
	}
	for _, d := range t.Deps {
		row.DependsOn = append(row.DependsOn, d.Task.ID())
	}
	return row
}

// WritePlan prints a plan for people. verbose adds dishes whose tasks are not in the plan, the notes of dishes,
// inner dishes whose files are inputs, and the rules of root tasks.
func WritePlan(to io.Writer, style Style, doc Plan, verbose bool) {
	w := bufio.NewWriter(to) // a plan has thousands of lines
	defer w.Flush()
	for _, b := range doc.Bentos {
		for _, d := range b.Dishes {
			if len(d.Tasks) == 0 && !d.taskless && !verbose {
				continue
			}
			head := style.Bold(PrintableLine(d.Name))
			if d.Path != d.Name {
				head += "  " + PrintableLine(d.Path)
			}
			if d.Language != nil {
				head += "  " + style.Dim("("+*d.Language+")")
			}
			fmt.Fprintln(w, head)
			if verbose {
				writeNotes(w, style, d)
			}
			if d.taskless {
				fmt.Fprintf(w, "  %s\n", style.Dim("no tasks"))
			}
			for _, t := range d.Tasks {
				writePlanTask(w, style, t)
				if line := placeLine(t); line != "" && verbose {
					fmt.Fprintf(w, "       %s\n", style.Dim(PrintableLine(line)))
				}
			}
		}
	}
	s := doc.Summary
	fmt.Fprintf(w, "%s, %s: %s, %d to run", Count(s.Dishes, "dish"), Count(s.Tasks, "task"), Count(s.Hits, "hit"), s.Misses)
	if s.Skipped > 0 {
		fmt.Fprintf(w, ", %d skipped", s.Skipped)
	}
	fmt.Fprintln(w)
	if line := neverStoredLine(doc); line != "" {
		fmt.Fprintln(w, style.Line(line))
	}
	if line := LeftOutLine(doc.LeftOut); line != "" {
		fmt.Fprintln(w, style.Line(line))
	}
}

// neverStoredLine returns the line about tasks whose result is never stored, "" for none.
func neverStoredLine(doc Plan) string {
	var ids []string
	for _, b := range doc.Bentos {
		for _, d := range b.Dishes {
			for _, t := range d.Tasks {
				if id := d.Name + ":" + t.Name; t.NeverStored && !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
		}
	}
	switch len(ids) {
	case 0:
		return ""
	case 1:
		return "1 task is never stored: " + firstNames(ids)
	}
	return fmt.Sprintf("%d tasks are never stored: %s", len(ids), firstNames(ids))
}

// writeNotes prints the notes of a dish in a verbose plan.
func writeNotes(w io.Writer, style Style, d planDish) {
	for _, note := range d.Notes {
		fmt.Fprintf(w, "  %s\n", style.Dim(PrintableLine(note)))
	}
	if len(d.InnerDishes) > 0 {
		fmt.Fprintf(w, "  %s\n", style.Dim("its inputs include the files of "+firstNames(d.InnerDishes)))
	}
	for _, t := range d.RootTasks {
		fmt.Fprintf(w, "  %s\n", style.Dim(t.Line()))
	}
}

// maxNames is the maximal number of dishes that one line names. A JSON document names all.
const maxNames = 20

// firstNames returns the first names of a list, and the number of the others.
func firstNames(list []string) string {
	shown := make([]string, min(len(list), maxNames))
	for i := range shown {
		shown[i] = PrintableLine(list[i])
	}
	text := strings.Join(shown, ", ")
	if more := len(list) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// LeftOutLine returns the line about directories that are left out, "" for none. It does not count
// directories that the user excludes.
func LeftOutLine(list []dish.LeftOut) string {
	all, tests := 0, 0
	for _, l := range list {
		if l.Reason == dish.Excluded {
			continue
		}
		if all++; l.Reason == dish.TestData {
			tests++
		}
	}
	if all == 0 {
		return ""
	}
	noun := "directories with manifests"
	if all == 1 {
		noun = "directory with a manifest"
	}
	line := fmt.Sprintf("left out: %d %s", all, noun)
	if tests > 0 {
		line += fmt.Sprintf(", %d of test data", tests)
	}
	return line + "; bento dish list --left-out"
}

// placeLine returns a line about where a task is executed, "" for this machine.
func placeLine(t planTask) string {
	switch {
	case t.Unfit != "":
		return "not on a worker: " + t.Unfit
	case t.Place != "":
		return "on a worker"
	}
	return ""
}

func writePlanTask(w io.Writer, style Style, t planTask) {
	word, why := style.Dim("hit "), ""
	switch {
	case t.Status == noAdapter:
		fmt.Fprintf(w, "  %s\n", style.Dim("no adapter and no tasks"))
		return
	case t.Status == diffClean:
		word, why = style.Dim("skip"), "no change concerns it"
	case t.Status == string(key.LeftOut):
		word, why = style.Dim("skip"), strings.Join(t.Notes, ", ")
	case t.Held:
		word, why = style.Dim("held"), "stays as it is"
		if t.Status != string(key.Hit) {
			why += ", not up to date: " + reasonText(t)
		}
	case t.Status != string(key.Hit):
		word, why = style.Yellow("run "), reasonText(t)
	}
	line := fmt.Sprintf("  %s %-8s %s", word, PrintableLine(t.Name), PrintableLine(oneLine(t.Run)))
	if why != "" {
		line += "  " + style.Dim(PrintableLine(why))
	}
	fmt.Fprintln(w, style.Line(line))
}

func oneLine(s string) string {
	if line, rest, more := strings.Cut(s, "\n"); more && strings.TrimSpace(rest) != "" {
		return line + " …"
	}
	return strings.TrimSpace(s)
}

// reasonText returns in words why a task is a miss.
func reasonText(t planTask) string {
	words := map[string]string{
		key.MissUncacheable:  "never cached",
		key.MissForced:       "asked not to use the cache",
		key.MissNeverCached:  "no good run yet",
		key.MissChanged:      "changed",
		key.MissEvicted:      "its result is no longer in the cache",
		key.MissNotStored:    "its last result was not stored",
		key.MissPending:      "waits for",
		key.MissImage:        "the digest of its image is unknown",
		key.MissToolchain:    "its toolchain is known when it is run",
		key.MissToolMissing:  "a tool is missing",
		key.MissAdapterFails: "its adapter failed",
		key.MissUnreadable:   "an input cannot be read",
		key.MissTool:         "its tool cannot be used",
	}
	text := words[t.MissReason]
	failed := ""
	if t.LastFailed != "" {
		failed = "last run failed (" + t.LastFailed + ")"
	}
	switch {
	case failed != "" && t.MissReason == key.MissNeverCached:
		text, failed = failed, ""
	case text == "":
		text = t.MissReason
	}
	switch notes := strings.Join(t.Notes, ", "); {
	case notes == "":
	case t.MissReason == key.MissPending:
		text += " " + notes
	default:
		text += ": " + notes
	}
	if failed != "" {
		text += "; " + failed
	}
	return text
}
