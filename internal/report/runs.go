package report

import (
	"fmt"
	"io"
	"time"
)

// Runs are the last runs of a workspace, the newest first. Runs of the same hits as the run before them are left out.
type Runs struct {
	Schema  string   `json:"schema"`
	Entries []RunRow `json:"entries"`
}

// RunRow is one of the last runs.
type RunRow struct {
	Command     string     `json:"command,omitempty"` // the command line
	StartedAt   time.Time  `json:"started_at"`
	Summary     runSummary `json:"summary"`
	Interrupted bool       `json:"interrupted,omitempty"`
}

// Row returns the row of a run.
func (doc *Run) Row() RunRow {
	return RunRow{Command: doc.Command, StartedAt: doc.StartedAt, Summary: doc.Summary, Interrupted: doc.Interrupted}
}

// NewRuns makes the document of runs.
func NewRuns(rows []RunRow) Runs { return Runs{Schema: Schema("runs"), Entries: rows} }

func (row RunRow) state(style Style) string {
	switch s := row.Summary; {
	case row.Interrupted:
		return style.Yellow("interrupted")
	case s.Failed > 0 || s.InstallFailures > 0:
		return style.Red("failed")
	}
	return style.Green("done")
}

// WriteRuns prints a line for each run.
func WriteRuns(w io.Writer, style Style, doc Runs, now time.Time) {
	for _, row := range doc.Entries {
		s := row.Summary
		fmt.Fprintf(w, "%s  %s, %s ago, took %s: %s: %s, %d built, %d failed, %d skipped\n", row.state(style), PrintableLine(row.Command), ago(now.Sub(row.StartedAt)),
			Seconds(max(time.Millisecond, milliseconds(s.DurationMS))), Count(s.Tasks, "task"), Count(s.Hits, "hit"), s.Built, s.Failed, s.Skipped)
	}
}
