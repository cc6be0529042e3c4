package plan

import (
	"maps"
	"slices"
)

// contain decides whether t runs in a container: that of its own table, or that of its dish, which servers and interactive
// tasks do not have. The variables of the container are those of the task.
func (t *Task) contain() {
	if t.Container == nil && !t.Persistent && !t.Interactive {
		t.Container = t.Dish.Container
	}
	c := t.Container
	if c == nil || c.None || t.Tool != nil {
		t.Container = nil
		return
	}
	t.Network = t.Network || c.Network
	if len(c.Env) > 0 {
		t.HashEnv = slices.Concat(t.HashEnv, c.Env)
	}
	if len(c.SetEnv) > 0 {
		set := maps.Clone(c.SetEnv)
		maps.Copy(set, t.SetEnv)
		t.SetEnv = set
	}
}

// AwaitsInstall reports whether t waits for the install of its dish on this machine. The task of a tool does not: it runs nothing
// in the dish.
func (t *Task) AwaitsInstall() bool {
	return t.Dish.Installs() && t.Tool == nil && !t.NoInstall && (t.Container == nil || !t.Container.NoInstall)
}
