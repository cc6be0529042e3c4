package plugintest

import (
	"fmt"
	"testing"

	"github.com/bentobuild/bento/adapters"
)

// A task may be reached in 2^40 ways, and there may be a cycle.
func TestWaits(t *testing.T) {
	tasks := []adapters.Task{{Name: "a0"}, {Name: "b0"}, {Name: "c", DependsOn: []string{"d"}}, {Name: "d", DependsOn: []string{"c"}}}
	for i := 1; i <= 40; i++ {
		on := []string{fmt.Sprintf("a%d", i-1), fmt.Sprintf("b%d", i-1)}
		tasks = append(tasks, adapters.Task{Name: fmt.Sprintf("a%d", i), DependsOn: on}, adapters.Task{Name: fmt.Sprintf("b%d", i), DependsOn: on})
	}
	for _, c := range []struct {
		name, on string
		want     bool
	}{{"a40", "a0", true}, {"a40", "b7", true}, {"a40", "c", false}, {"a0", "a40", false}, {"c", "d", true}, {"c", "c", true}, {"c", "a0", false}, {"none", "a0", false}} {
		if got := waits(tasks, c.name, c.on); got != c.want {
			t.Errorf("%s waits for %s: %v, want %v", c.name, c.on, got, c.want)
		}
	}
}
