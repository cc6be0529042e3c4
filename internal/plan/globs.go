package plan

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// IsGlob reports whether the name of a task or a target is a glob, which may match several.
func IsGlob(name string) bool { return strings.ContainsAny(name, "*?[{") }

// globbed returns the tasks that a glob matches: by their names in dishes, or, if the glob has a
// colon, also by their ids in any dish. It never returns a persistent or an interactive task: web:* would
// then wait for the end of web:dev.
func (b *builder) globbed(glob string, dishes []*dish.Dish) []*Task {
	if !doublestar.ValidatePattern(glob) {
		b.problem(diagnostics.Error, diagnostics.Diagnostic{}, "unknown_task", "\""+glob+"\" is no valid glob", "expected for example 'web:*' or 'test*'")
		return nil
	}
	var found, scripts []*Task
	var left []string
	for _, t := range b.tasks {
		switch {
		case !matches(glob, t, dishes):
		case t.Persistent || t.Interactive:
			left = append(left, t.ID())
		case t.Lifecycle && t.script:
			scripts = append(scripts, t)
		default:
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		found = scripts
	}
	switch {
	case len(found) > 0:
	case len(left) > 0:
		b.problem(diagnostics.Error, diagnostics.Diagnostic{}, "unknown_task",
			"\""+glob+"\" matches only persistent and interactive tasks, which a glob leaves out: "+diagnostics.Few(left), "name the task")
	default:
		b.unknown("unknown_task", "no task matches", glob, b.taskNames(dishes...))
	}
	return found
}

// matches reports whether a glob matches a task.
func matches(glob string, t *Task, dishes []*dish.Dish) bool {
	if strings.Contains(glob, ":") && doublestar.MatchUnvalidated(glob, t.ID()) {
		return true
	}
	return slices.Contains(dishes, t.Dish) && doublestar.MatchUnvalidated(glob, t.Name)
}

// excludeGlob leaves out the tasks whose ids a glob matches.
func (b *builder) excludeGlob(glob string, tasks []*Task) []*Task {
	match := func(t *Task) bool { return doublestar.MatchUnvalidated(glob, t.ID()) }
	if !slices.ContainsFunc(b.tasks, match) {
		b.unknown("unknown_task", "no task matches", glob, nil)
	}
	return slices.DeleteFunc(tasks, match)
}
