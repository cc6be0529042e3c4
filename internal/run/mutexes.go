package run

import (
	"path"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
)

// FindConflicts returns the errors that keep a run of p from starting: those of FindOverlaps, and
// mutexes that a server would keep while another task needs them.
func FindConflicts(p *plan.Plan) []diagnostics.Diagnostic {
	return append(FindOverlaps(p).Problems, findDeadlocks(p)...)
}

// findDeadlocks returns an error for each task that waits for the mutex of a server. The server keeps it until the
// run ends, so only a task that runs before the server can have it.
func findDeadlocks(p *plan.Plan) (problems []diagnostics.Diagnostic) {
	servers := make(map[string]*plan.Task) // by mutex: the first server
	for _, t := range p.Tasks {
		if t.Persistent && !t.Held && t.Mutex != "" && servers[t.Mutex] == nil {
			servers[t.Mutex] = t
		}
	}
	if len(servers) == 0 {
		return nil
	}
	before := make(map[*plan.Task]map[int]bool) // by server
	for _, t := range p.Tasks {
		s := servers[t.Mutex]
		if s == nil || s == t || t.Held || t.Mutex == "" {
			continue
		}
		if before[s] == nil {
			before[s] = ahead(p, s)
		}
		if !before[s][t.Index] || t.Persistent {
			problems = append(problems, deadlock(t, s))
		}
	}
	return problems
}

// ahead returns the indices of the tasks that end before s begins.
func ahead(p *plan.Plan, s *plan.Task) map[int]bool {
	seen := make(map[int]bool)
	for stack := []int{s.Index}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, first := range p.Graph.Before(i) {
			if !seen[first] {
				seen[first] = true
				stack = append(stack, first)
			}
		}
	}
	return seen
}

// deadlock returns the error of a task that can never have its mutex, because s keeps it.
func deadlock(t, s *plan.Task) diagnostics.Diagnostic {
	why := "and would wait for it for ever"
	switch {
	case t.Persistent:
		why = "and both are servers, which run at once"
	case depends(t, s):
		why = "and depends on it"
	}
	d := diagnostics.Pos{File: path.Join(t.Dish.Path, "dish.toml")}.Error("mutex_deadlock", "%s has the mutex %q of the server %s, which keeps it as long as it runs, %s", t.ID(), t.Mutex, s.ID(), why).
		WithHint("give the server a mutex of its own, or none")
	for _, c := range []*plan.Task{s, t} { // t last: its place is preferred
		if c.Dish.Config == nil {
			continue
		}
		for _, table := range c.Dish.Config.Tasks {
			if table.Name == c.Name {
				d.File, d.Line, d.Col = table.Pos.File, table.Pos.Line, table.Pos.Col
			}
		}
	}
	return d
}
