package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/run"
)

// Run is the document of the commands that run tasks. The brief form lacks the fields with the tag brief: see WriteBrief.
type Run struct {
	Schema       string             `json:"schema"`
	Command      string             `json:"command,omitempty"` // the command line
	StartedAt    time.Time          `json:"started_at" brief:"-"`
	CriticalPath []string           `json:"critical_path" brief:"-"` // ids of the longest chain of tasks by time, "web: install" for an install of web
	Bentos       []bentoOf[runDish] `json:"bentos" brief:"-"`
	Summary      runSummary         `json:"summary"`
	Warnings     []Problem          `json:"warnings,omitempty"`
	Interrupted  bool               `json:"interrupted,omitempty"`
}

type runDish struct {
	dishHead
	Install *installed `json:"install,omitempty"`
	Tasks   []runTask  `json:"tasks"`
}

type installed struct {
	Reason     string `json:"reason"`
	Command    string `json:"command,omitempty"`
	StartMS    *int64 `json:"start_ms,omitempty"` // since started_at
	DurationMS int64  `json:"duration_ms"`
	Error      string `json:"error,omitempty"`
	Log        string `json:"log,omitempty"` // the path of the log of a failed install
}

type runTask struct {
	Name       string  `json:"name"`
	Run        string  `json:"run"`
	Key        *string `json:"key"`
	StartMS    *int64  `json:"start_ms,omitempty"` // since started_at, of executed and restored tasks
	DurationMS int64   `json:"duration_ms"`
	Outcome    outcome `json:"outcome"`
	Attempts   int     `json:"attempts"`
	Flaky      bool    `json:"flaky,omitempty"`
	Stored     bool    `json:"stored,omitempty"`
	Remote     bool    `json:"remote,omitempty"`              // a hit whose result has come from the remote cache in this run
	Place      string  `json:"place,omitempty" enum:"remote"` // remote: it was executed by a worker of remote.exec
	QueuedMS   int64   `json:"queued_ms,omitempty"`           // it waited for that worker
	Reused     bool    `json:"reused,omitempty"`              // the server had the result of that execution already
	Stopped    bool    `json:"stopped,omitempty"`             // a server that ran until bento ended it
	Log        string  `json:"log,omitempty"`
	Output     string  `json:"output_excerpt,omitempty"` // the end of it, of failures

	Owners []string `json:"owners,omitempty"` // of the dish by CODEOWNERS, of failures

	Diagnostics []Problem `json:"diagnostics,omitempty"`
}

type outcome struct {
	Kind     string `json:"kind" enum:"cache_hit,built,failed,skipped"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
	Stderr   string `json:"stderr_excerpt,omitempty"` // the end of it, of failures
	Code     string `json:"code,omitempty"`           // of a plugin's failure
}

type runSummary struct {
	Dishes          int   `json:"dishes" brief:"-"`
	Tasks           int   `json:"tasks"`
	Hits            int   `json:"hits" brief:"-"`
	Built           int   `json:"built" brief:"-"`
	Failed          int   `json:"failed" brief:"-"`
	Flaky           int   `json:"flaky" brief:"-"`
	Skipped         int   `json:"skipped" brief:"-"`
	Installs        int   `json:"installs" brief:"-"`
	InstallFailures int   `json:"install_failures" brief:"-"`
	DurationMS      int64 `json:"duration_ms"`

	Remote *remoteSummary `json:"remote,omitempty"` // absent if nothing was asked or sent

	RemoteExecution *executionSummary `json:"remote_execution,omitempty"` // absent if no task was to be executed by workers
}

// executionSummary counts the executions on other machines.
type executionSummary struct {
	Tasks  int `json:"tasks"`  // that workers have executed
	Reused int `json:"reused"` // of these, those whose results the server had already
	Here   int `json:"here"`   // that were executed on this machine, as no worker could
}

func executionSummaryOf(r *run.Report) *executionSummary {
	if r.Far == (run.RemoteExecutions{}) {
		return nil
	}
	return &executionSummary{Tasks: r.Far.Tasks, Reused: r.Far.Cached, Here: r.Far.Here}
}

// ExecutionLine returns a line about executions on other machines for people, "" if there were none.
func ExecutionLine(r *run.Report) string {
	s := executionSummaryOf(r)
	if s == nil {
		return ""
	}
	line := "remote execution: " + Count(s.Tasks, "task")
	if s.Reused > 0 {
		line += fmt.Sprintf(", %d had results there", s.Reused)
	}
	if s.Here > 0 {
		line += fmt.Sprintf(", %d executed here", s.Here)
	}
	return line
}

// remoteSummary is what the remote cache was used for.
type remoteSummary struct {
	Hits         int    `json:"hits"`          // tasks
	FetchedBytes int64  `json:"fetched_bytes"` // of results that have arrived
	Sent         int    `json:"sent"`          // results
	SentBytes    int64  `json:"sent_bytes"`
	Left         int    `json:"left"`          // results that are sent later
	Off          string `json:"off,omitempty"` // why it was not used to the end
}

func remoteSummaryOf(r *run.Report) *remoteSummary {
	u := r.Remote
	if !u.Used {
		return nil
	}
	return &remoteSummary{Hits: u.Hits, FetchedBytes: u.FetchedBytes, Sent: u.Sent, SentBytes: u.SentBytes, Left: u.Left, Off: u.Off}
}

// RemoteLine returns a line about the remote cache for people, "" if nothing was asked or sent.
func RemoteLine(r *run.Report) string {
	u := r.Remote
	if !u.Used {
		return ""
	}
	line := "remote: " + Count(u.Hits, "hit")
	if u.Sent > 0 {
		line += fmt.Sprintf(", %d sent (%s)", u.Sent, ByteSize(u.SentBytes))
	}
	if u.Left > 0 {
		line += fmt.Sprintf(", %d left for later", u.Left)
	}
	if u.Off != "" {
		line += ", not used to the end"
	}
	return line
}

// NewRun makes the document of a run. End adds the fields that are known only at the end.
func NewRun(r *run.Report) *Run {
	doc := &Run{Schema: Schema("run"), StartedAt: r.Started.UTC(), CriticalPath: []string{}, Summary: summarize(r)}
	byDish := make(map[*dish.Dish][]runTask)
	for _, res := range r.Results {
		row := newRunTask(res)
		if !res.Started.IsZero() {
			since := res.Started.Sub(r.Started).Milliseconds()
			row.StartMS = &since
		}
		byDish[res.Task.Dish] = append(byDish[res.Task.Dish], row)
	}
	for _, step := range r.CriticalPath() {
		doc.CriticalPath = append(doc.CriticalPath, step.ID())
	}
	doc.Bentos = byBento(shown(r.Plan), func(d *dish.Dish) runDish {
		row := runDish{dishHead: headOf(d), Tasks: byDish[d]}
		if row.Tasks == nil {
			row.Tasks = []runTask{}
		}
		for _, i := range r.Installs {
			if i.Dish == d.Name {
				row.Install = newInstalled(i)
				if since := i.Started.Sub(r.Started).Milliseconds(); !i.Started.IsZero() {
					row.Install.StartMS = &since
				}
			}
		}
		return row
	})
	return doc
}

// End sets the duration of the run, whether it was interrupted, and its warnings.
func (doc *Run) End(r *run.Report) {
	doc.Summary.Remote = remoteSummaryOf(r)
	doc.Summary.DurationMS, doc.Interrupted, doc.Warnings = r.Duration.Milliseconds(), r.Interrupted, ProblemsOf(r.Warnings)
}

func newInstalled(i *run.Install) *installed {
	in := &installed{Reason: i.Reason, Command: i.Command, DurationMS: i.Duration.Milliseconds()}
	if i.Err != nil {
		in.Error, in.Log = i.Err.Error(), i.LogPath
	}
	return in
}

func summarize(r *run.Report) runSummary {
	s := runSummary{
		Dishes: len(shown(r.Plan)), Tasks: len(r.Results), Hits: r.Count(run.CacheHit), Built: r.Count(run.Built), Failed: r.Count(run.Failed),
		Skipped: r.Count(run.Skipped), Installs: len(r.Installs), Remote: remoteSummaryOf(r),
		RemoteExecution: executionSummaryOf(r),
	}
	for _, res := range r.Results {
		if res.Flaky {
			s.Flaky++
		}
	}
	for _, i := range r.Installs {
		if i.Err != nil {
			s.InstallFailures++
		}
	}
	return s
}

// newRunTask returns the row of a task. A failed task has the end of its output.
func newRunTask(r *run.Result) runTask {
	row := newTaskRow(r)
	if r.Failure != nil {
		row.Outcome.Stderr = r.Failure.Stderr
	}
	if r.Outcome == run.Failed && r.LogPath != "" {
		row.Output, row.Outcome.Stderr = excerpts(r)
	}
	return row
}

// newTaskRow returns the row of a task without its output.
func newTaskRow(r *run.Result) runTask {
	row := runTask{
		Name: r.Task.Name, Run: r.Task.Command(), DurationMS: r.Duration.Milliseconds(), Attempts: r.Attempts,
		Flaky: r.Flaky, Stored: r.Stored, Remote: r.Remote, Place: r.Place, QueuedMS: r.Stay.Queued.Milliseconds(), Reused: r.Stay.Cached, Stopped: r.Stopped, Log: r.LogPath, Diagnostics: ProblemsOf(r.Diagnostics),
		Outcome: outcome{Kind: string(r.Outcome), Signal: r.Signal, Reason: r.Reason, Message: r.Message},
	}
	if r.Key != (cache.Key{}) {
		key := r.Key.String()
		row.Key = &key
	}
	if r.Outcome.Executed() {
		row.Outcome.ExitCode = &r.ExitCode
	}
	if r.Outcome == run.Failed {
		row.Owners = r.Task.Dish.Owners()
	}
	if r.Failure != nil {
		row.Outcome.Code = string(r.Failure.Code)
	}
	return row
}

// excerptSize bounds an excerpt, in bytes.
const excerptSize = 4 << 10

// excerpts returns the end of the output of a task, and the end of its stderr alone.
func excerpts(r *run.Result) (all, stderr string) {
	var a, e tail
	_ = r.ReplayLog(nil, func(s action.Stream, p []byte) { // an unreadable log has no excerpt
		a.add(p)
		if s == action.Stderr {
			e.add(p)
		}
	})
	return a.String(), e.String()
}

// Excerpt returns the end of the output of a task, in valid UTF-8.
func Excerpt(r *run.Result) string {
	all, _ := excerpts(r)
	return all
}

// tail keeps the last excerptSize bytes.
type tail struct{ buf []byte }

func (t *tail) add(p []byte) {
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - excerptSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
}

// String returns the text without colours.
func (t *tail) String() string {
	return strings.ToValidUTF8(diagnostics.Unescaped(string(t.buf)), "�")
}

// Install is the document of `bento install`.
type Install struct {
	Schema   string       `json:"schema"`
	Installs []installRow `json:"entries"`
	Failed   int          `json:"failed"`
}

type installRow struct {
	Dish string `json:"dish"`
	Dir  string `json:"dir"`
	installed
}

// NewInstall makes the document of installs.
func NewInstall(installs []*run.Install) Install {
	doc := Install{Schema: Schema("install"), Installs: []installRow{}}
	for _, i := range installs {
		doc.Installs = append(doc.Installs, installRow{Dish: i.Dish, Dir: i.Dir, installed: *newInstalled(i)})
		if i.Err != nil {
			doc.Failed++
		}
	}
	return doc
}
