package discovery

import (
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// A directory that adapters of several groups recognise is a dish for each adapter that offers a lifecycle
// task there: Rails with a front end, Laravel, a project of maturin. These dishes have the same path and
// files. Their installs, keys, toolchains and outputs are separate.

// decision is the result of asking one adapter about a site, once, and of judging the answers.
type decision struct {
	dish     *dish.Dish
	verdict  adapters.NestedAnswer // of judge
	passed   bool                  // other dishes of the directory have its tasks, see pick
	answered bool                  // the adapter of the dish was asked everything
	recipes  adapters.TasksAnswer
	links    adapters.LinksAnswer
	named    bool // see finder.name
	problems []diagnostics.Diagnostic
	unsure   []error // from adapters that failed to detect
	failed   error   // from its adapter
	// insteadOf is the candidate of the same group whose workspace leaves the directory out, or nil.
	insteadOf *decision
}

// languages returns the adapters that dish.toml names, nil for none.
func (s *site) languages() []dish.Text {
	switch {
	case s.config == nil:
		return nil
	case s.config.Language.Text != "":
		return []dish.Text{s.config.Language}
	}
	return s.config.Languages
}

// mayAdopt reports whether a candidate is a dish if it has tasks.
func (s *site) mayAdopt(c *decision) bool {
	return s.config != nil || c.dish.Adapter != nil && c.verdict.Reason == ""
}

// adopts reports whether a candidate is a dish.
func (s *site) adopts(c *decision) bool { return s.mayAdopt(c) && !c.passed }

// adopted reports whether the site is a dish.
func (s *site) adopted() bool { return slices.ContainsFunc(s.decisions, s.adopts) }

// pick leaves the candidates that offer a lifecycle task. Where none does, the first with any task
// stays, else the first. dish.toml decides otherwise.
func (s *site) pick() {
	var list []*decision
	for _, c := range s.decisions {
		if c.passed = false; s.mayAdopt(c) {
			list = append(list, c)
		}
	}
	if len(list) > 1 && len(s.languages()) == 0 {
		keep := func(c *decision) bool { return c.failed != nil || offers(c.dish) }
		if !slices.ContainsFunc(list, keep) {
			only := max(0, slices.IndexFunc(list, func(c *decision) bool { return len(c.dish.Tasks) > 0 }))
			keep = func(c *decision) bool { return c == list[only] }
		}
		for _, c := range list {
			c.passed = !keep(c)
		}
		list = slices.DeleteFunc(list, func(c *decision) bool { return c.passed })
	}
	for _, c := range list {
		for _, other := range list {
			if slices.Contains(c.recipes.Wraps, other.dish.Family()) {
				other.dish.Tasks = without(other.dish.Tasks, "build", "test")
			}
		}
	}
}

// offers reports whether a dish has a recipe of a lifecycle task.
func offers(d *dish.Dish) bool {
	return slices.ContainsFunc(d.Tasks, func(t adapters.Task) bool {
		return (!t.Script || t.Body != "") && adapters.IsLifecycle(t.Name)
	})
}

func without(tasks []adapters.Task, names ...string) []adapters.Task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t adapters.Task) bool { return slices.Contains(names, t.Name) })
}

// of returns the dish of a family in a directory, else the first there, or nil.
func (f *finder) of(path, family string) *dish.Dish {
	for _, d := range f.ws.ByPath[path] {
		if d.Family() == family {
			return d
		}
	}
	return f.ws.First(path)
}

// share splits dish.toml among the dishes of one directory. The first dish has the name and the outputs,
// and each has its own tasks. A task without a language belongs to the first dish with a recipe of that
// name, else to the first dish.
func (f *finder) share() {
	for _, list := range f.ws.ByPath {
		f.label(list)
		c := list[0].Config
		if c == nil || len(list) == 1 && !anyOfLanguage(c.Tasks) {
			continue
		}
		parts := make([]dish.Settings, len(list))
		for i := range list {
			parts[i] = *c
			if parts[i].Tasks = nil; i > 0 {
				parts[i].Name, parts[i].Outputs = dish.Text{}, nil
			}
		}
		for _, t := range c.Tasks {
			if i := f.whose(list, t); i >= 0 {
				parts[i].Tasks = append(parts[i].Tasks, t)
			}
		}
		for i, d := range list {
			d.Config = &parts[i]
		}
	}
}

// anyOfLanguage reports whether a task names its language.
func anyOfLanguage(tasks []dish.TaskSettings) bool {
	for i := range tasks { // a task is too large to be copied
		if tasks[i].Language.Text != "" {
			return true
		}
	}
	return false
}

// whose returns which dish of a directory has a task, or -1 with a problem if none has it.
func (f *finder) whose(list []*dish.Dish, t dish.TaskSettings) int {
	if t.Language.Text == "" {
		return max(0, slices.IndexFunc(list, func(d *dish.Dish) bool {
			return slices.ContainsFunc(d.Tasks, func(recipe adapters.Task) bool { return recipe.Name == t.Name })
		}))
	}
	var ids []string
	for i, d := range list {
		if d.Adapter != nil {
			id := d.Adapter.Manifest().AdapterID
			if id == t.Language.Text {
				return i
			}
			ids = append(ids, id)
		}
	}
	f.add(t.Language.Pos.Error(RuleUnknownLanguage, "task %q: the directory has no dish of language %q", t.Name, t.Language.Text).WithHint(SuggestLanguage(t.Language.Text, ids)))
	return -1
}

// label sets Beside of the further dishes of one directory.
func (f *finder) label(list []*dish.Dish) {
	if len(list) < 2 {
		return
	}
	used := make(map[string]bool)
	for i, d := range list {
		if i == 0 || d.Adapter == nil {
			continue
		}
		m := d.Adapter.Manifest()
		d.Beside = m.GroupName()
		if used[d.Beside] {
			d.Beside = m.AdapterID
		}
		used[d.Beside] = true
	}
}
