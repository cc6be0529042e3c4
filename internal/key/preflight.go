package key

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
)

// Preflight holds the problems that would make tasks fail, found before any of them runs.
type Preflight struct {
	// Problems are missing tools, unmet pins and unreadable inputs, but not those of hits.
	Problems []diagnostics.Diagnostic

	unable map[*plan.Task]bool // tasks that cannot run because of an error among Problems
}

// Preflight returns the problems that would make misses fail. If a tool of a language is missing, it
// also asks for the toolchains of pending tasks, so that the problems name every dish that needs the
// tool.
func (e *Evaluator) Preflight(ctx context.Context) Preflight {
	lacking := make(map[adapters.Adapter]bool)
	p := e.preflight(func(ev *Evaluation) *adapters.MissingTool {
		m := ev.missingTool()
		if m != nil {
			lacking[ev.Task.Dish.Adapter] = true
		}
		return m
	})
	if len(lacking) == 0 {
		return p
	}
	asked := make(map[*dish.Dish]*adapters.MissingTool)
	return e.preflight(func(ev *Evaluation) *adapters.MissingTool {
		d := ev.Task.Dish
		if ev.Reason != MissPending || ev.Task.Tool != nil || !lacking[d.Adapter] {
			return ev.missingTool()
		}
		m, known := asked[d]
		if !known {
			_, err := e.o.Toolchains.Fingerprint(ctx, d.Adapter, d.Dir)
			errors.As(err, &m)
			asked[d] = m
		}
		return m
	})
}

func (e *Evaluator) preflight(missing func(*Evaluation) *adapters.MissingTool) Preflight {
	p := Preflight{unable: make(map[*plan.Task]bool)}
	type need struct {
		dish *dish.Dish
		tool string
	}
	seenTools := make(map[need]bool)
	pins := make(map[*dish.Dish][]diagnostics.Diagnostic)
	for _, ev := range e.evaluations() {
		if ev == nil || ev.Status == Hit || ev.Task.Held {
			continue
		}
		d := ev.Task.Dish
		if ev.NoImage != nil {
			problem := ev.NoImage.problem()
			p.note(ev.Task, problem)
			p.Problems = append(p.Problems, problem)
			continue
		}
		m := missing(ev)
		if m == nil {
			m = lacking(ev.Task, e.o.Lacks)
		}
		if m != nil {
			problem := MissingTool(d, m)
			p.note(ev.Task, problem)
			if at := (need{d, m.Tool}); !seenTools[at] {
				seenTools[at] = true
				p.Problems = append(p.Problems, problem)
			}
			continue
		}
		var unreadable diagnostics.Problems
		if errors.As(ev.Err, &unreadable) {
			p.note(ev.Task, unreadable...)
			p.Problems = append(p.Problems, unreadable...)
			continue
		}
		if d.Adapter == nil || ev.Toolchain == "" {
			continue
		}
		unmet, asked := pins[d]
		if !asked {
			unmet = UnmetPins(e.o.Root, d, ev.Toolchain)
			pins[d] = unmet
			p.Problems = append(p.Problems, unmet...)
		}
		p.note(ev.Task, unmet...)
	}
	return p
}

func (p *Preflight) note(t *plan.Task, problems ...diagnostics.Diagnostic) {
	if len(diagnostics.Errors(problems)) > 0 {
		p.unable[t] = true
	}
}

// Advice returns hints for a run that the problems stop, nil if they stop nothing.
func (p *Preflight) Advice(tasks []*plan.Task) []diagnostics.Diagnostic {
	if len(p.unable) == 0 {
		return nil
	}
	all, stopped := make(map[*dish.Dish]bool), make(map[*dish.Dish]bool)
	for _, t := range tasks { // dependencies first
		all[t.Dish] = true
		for _, d := range t.Deps {
			p.unable[t] = p.unable[t] || p.unable[d.Task]
		}
		if p.unable[t] {
			stopped[t.Dish] = true
		}
	}
	others := len(all) - len(stopped)
	if others == 0 {
		return nil
	}
	text := "--keep-going runs the tasks of the other dish"
	if others > 1 {
		text = fmt.Sprintf("--keep-going runs the tasks of the other %d dishes", others)
	}
	return []diagnostics.Diagnostic{{
		Severity: diagnostics.Hint, Rule: "keep_going", Source: diagnostics.Source,
		Message: text + "; --exclude DISH leaves a dish out",
	}}
}

// MissingTool returns the problem of a dish whose tool is not installed: an error, or a warning if
// the workspace leaves out the tasks of such dishes.
func MissingTool(d *dish.Dish, m *adapters.MissingTool) diagnostics.Diagnostic {
	name := fmt.Sprintf("%q", d.Name)
	if d.Adapter != nil {
		name += " (" + d.Adapter.Manifest().AdapterID + ")"
	}
	p := diagnostics.Diagnostic{
		File: d.Path, Severity: diagnostics.Error, Rule: "missing_tool", Source: diagnostics.Source,
		Message: fmt.Sprintf("dish %s needs %s, which is not installed", name, m.Tool),
		Hint:    m.Hint,
		Dish:    d.Name, Alike: fmt.Sprintf("need %s, which is not installed", m.Tool),
	}
	if d.Toolchain.SkipMissing {
		p.Severity = diagnostics.Warning
		p.Message += "; its tasks are left out"
		p.Alike += "; their tasks are left out"
	}
	return p
}

// lacking returns the program that a task starts by name and that PATH lacks, nil for none. It
// returns nil, too, if a command of the user runs before the task: it may install the program.
func lacking(t *plan.Task, lacks func(*plan.Task) string) *adapters.MissingTool {
	program := lacks(t)
	if program == "" || followsCommand(t, make(map[*plan.Task]bool)) {
		return nil
	}
	return &adapters.MissingTool{Tool: program, Hint: fmt.Sprintf(
		"its task %s starts it by name: install it into a directory of PATH, or change the command", t.Name)}
}

// Lacking is a program that PATH lacks, and the dishes whose tasks start it by name.
type Lacking struct {
	*adapters.MissingTool
	Dishes []*dish.Dish
}

// LackingOf returns the programs that the tasks of a plan lack, whether or not they are hits. lacks
// returns the one of a task, "" for none.
func LackingOf(p *plan.Plan, lacks func(*plan.Task) string) (list []Lacking) {
	for _, t := range p.Tasks {
		m := lacking(t, lacks)
		if m == nil || t.Held {
			continue
		}
		i := slices.IndexFunc(list, func(l Lacking) bool { return l.Tool == m.Tool })
		if i < 0 {
			i, list = len(list), append(list, Lacking{MissingTool: m})
		}
		if l := &list[i]; !slices.Contains(l.Dishes, t.Dish) {
			l.Dishes = append(l.Dishes, t.Dish)
		}
	}
	return list
}

// followsCommand reports whether a task runs after one whose command is the user's own.
func followsCommand(t *plan.Task, seen map[*plan.Task]bool) bool {
	for _, d := range t.Deps {
		if seen[d.Task] {
			continue
		}
		seen[d.Task] = true
		if !d.Task.Recipe() || followsCommand(d.Task, seen) {
			return true
		}
	}
	return false
}

// missingTool returns the missing tool of an evaluation, nil if none is missing.
func (ev *Evaluation) missingTool() *adapters.MissingTool {
	var m *adapters.MissingTool
	if errors.As(ev.Err, &m) {
		return m
	}
	return nil
}
