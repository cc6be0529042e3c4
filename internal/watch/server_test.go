package watch

import (
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
)

// A server that waited for its dependencies is compared with the key and inputs of its start. An edit may come
// after the start, and before a check whose changes do not list the edited file.
func TestServerIsComparedWithItsBeginning(t *testing.T) {
	task := &plan.Task{Dish: &dish.Dish{Path: "d"}, Name: "dev"}
	old, edited := cache.Key{1}, cache.Key{2}
	inputs := []key.File{{Path: "d/in"}}
	for name, c := range map[string]struct {
		began *beginning
		known bool
		paths []string
		due   bool
	}{
		"waits, something else changed":   {nil, true, []string{"d/out"}, false},
		"waits, an input changed":         {nil, true, []string{"d/in"}, true},
		"began before the edit":           {&beginning{old, inputs}, true, []string{"d/out"}, true},
		"began after the edit":            {&beginning{edited, inputs}, true, []string{"d/in"}, false},
		"what it depends on is not there": {&beginning{edited, inputs}, false, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := new(server)
			s.began.Store(c.began)
			w := &Loop{servers: map[string]*server{task.ID(): s}}
			l := &look{results: []*key.Evaluation{{Task: task, Known: c.known, Key: edited, Inputs: inputs}}}
			if due := w.isDue(l, task.ID(), c.paths); due != c.due {
				t.Errorf("due: %v, want %v", due, c.due)
			}
		})
	}
}
