package plan

import (
	"fmt"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// checkAliases reports the aliases of tasks of d that are names or aliases of others.
func (b *builder) checkAliases(d *dish.Dish, byName map[string]*Task) {
	if d.Config == nil {
		return
	}
	var of map[string]string // by alias: its task
	for i := range d.Config.Tasks {
		c := &d.Config.Tasks[i]
		for _, alias := range c.About.Aliases {
			message := ""
			if other := of[alias.Text]; other != "" {
				message = fmt.Sprintf("the alias %q of task %q is also an alias of task %q", alias.Text, c.Name, other)
			} else if byName[alias.Text] != nil {
				message = fmt.Sprintf("the alias %q of task %q is the name of a task", alias.Text, c.Name)
			}
			if message != "" {
				b.problem(diagnostics.Error, at(alias.Pos), diagnostics.RuleInvalid, message, "choose another alias, or remove it")
				continue
			}
			if of == nil {
				of = make(map[string]string)
			}
			of[alias.Text] = c.Name
		}
	}
}

// called returns the task of d that has a name on the command line, as its name or as an alias; nil for none.
func (b *builder) called(d *dish.Dish, name string) *Task {
	if t := b.task(d, name); t != nil {
		return t
	}
	for _, t := range b.byDish[d] {
		if t.About.IsAlias(name) {
			return t
		}
	}
	return nil
}

// calledIn is called, but if d names a directory with several dishes, it returns the task of the first one that
// has it; names go before aliases.
func (b *builder) calledIn(d *dish.Dish, name string) *Task {
	if t := b.taskIn(d, name); t != nil {
		return t
	}
	for _, d := range b.ws.Named(d) {
		if t := b.called(d, name); t != nil {
			return t
		}
	}
	return nil
}
