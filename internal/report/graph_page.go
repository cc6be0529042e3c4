package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report/page"
	"github.com/bentobuild/bento/internal/run"
)

// The page lists at most shownInputs inputs of a task, and allInputs of all.
const (
	shownInputs = 200
	allInputs   = 50_000
)

// NewPage returns the data of the page of a graph: the dishes of p, the results of their tasks, and the last run
// unless it is nil.
func NewPage(title string, p *plan.Plan, results []*key.Evaluation, last *Run) page.Data {
	doc := page.Data{Title: title, Dishes: []page.Dish{}}
	ran := make(map[string]runTask)
	if last != nil {
		doc.Run = pageRun(last)
		for _, t := range last.tasks() {
			ran[t.id] = t.runTask
		}
	}
	by, inputs := tasksByDish(p), min(shownInputs, allInputs/max(1, len(results)))
	for _, d := range NewGraph(p).Dishes {
		row := page.Dish{Name: d.Name, Path: d.Path, Links: []page.Link{}, Tasks: []page.Task{}}
		if d.Language != nil {
			row.Language = *d.Language
		}
		for _, l := range d.Links {
			row.Links = append(row.Links, page.Link(l))
		}
		doc.Dishes = append(doc.Dishes, row)
	}
	for i, d := range shown(p) {
		for _, t := range by[d] {
			row, before := pageTask(results[t.Index], inputs), ran[t.ID()]
			row.Log, row.Place = before.Log, t.Place()
			if failed := string(run.Failed); before.Outcome.Kind == failed && results[t.Index].Status != key.Hit {
				row.Status, row.Why = failed, before.Outcome.Message
			}
			doc.Dishes[i].Tasks = append(doc.Dishes[i].Tasks, row)
		}
	}
	return doc
}

// pageTask returns the row of a task with some of its inputs.
func pageTask(ev *key.Evaluation, inputs int) page.Task {
	row := newPlanTask(ev)
	t := page.Task{Name: row.Name, Run: row.Run, Status: row.Status, DependsOn: row.DependsOn, InputCount: len(ev.Entries)}
	if row.Key != nil {
		t.Key = *row.Key
	}
	if ev.Status != key.Hit {
		t.Why = reasonText(row)
	}
	for _, e := range ev.Entries[:min(len(ev.Entries), inputs)] {
		t.Inputs = append(t.Inputs, PrintableLine(e.Path))
	}
	return t
}

// pageRun returns the timeline of a run.
func pageRun(doc *Run) *page.Run {
	line := &page.Run{Command: doc.Command, StartedAt: doc.StartedAt.Format(time.RFC3339Nano), DurationMS: doc.Summary.DurationMS, Tasks: []page.RunTask{}}
	for _, t := range doc.tasks() {
		if t.StartMS != nil {
			line.Tasks = append(line.Tasks, page.RunTask{
				ID: t.id, Outcome: t.Outcome.Kind, StartMS: *t.StartMS, DurationMS: t.DurationMS, Critical: slices.Contains(doc.CriticalPath, t.id),
			})
		}
	}
	for _, i := range doc.installs() {
		outcome := "installed"
		if i.Error != "" {
			outcome = "failed"
		}
		if i.StartMS != nil {
			line.Tasks = append(line.Tasks, page.RunTask{
				ID: i.id, Outcome: outcome, StartMS: *i.StartMS, DurationMS: i.DurationMS, Critical: slices.Contains(doc.CriticalPath, i.id),
			})
		}
	}
	slices.SortStableFunc(line.Tasks, func(x, y page.RunTask) int { return cmp.Compare(x.StartMS, y.StartMS) })
	for i, row := range Rows(len(line.Tasks), func(i int) (int64, int64) {
		return line.Tasks[i].StartMS, line.Tasks[i].StartMS + line.Tasks[i].DurationMS
	}) {
		line.Tasks[i].Row = row
	}
	return line
}
