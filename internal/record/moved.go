package record

import "path"

// watchDirs starts to watch the directories that the task reads: its dish, the dishes whose sources
// are in its key, the directories around these, and the directories of its inputs.
func (x *Execution) watchDirs() {
	if x.Moves == nil {
		return
	}
	var first []string
	seen := make(map[string]bool)
	add := func(dir string) {
		for ; !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			first = append(first, dir)
		}
	}
	add(x.Ev.Task.Dish.Path)
	for _, d := range x.Linked {
		add(d.Path)
	}
	for _, u := range x.Upstream {
		add(u.Task.Dish.Path)
	}
	for _, e := range x.Ev.Targets {
		add(path.Dir(e.Path))
	}
	rest := make([]string, len(x.Ev.Dirs))
	for i, d := range x.Ev.Dirs {
		rest[i] = d.Path
	}
	x.running = x.Moves.Begin(x.Root, first, rest)
}

// noteMoves notes a directory that was moved while the command ran. The times of the directory may
// not show that, if something was made in it, too.
func (x *Execution) noteMoves() {
	if x.running == nil {
		return
	}
	if dir := x.running.Moved(); dir != "" && !x.mayRewrite(dir) {
		x.movedDir = difference{path: dir, equal: true}
	}
}
