package export

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dag"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run"
)

// someRun returns a run of a chain a → b → c with a failure, and one unrelated task. Its texts are hostile.
func someRun() *run.Report {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := &run.Report{Plan: &plan.Plan{Graph: dag.New(4)}, Started: start, Duration: 10 * time.Second}
	for i, name := range []string{"a", "b", "c", "x"} {
		t := &plan.Task{Index: i, Dish: &dish.Dish{Name: "dish <&\"\x1b\xff"}, Name: name}
		r.Plan.Tasks = append(r.Plan.Tasks, t)
		r.Results = append(r.Results, &run.Result{Task: t, Outcome: run.Built, Started: start.Add(time.Duration(i) * time.Second), Duration: time.Second})
	}
	r.Plan.Graph.AddEdge(0, 1)
	r.Plan.Graph.AddEdge(1, 2)
	r.Results[3].Outcome, r.Results[3].Duration = run.CacheHit, 2*time.Second
	r.Results[2].Outcome, r.Results[2].Reason = run.Skipped, run.ReasonDependencyFailed
	r.Results[2].Started, r.Results[2].Duration = time.Time{}, 0
	r.Results[1].Outcome, r.Results[1].Message = run.Failed, "exit <status> 1\x00 | ``` ::error::"
	r.Results[1].Diagnostics = []diagnostics.Diagnostic{{
		File: "a b/ü%.go", Line: 3, Col: 4, Severity: diagnostics.Error, Message: "bad\n100% ::x", Rule: "r,1", Source: "go",
	}, {Severity: diagnostics.Hint, Message: "no place", Source: "other"}}
	r.Warnings = []diagnostics.Diagnostic{{Severity: diagnostics.Warning, Message: "not stored", Rule: "not_stored", Source: diagnostics.Source}}
	return r
}

func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := JUnit(&b, someRun()); err != nil {
		t.Fatal(err)
	}
	var doc junitSuites
	if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if doc.Tests != 4 || doc.Failures != 1 || doc.Skipped != 1 || len(doc.Suites) != 1 || len(doc.Suites[0].Cases) != 4 {
		t.Errorf("the document counts wrong: %+v", doc)
	}
	if s := doc.Suites[0]; s.Failures != 1 || s.Skipped != 1 || s.Time != "4.000" || doc.Time != "10.000" {
		t.Errorf("the suite counts wrong: %+v", s)
	}
	if c := doc.Suites[0].Cases[2]; c.Skipped == nil || c.Skipped.Message != run.ReasonDependencyFailed || c.Failure != nil {
		t.Errorf("what was skipped is not said: %+v", c)
	}
	if c := doc.Suites[0].Cases[3]; c.Time != "2.000" || c.Output == "" {
		t.Errorf("a hit is not told as one: %+v", c)
	}
	if c := doc.Suites[0].Cases[1]; c.Failure == nil || !strings.Contains(c.Failure.Message, "exit <status> 1") {
		t.Errorf("the failure is not there: %+v", c)
	}
}

func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	if err := SARIF(&b, someRun(), "1.2.3"); err != nil {
		t.Fatal(err)
	}
	var doc sarifLog
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	var tools []string
	for _, one := range doc.Runs {
		tools = append(tools, one.Tool.Driver.Name)
	}
	if diff := cmp.Diff([]string{"bento", "go", "other"}, tools); diff != "" {
		t.Error(diff)
	}
	want := []sarifLocation{{Physical: sarifPhysical{
		Artifact: sarifArtifact{URI: "a%20b/%C3%BC%25.go", Base: "ROOT"}, Region: &sarifRegion{StartLine: 3, StartCol: 4},
	}}}
	if diff := cmp.Diff(want, doc.Runs[1].Results[0].Locations); diff != "" {
		t.Error(diff)
	}
	if own := doc.Runs[0]; len(own.Results) != 1 || own.Results[0].Level != "warning" || own.Tool.Driver.Version != "1.2.3" {
		t.Errorf("bento's own warnings: %+v", own)
	}
	if res := doc.Runs[1].Results[0]; res.Level != "error" || res.Rule != "r,1" || len(doc.Runs[1].Tool.Driver.Rules) != 1 || doc.Runs[1].Tool.Driver.Rules[0].ID != "r,1" {
		t.Errorf("an error with a rule: %+v, rules %+v", res, doc.Runs[1].Tool.Driver.Rules)
	}
	if res := doc.Runs[2].Results[0]; res.Level != "note" || res.Locations != nil {
		t.Errorf("a hint without a place: %+v", res)
	}
}

func TestTrace(t *testing.T) {
	var b bytes.Buffer
	r := someRun()
	if err := Trace(&b, r, []Span{{Name: "walk", Start: r.Started.Add(-time.Second), Duration: time.Second}}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		TraceEvents []traceEvent `json:"traceEvents"`
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	critical := map[string]any{}
	for _, e := range doc.TraceEvents {
		if e.Cat == "task" || e.Cat == "restore" {
			critical[e.Cat+" "+e.Name[len(e.Name)-1:]] = e.Args["critical"]
		}
		if e.Name == "walk" && e.Time != 0 {
			t.Errorf("the trace begins at %d µs", e.Time)
		}
	}
	// a and b take as long as x alone, and the search finds them first.
	if diff := cmp.Diff(map[string]any{"task a": true, "task b": true, "restore x": false}, critical); diff != "" {
		t.Error(diff)
	}
}

// TestRows: no two jobs of a row run at the same time, and there are at most as many rows as jobs at the same time.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var jobs []job
		at := time.Unix(0, 0)
		for range rapid.IntRange(0, 40).Draw(t, "jobs") {
			at = at.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "wait")))
			jobs = append(jobs, job{start: at, took: time.Duration(rapid.IntRange(1, 10).Draw(t, "took"))})
		}
		list := rows(jobs)
		most, last := 0, -1
		for i, x := range jobs {
			beside := 0
			for k, y := range jobs[:i+1] {
				if y.start.Add(y.took).After(x.start) {
					beside++
					if k != i && list[k] == list[i] {
						t.Fatalf("jobs %d and %d overlap on row %d", k, i, list[i])
					}
				}
			}
			most, last = max(most, beside), max(last, list[i])
		}
		if last >= most {
			t.Fatalf("%d rows for %d jobs at a time", last+1, most)
		}
	})
}

// A place that a program reports is no command to the terminal that shows the log.
func TestAnnotationsAreNoEscapes(t *testing.T) {
	const evil = "a\x1b]0;b\a\x1b[2J\u009b\r\n\x7f"
	r := &run.Report{Results: []*run.Result{{Diagnostics: []diagnostics.Diagnostic{
		{File: evil, Severity: diagnostics.Error, Source: evil, Rule: evil, Message: evil},
	}}}}
	var b bytes.Buffer
	Annotations(&b, r)
	line, ends := strings.CutSuffix(b.String(), "\n")
	if !ends || !strings.HasPrefix(line, "::error file=a") || strings.ContainsFunc(line, unicode.IsControl) {
		t.Errorf("%q", b.String())
	}
}

func TestGitHub(t *testing.T) {
	var b bytes.Buffer
	r := someRun()
	Annotations(&b, r)
	want := "::notice title=other::no place\n::error file=a b/ü%25.go,line=3,col=4,title=go r%2C1::bad%0A100%25 ::x\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	b.Reset()
	if err := Summary(&b, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "4 tasks, 1 hit, 1 built, 1 failed, 1 skipped") || strings.Contains(b.String(), "\x00") || strings.Contains(b.String(), "\x1b") {
		t.Errorf("the summary is\n%s", b.String())
	}
}
