package key

import (
	"fmt"
	"slices"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// recorded returns the record of a successful run with the key of ev. A record with a path that no
// output of the task names is a miss: any user who can write to the cache can make such a record, and
// restoring it would replace sources or configuration.
func (e *Evaluator) recorded(ev *Evaluation) (*cache.Record, error) {
	record, err := e.o.Store.Lookup(ev.Key)
	switch {
	case slices.Contains(e.lost, ev.Key):
		return nil, cache.ErrMiss
	case err != nil:
		return nil, err
	case record.Exit != 0:
		return nil, cache.ErrMiss
	}
	foreign, err := e.foreignOutput(ev.Task, record.Outputs)
	switch {
	case err != nil:
		return nil, err
	case foreign != "":
		e.warn("cache_damaged", fmt.Sprintf("the cached result of %s is not used: it names %q, which is no output of the task", ev.Task.ID(), foreign),
			"if other users may write to the cache, use another one: see $BENTO_CACHE_DIR")
		return nil, cache.ErrMiss
	}
	return record, nil
}

// foreignOutput returns the path of a recorded output that no output of t names, "" for none.
func (e *Evaluator) foreignOutput(t *plan.Task, recorded []cache.Output) (string, error) {
	if len(recorded) == 0 {
		return "", nil
	}
	set, err := tree.CompileSet(t.Dish.Path, outputGlobs(t))
	if err != nil {
		return "", err
	}
	area := NewOutputArea(e.tree, e.plan, t)
	i := slices.IndexFunc(recorded, func(o cache.Output) bool { return !set.Match(o.Path) && !area.Has(o.Path) })
	if i < 0 {
		return "", nil
	}
	return recorded[i].Path, nil
}
