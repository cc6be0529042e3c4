package action

import (
	"testing"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
)

// TestPathsOfContainers: what a command in a container has printed is read with the place of the workspace there, and given to
// parsers that open files with that on this machine.
func TestPathsOfContainers(t *testing.T) {
	here := &plan.Task{Dish: &dish.Dish{Dir: "/my ws/app"}}
	there := &plan.Task{Dish: here.Dish, Container: &dish.Container{Image: "x"}}
	for _, c := range []struct {
		task       *plan.Task
		path, want string
	}{{here, "/my ws/app", "/my ws/app"}, {there, "/my ws/app", "/bento/w/app"}, {there, "/my ws", "/bento/w"}} {
		if got := seenBy(c.task, "/my ws", c.path); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
	const printed = "/bento/w/app/a.go:3:1 x\n(/bento/w) file:///bento/w/b /bento/work /x/bento/w /bento/w /bento/w\n"
	if got, want := onMachine(there, "/$1", printed), "/$1/app/a.go:3:1 x\n(/$1) file:///$1/b /bento/work /x/bento/w /$1 /$1\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := onMachine(here, "/ws", printed); got != printed {
		t.Errorf("not in a container: %q", got)
	}
}
