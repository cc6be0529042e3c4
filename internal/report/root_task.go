package report

import (
	"fmt"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
)

// RootTask is a script at the root of a workspace that has the name of a lifecycle task, with the rule
// that decides whether it is one.
type RootTask struct {
	Name      string `json:"name"`
	Run       string `json:"run"`
	Lifecycle bool   `json:"lifecycle"`
	Rule      string `json:"rule" enum:"own_work,no_member,hands_on,declared"`
	Why       string `json:"why"`
}

// RootTasks returns the scripts of d with the rules that bento applied.
func RootTasks(p *plan.Plan, d *dish.Dish) (list []RootTask) {
	for _, t := range p.RootTasks(d) {
		list = append(list, RootTask{Name: t.Name, Run: t.Run, Lifecycle: t.Root.Lifecycle, Rule: t.Root.Rule, Why: t.Root.Why})
	}
	return list
}

// Line returns the rule in words.
func (t RootTask) Line() string {
	what := "a lifecycle task"
	if !t.Lifecycle {
		what = "only a script, by its name"
	}
	return PrintableLine(fmt.Sprintf("%s (%s) is %s: %s", t.Name, oneLine(t.Run), what, t.Why))
}
