package snapshot

import (
	"fmt"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// RuleUntested is the rule of tests that no task runs.
const RuleUntested = "tests_without_task"

// Untested is a file of tests in a project without the task test.
type Untested struct {
	File   string // absolute
	Runner string // the package that runs such tests, and that the project does not require
	Hint   string // how to require it
}

// Untested returns a warning about the tests that find returns, if tasks lack the task test. It returns none if
// find returns no File, or if the workspace wants no script for the task.
func (s Scripts) Untested(tasks []adapters.Task, find func() Untested) []diagnostics.Diagnostic {
	if names, decided := s["test"]; decided && len(names) == 0 {
		return nil
	}
	if slices.ContainsFunc(tasks, func(t adapters.Task) bool { return t.Name == "test" }) {
		return nil
	}
	u := find()
	if u.File == "" {
		return nil
	}
	return []diagnostics.Diagnostic{{
		File: u.File, Severity: diagnostics.Warning, Rule: RuleUntested, Source: diagnostics.Source,
		Message: fmt.Sprintf("no task runs these tests, as their project does not require %s", u.Runner),
		Alike:   fmt.Sprintf("have tests and no task test, as they do not require %s", u.Runner),
		Hint:    u.Hint + ", or write the task test in dish.toml; [workspace] scripts.test = [] in bento.toml means that none is wanted",
	}}
}
