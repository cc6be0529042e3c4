package report

import (
	"fmt"
	"io"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/key"
)

// Why is the document of `bento why`.
type Why struct {
	Schema      string          `json:"schema"`
	Task        string          `json:"task,omitempty"` // "dish:task"
	Status      string          `json:"status,omitempty"`
	MissReason  string          `json:"miss_reason,omitempty"`
	Notes       []string        `json:"notes,omitempty"`
	Key         *string         `json:"key"`
	Made        *made           `json:"made,omitempty"`
	Ingredients []whyIngredient `json:"ingredients"`
	Inputs      []whyInput      `json:"inputs"`
	Discovered  []whyInput      `json:"discovered,omitempty"` // see docs/observe.md
	// Observed says that of the content of the inputs only that of Discovered counts, and Unread are the inputs that the
	// task did not read. WholeInputs is the reason why all of it counts although it is to be observed.
	Observed    bool     `json:"observed_inputs,omitempty"`
	Unread      []string `json:"unread,omitempty"`
	WholeInputs string   `json:"whole_inputs,omitempty"`
	// WholeLock is the reason why the key includes the whole lockfile and not only the part of the dish.
	WholeLock string `json:"whole_lockfile,omitempty"`
	// Remote says whether a worker of remote.exec can execute the task; only with --remote.
	Remote  *whyRemote   `json:"remote,omitempty"`
	Against string       `json:"against,omitempty"` // the key that Changes compares with
	Changes []key.Change `json:"changes"`
}

// made is the origin of a cached result.
type made struct {
	At         time.Time `json:"at"`
	Host       string    `json:"host,omitempty"`
	DurationMS int64     `json:"duration_ms"`
	Outputs    int       `json:"outputs"`
}

// whyRemote says whether a worker can execute a task.
type whyRemote struct {
	Wanted bool   `json:"wanted"` // the task has remote = true or "only"
	Fits   bool   `json:"fits"`
	Unfit  string `json:"unfit,omitempty"` // the condition that fails
}

// AddRemote adds whether a worker can execute the task; unfit is the reason why not, "" if one can.
func (doc *Why) AddRemote(wanted bool, unfit string) {
	doc.Remote = &whyRemote{Wanted: wanted, Fits: unfit == "", Unfit: unfit}
}

// line returns the sentence about workers.
func (r *whyRemote) line() string {
	switch {
	case !r.Fits:
		return "a worker cannot execute it: " + r.Unfit
	case !r.Wanted:
		return "a worker can execute it; remote = true lets one"
	}
	return "a worker executes it"
}

type whyIngredient struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Value string `json:"value"` // a keyed digest for a variable
}

type whyInput struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
	Exec   bool   `json:"executable,omitempty"`
	Target string `json:"target,omitempty"`
	// Missing: only of a discovered input.
	Missing bool `json:"missing,omitempty"`
}

// NewWhy makes the document of an explanation; ev is nil for a key of the cache.
func NewWhy(ev *key.Evaluation, x key.Explanation) Why {
	doc := Why{Schema: Schema("why"), Ingredients: []whyIngredient{}, Inputs: []whyInput{}, Changes: []key.Change{}}
	known := ev == nil
	if ev != nil {
		doc.Task, doc.Status, doc.MissReason, doc.Notes = ev.Task.ID(), string(ev.Status), ev.Reason, ev.Notes
		known = ev.Known
		if lock := ev.Task.Dish.Lock; lock.Digest == "" {
			doc.WholeLock = lock.Whole
		}
	}
	if known {
		key := x.Key.String()
		doc.Key = &key
	}
	if r := x.Record; r != nil {
		doc.Made = &made{At: r.Created.UTC(), Host: r.Host, DurationMS: r.Duration.Milliseconds(), Outputs: len(r.Outputs)}
	}
	for _, in := range x.Ingredients {
		doc.Ingredients = append(doc.Ingredients, whyIngredient{Kind: kindName(in.Kind), Name: in.Name, Value: in.Value})
	}
	if doc.Observed, doc.WholeInputs = x.FindsInputs, x.WhyDeclared; ev != nil {
		doc.Unread = ev.Unread()
	}
	for _, f := range x.Inputs {
		row := whyInput{Path: f.Path, Digest: f.Sum.String(), Exec: f.Exec, Target: f.Target}
		if x.FindsInputs && f.Sum == (cache.Digest{}) {
			row.Digest = "" // only its name counts
		}
		doc.Inputs = append(doc.Inputs, row)
	}
	for _, f := range x.Discovered {
		doc.Discovered = append(doc.Discovered, whyInput{Path: f.Path, Digest: f.Sum.String(), Exec: f.Exec, Target: f.Target, Missing: f.IsMissing()})
	}
	if x.Against != (cache.Key{}) {
		doc.Against = x.Against.String()
	}
	doc.Changes = append(doc.Changes, x.Changes...)
	return doc
}

func kindName(k key.Kind) string {
	switch k {
	case key.KindEnv:
		return "env"
	case key.KindFiles:
		return "files"
	case key.KindTask:
		return "task"
	case key.KindOutput:
		return "output"
	case key.KindSources:
		return "sources"
	}
	return "text"
}

// WriteWhy prints an explanation for people; all adds every ingredient and input.
func WriteWhy(w io.Writer, style Style, doc Why, all bool) {
	if doc.Task != "" {
		fmt.Fprintf(w, "%s  %s\n", style.Bold(PrintableLine(doc.Task)), statusText(doc))
	}
	if doc.Key != nil {
		fmt.Fprintf(w, "key      %s\n", *doc.Key)
	}
	if m := doc.Made; m != nil {
		fmt.Fprintf(w, "made     %s on %s in %v\n", m.At.Local().Format(time.DateTime), PrintableLine(orUnknown(m.Host)), time.Duration(m.DurationMS)*time.Millisecond)
	}
	if doc.WholeLock != "" {
		fmt.Fprintf(w, "lockfile all of it counts: %s\n", PrintableLine(doc.WholeLock))
	}
	if doc.WholeInputs != "" {
		fmt.Fprintf(w, "inputs   all of their content counts: %s\n", PrintableLine(doc.WholeInputs))
	}
	if n := len(doc.Unread); n > 0 {
		fmt.Fprintf(w, "inputs   it did not read %s\n", PrintableLine(diagnostics.Few(doc.Unread)))
	}
	if doc.Remote != nil {
		fmt.Fprintf(w, "remote   %s\n", PrintableLine(doc.Remote.line()))
	}
	if doc.Key == nil && len(doc.Ingredients) == 0 {
		return // nothing to compare yet: the status says what the key waits for
	}
	switch {
	case doc.Against == "":
		fmt.Fprintln(w, "no earlier run to compare with")
	case len(doc.Changes) == 0:
		fmt.Fprintf(w, "nothing differs from %.12s\n", doc.Against)
	default:
		fmt.Fprintf(w, "changed since %.12s:\n", doc.Against)
		for _, c := range doc.Changes {
			line := c.String()
			if c.Dish != "" && c.Kind == "input" {
				line += " (sources of " + c.Dish + ")"
			}
			fmt.Fprintf(w, "  %s\n", PrintableLine(line))
		}
	}
	if all {
		writeIngredients(w, doc)
		return
	}
	discovered := ""
	if n := len(doc.Discovered); n > 0 {
		discovered = fmt.Sprintf(", %d %s", n, doc.usedAs())
	}
	fmt.Fprintf(w, "%d ingredients, %d input files%s; --all prints them\n", len(doc.Ingredients), len(doc.Inputs), discovered)
}

// usedAs returns the word for what Discovered holds.
func (doc *Why) usedAs() string {
	if doc.Observed {
		return "read"
	}
	return "discovered"
}

func statusText(doc Why) string {
	if doc.Status == string(key.Hit) {
		return "cache hit"
	}
	notes := doc.Notes
	if doc.MissReason == key.MissChanged {
		notes = nil // the list of changes has more details
	}
	return PrintableLine(reasonText(planTask{MissReason: doc.MissReason, Notes: notes}))
}

func orUnknown(s string) string {
	if s == "" {
		return "an unknown machine"
	}
	return s
}

func writeIngredients(w io.Writer, doc Why) {
	fmt.Fprintln(w, "ingredients:")
	for _, in := range doc.Ingredients {
		fmt.Fprintf(w, "  %-8s %-24s %s\n", in.Kind, PrintableLine(in.Name), PrintableLine(oneLine(in.Value)))
	}
	writeInputs(w, "inputs", doc.Inputs)
	if len(doc.Discovered) > 0 {
		title := "discovered inputs"
		if doc.Observed {
			title = "files read"
		}
		writeInputs(w, title, doc.Discovered)
	}
}

func writeInputs(w io.Writer, title string, list []whyInput) {
	fmt.Fprintf(w, "%s:\n", title)
	for _, f := range list {
		digest := f.Digest
		if f.Missing {
			digest = "missing"
		}
		line := fmt.Sprintf("  %-12.12s  %s", digest, PrintableLine(f.Path))
		if f.Target != "" {
			line += " -> " + PrintableLine(f.Target)
		}
		if f.Exec {
			line += " (executable)"
		}
		fmt.Fprintln(w, line)
	}
}
