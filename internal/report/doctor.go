package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// Diagnosis is the document of `bento doctor`.
type Diagnosis struct {
	Schema  string        `json:"schema"`
	Version string        `json:"version"`
	Root    string        `json:"root,omitempty"`
	Checks  []Check       `json:"checks"`
	Summary ChecksSummary `json:"summary"`
}

// ChecksSummary counts checks by their status.
type ChecksSummary struct {
	Total   int `json:"total"`
	OK      int `json:"ok"`
	Warn    int `json:"warn"`
	Fail    int `json:"fail"`
	Skipped int `json:"skipped"`
}

// Check is the result of one check.
type Check struct {
	Name   string   `json:"name"`
	Status string   `json:"status" enum:"ok,warn,fail,skipped"`
	Detail string   `json:"detail"`
	Hint   string   `json:"hint,omitempty"`
	Dishes []string `json:"dishes,omitempty"` // the dishes that it concerns

	Problem *diagnostics.Diagnostic `json:"-"` // the reported problem, if any
	Place   string                  `json:"-"` // file:line at the end of Detail
}

// Add adds a check.
func (doc *Diagnosis) Add(c Check) {
	doc.Checks = append(doc.Checks, c)
	sum := &doc.Summary
	sum.Total++
	switch c.Status {
	case "ok":
		sum.OK++
	case "warn":
		sum.Warn++
	case "fail":
		sum.Fail++
	default:
		sum.Skipped++
	}
}

// shown returns the detail with places relative to the current directory.
func (c *Check) shown(style Style) string {
	if c.Problem != nil {
		p := *c.Problem
		p.File = style.Shown(p.File)
		return p.String()
	}
	if rest, ok := strings.CutSuffix(c.Detail, "("+c.Place+")"); ok && c.Place != "" {
		return rest + "(" + style.Shown(c.Place) + ")"
	}
	return c.Detail
}

// WriteDiagnosis prints the checks for people.
func WriteDiagnosis(w io.Writer, style Style, doc Diagnosis) {
	paint := map[string]string{"ok": style.Green("ok  "), "warn": style.Yellow("warn"), "fail": style.Red("FAIL"), "skipped": style.Dim("-   ")}
	for _, c := range doc.Checks {
		line := fmt.Sprintf("%s  %-18s %s", paint[c.Status], PrintableLine(c.Name), PrintableLine(c.shown(style)))
		if len(c.Dishes) > 0 {
			slices.Sort(c.Dishes)
			line += style.Dim("  (" + PrintableLine(dish.Few(slices.Compact(c.Dishes))) + ")")
		}
		fmt.Fprintln(w, style.Line(line))
		if c.Hint != "" && c.Status != "ok" {
			fmt.Fprintln(w, style.Line("      "+Indent(Printable(c.Hint))))
		}
	}
	sum := doc.Summary
	fmt.Fprintf(w, "%s: %d ok, %s, %d failed\n", Count(sum.Total, "check"), sum.OK, Count(sum.Warn, "warning"), sum.Fail)
}
