package run

import (
	"fmt"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
)

// maxDepth is the largest number of runs of which each was started by a task of the one before. A task
// that starts bento in a copy of its workspace is no task of its own, so only the number ends it.
const maxDepth = 16

// chain returns the work that has started this bento.
func (e *Env) chain() state.Chain { return state.ParseChain(e.Environ.Get(state.Inside)) }

// refuseRecursion returns an error if a task of p is running already, and has started this bento.
func (e *Env) refuseRecursion(p *plan.Plan) error {
	chain := e.chain()
	problem := diagnostics.Diagnostic{Severity: diagnostics.Error, Rule: "task_recursion", Source: diagnostics.Source}
	if len(chain) >= maxDepth {
		problem.Message = fmt.Sprintf("%d runs of bento have started one another, the last by %s", len(chain), chain[len(chain)-1:].Words(e.Root))
		problem.Hint = "let no task start bento on a copy of its own workspace: " + chain.Words(e.Root)
		return diagnostics.Problems{problem}
	}
	for i, s := range chain {
		if s.Root != e.Root {
			continue
		}
		for _, t := range p.Tasks {
			if t.ID() == s.Work && !t.Held {
				problem.Message = fmt.Sprintf("%s starts bento on itself: %s → %s", t.ID(), chain[i:].Words(e.Root), t.ID())
				problem.Hint = "let its command do the work, or name the tasks that come first in its depends_on"
				return diagnostics.Problems{problem}
			}
		}
	}
	return nil
}

// installing is the name of an install in a chain.
func installing(d *dish.Dish) string {
	return "the install of " + d.ScopeDir() + " (" + d.Adapter.Manifest().AdapterID + ")"
}

// inOwnInstall returns an error if this bento was started by the install of the scope of d.
func (in *installer) inOwnInstall(d *dish.Dish) error {
	if chain := in.chain(); chain.Has(in.Root, installing(d)) {
		return fmt.Errorf("%s has started this bento, and must not wait for itself; --skip-install leaves it out", installing(d))
	}
	return nil
}
