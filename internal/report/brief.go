package report

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
)

// briefRun is a Run without what a reader can do without.
type briefRun struct {
	Schema      string             `json:"schema"`
	Command     string             `json:"command,omitempty"`
	Bentos      []bentoOf[runDish] `json:"bentos,omitempty"`
	Summary     briefSummary       `json:"summary"`
	Warnings    []Problem          `json:"warnings,omitempty"`
	Interrupted bool               `json:"interrupted,omitempty"`
}

// briefSummary is a runSummary without the counts that are 0.
type briefSummary struct {
	Dishes          int   `json:"-"`
	Tasks           int   `json:"tasks"`
	Hits            int   `json:"hits,omitempty"`
	Built           int   `json:"built,omitempty"`
	Failed          int   `json:"failed,omitempty"`
	Flaky           int   `json:"flaky,omitempty"`
	Skipped         int   `json:"skipped,omitempty"`
	Installs        int   `json:"installs,omitempty"`
	InstallFailures int   `json:"install_failures,omitempty"`
	DurationMS      int64 `json:"duration_ms"`

	Remote          *remoteSummary    `json:"remote,omitempty"`
	RemoteExecution *executionSummary `json:"remote_execution,omitempty"`
}

// WriteBrief writes the document of a run in one line, without the tasks that did well, the dishes that have no
// others, and the counts that are 0. A task with findings has no excerpt of its output, which would repeat them.
func WriteBrief(w io.Writer, doc *Run) error {
	brief := briefRun{Schema: doc.Schema, Command: doc.Command, Summary: briefSummary(doc.Summary), Warnings: doc.Warnings, Interrupted: doc.Interrupted}
	for _, b := range doc.Bentos {
		var dishes []runDish
		for _, d := range b.Dishes {
			if d.Tasks = needReaders(d.Tasks); len(d.Tasks) > 0 || d.Install != nil && d.Install.Error != "" {
				dishes = append(dishes, d)
			}
		}
		if b.Dishes = dishes; len(dishes) > 0 {
			brief.Bentos = append(brief.Bentos, b)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(brief); err != nil {
		return err
	}
	_, err := w.Write(escaped(b.Bytes()))
	return err
}

// needReaders returns the tasks that failed, were skipped, are flaky or have findings.
func needReaders(tasks []runTask) []runTask {
	list := []runTask{}
	for _, t := range tasks {
		well := t.Outcome.Kind == "cache_hit" || t.Outcome.Kind == "built"
		if well && !t.Flaky && len(t.Diagnostics) == 0 {
			continue
		}
		if len(t.Diagnostics) > 0 {
			t.Output, t.Outcome.Stderr = "", ""
			t.Diagnostics = ProblemsOf(distinct(diagnosticsOf(t.Diagnostics)))
		}
		list = append(list, t)
	}
	return slices.Clip(list)
}
