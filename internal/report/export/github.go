package export

import (
	"fmt"
	"io"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

// maxAnnotations is the maximal number of annotations: GitHub shows ten of a kind for a step, and drops the rest.
const maxAnnotations = 50

// Annotations writes the diagnostics of a run as workflow commands of GitHub Actions, which shows them at their
// source lines.
func Annotations(w io.Writer, r *run.Report) {
	list := Diagnostics(r)
	for _, d := range list[:min(len(list), maxAnnotations)] {
		kind := "notice"
		switch d.Severity {
		case diagnostics.Error, diagnostics.Warning:
			kind = string(d.Severity)
		}
		var p []string
		add := func(name string, value any, there bool) {
			if there {
				p = append(p, name+"="+escapeProperty(fmt.Sprint(value)))
			}
		}
		add("file", d.File, d.File != "")
		add("line", d.Line, d.Line > 0)
		add("col", d.Col, d.Col > 0)
		add("endLine", d.EndLine, d.EndLine > 0)
		add("title", strings.TrimSpace(d.Source+" "+d.Rule), true)
		fmt.Fprintf(w, "::%s %s::%s\n", kind, strings.Join(p, ","), escapeData(d.Message))
	}
}

// escapeData and escapeProperty escape characters that would end a workflow command, in the form that the runner
// reads (actions/toolkit, packages/core/src/command.ts). They replace other control characters, which would steer
// the terminal that shows the log.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(report.Printable(s))
}

func escapeProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeData(s))
}

// Summary writes a run as the Markdown of a job summary.
func Summary(w io.Writer, r *run.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### bento: %s, %s, %d built, %d failed, %d skipped in %s\n\n", report.Count(len(r.Results), "task"),
		report.Count(r.Count(run.CacheHit), "hit"), r.Count(run.Built), r.Count(run.Failed), r.Count(run.Skipped), report.Seconds(r.Duration))
	for _, line := range []string{report.RemoteLine(r), report.ExecutionLine(r)} {
		if line != "" {
			b.WriteString(line + "\n\n")
		}
	}
	b.WriteString("| task | outcome | time | |\n|---|---|---|---|\n")
	for _, res := range r.Results {
		if res.Outcome == run.CacheHit {
			continue // a long list of them is not useful
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", cell(res.Task.ID()), res.Outcome, report.Seconds(res.Duration), cell(res.Message))
	}
	for _, res := range r.Results {
		if res.Outcome == run.Failed {
			fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n```\n%s\n```\n\n</details>\n", cell(res.Task.ID()), strings.ReplaceAll(report.Excerpt(res), "```", "'''"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell writes text for a cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "`", "'", "<", "&lt;").Replace(report.Printable(s))
}

// Notice returns a workflow command that shows a message.
func Notice(level, title, message string) []byte {
	kind := "notice"
	if level == "warning" || level == "error" {
		kind = level
	}
	return fmt.Appendf(nil, "::%s title=%s::%s\n", kind, escapeProperty(title), escapeData(message))
}
