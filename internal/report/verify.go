package report

import (
	"fmt"
	"io"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/verify"
)

// Verify is the document of `bento verify`.
type Verify struct {
	Schema string `json:"schema"`
	// Observed reports whether bento saw what the tasks used.
	Observed bool            `json:"observed"`
	Tasks    []VerifiedTask  `json:"tasks"`
	Findings []VerifyFinding `json:"findings"`
	// Remote is the remote cache whose results were compared, with --remote.
	Remote *VerifiedRemote `json:"remote,omitempty"`
}

// VerifiedRemote is a remote cache whose results were compared.
type VerifiedRemote struct {
	URL      string `json:"url"`
	Found    int    `json:"found"`    // tasks whose results it has, as far as their keys were known before an execution
	Compared int    `json:"compared"` // results
}

// VerifiedTask is one verified task.
type VerifiedTask struct {
	Task     string   `json:"task"`
	Status   string   `json:"status" enum:"verified,findings,failed,not_run,no_result"`
	Outputs  int      `json:"outputs"`          // the number of compared outputs
	Unseen   []string `json:"unseen,omitempty"` // why not all that it used was seen
	Findings int      `json:"findings"`
}

// VerifyFinding is one thing that the key of a task does not hold.
type VerifyFinding struct {
	Kind    string         `json:"kind" enum:"undeclared_read,undeclared_write,host_file,absolute_path,not_reproducible,failed,remote_differs"`
	Task    string         `json:"task"`
	Path    string         `json:"path,omitempty"`
	Message string         `json:"message"`
	Hint    string         `json:"hint,omitempty"`
	Where   *VerifiedPlace `json:"where,omitempty"` // where to declare it
}

// VerifiedPlace is a place in a file of the workspace, which may be missing.
type VerifiedPlace struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
}

// NewVerify makes the document. tasks are in the order of the plan; unseen are the reasons why not all was seen, by task.
func NewVerify(tasks []*plan.Task, outputs map[string]int, unseen map[string][]string, findings []verify.Finding, observed bool) Verify {
	doc := Verify{Schema: Schema("verify"), Observed: observed, Tasks: []VerifiedTask{}, Findings: []VerifyFinding{}}
	count, failed := make(map[string]int), make(map[string]bool)
	for i := range findings {
		f := &findings[i]
		id := f.Task.ID()
		count[id]++
		failed[id] = failed[id] || f.Kind == verify.Failed
		row := VerifyFinding{Kind: string(f.Kind), Task: id, Path: f.Path, Message: f.Message, Hint: f.Hint}
		if at := f.Where(); at.File != "" {
			row.Where = &VerifiedPlace{File: at.File, Line: at.Line}
		}
		doc.Findings = append(doc.Findings, row)
	}
	for _, t := range tasks {
		n, ran := outputs[t.ID()]
		row := VerifiedTask{Task: t.ID(), Status: "verified", Outputs: n, Unseen: unseen[t.ID()], Findings: count[t.ID()]}
		switch {
		case failed[t.ID()]:
			row.Status = "failed"
		case row.Findings > 0:
			row.Status = "findings"
		case !ran:
			row.Status = "not_run"
		}
		doc.Tasks = append(doc.Tasks, row)
	}
	return doc
}

// WriteVerify prints the document for people.
func WriteVerify(w io.Writer, style Style, doc Verify) {
	for _, t := range doc.Tasks {
		fmt.Fprintf(w, "%s %s  %s\n", style.Bold(fmt.Sprintf("%-9s", t.Status)), PrintableLine(fmt.Sprintf("%-24s", t.Task)), style.Dim(Count(t.Outputs, "output")))
		for _, f := range doc.Findings {
			if f.Task != t.Task {
				continue
			}
			at := ""
			if f.Where != nil && f.Where.Line > 0 {
				at = fmt.Sprintf("%s:%d: ", f.Where.File, f.Where.Line)
			} else if f.Where != nil {
				at = f.Where.File + ": "
			}
			fmt.Fprintf(w, "  %s  %s\n", PrintableLine(f.Kind), Printable(f.Message))
			if f.Hint != "" {
				fmt.Fprintf(w, "    %s%s\n", PrintableLine(at), PrintableLine(f.Hint))
			}
		}
		for _, why := range t.Unseen {
			fmt.Fprintf(w, "  not all that it used was seen: %s\n", PrintableLine(why))
		}
	}
	if !doc.Observed {
		fmt.Fprintln(w, "only outputs were compared: this system does not show what tasks use")
	}
	if r := doc.Remote; r != nil {
		fmt.Fprintf(w, "%s of %s compared; it has %s of the selected tasks\n", Count(r.Compared, "result"), PrintableLine(r.URL), Count(r.Found, "result"))
	}
	fmt.Fprintf(w, "%s, %s\n", Count(len(doc.Tasks), "task"), Count(len(doc.Findings), "finding"))
}

// VerifyDiagnostics returns the findings as diagnostics, for formats of other programs.
func VerifyDiagnostics(findings []verify.Finding) (list []diagnostics.Diagnostic) {
	for i := range findings {
		list = append(list, findings[i].Diagnostic())
	}
	return list
}
