package run

import (
	"testing"
	"time"

	"github.com/bentobuild/bento/internal/action"
)

// Observing is dear after some executions of many calls in little time. Others can make up for them.
func TestObservingIsDear(t *testing.T) {
	script, compiler := &action.Used{Calls: 200, CPU: 10 * time.Millisecond}, &action.Used{Calls: 8000, CPU: 10 * time.Second}
	for name, c := range map[string]struct {
		scripts, compilers, unobserved int
		want                           bool
	}{
		"none":             {0, 0, 0, false},
		"few":              {neverDear - 1, 0, 0, false},
		"many":             {neverDear, 0, 0, true},
		"compilers":        {0, 100, 0, false},
		"both":             {100, 1, 0, false},
		"scripts prevail":  {1000, 1, 0, true},
		"few, not the sum": {neverDear - 1, 0, 100, false},
	} {
		var o observing
		for range c.scripts {
			o.note(script)
		}
		for range c.compilers {
			o.note(compiler)
		}
		for range c.unobserved {
			o.note(nil)
		}
		if got := o.isDear(); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}
