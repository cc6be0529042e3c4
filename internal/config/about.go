package config

import (
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// about returns what a task says to people. It reports aliases that cannot be names; plan reports those that
// another task of the dish has.
func (t *taskTable) about(name string) (about dish.About, problems []diagnostics.Diagnostic) {
	about = dish.About{Description: strings.TrimSpace(t.Description), Group: strings.TrimSpace(t.Group), Confirm: strings.TrimSpace(t.Confirm)}
	for _, alias := range t.Aliases {
		more := checkTaskName(alias.Value, alias.Pos)
		switch {
		case !alias.Given:
			continue
		case len(more) > 0:
		case adapters.IsLifecycle(alias.Value):
			more = append(more, alias.Pos.Error(RuleName, "%q cannot be an alias of %q: bento ci and bento %s run the tasks of that name", alias.Value, name, alias.Value).WithHint("name the task so, or choose another alias"))
		default:
			about.Aliases = append(about.Aliases, textOf(alias))
		}
		problems = append(problems, more...)
	}
	return about, problems
}
