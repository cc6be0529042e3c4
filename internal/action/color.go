package action

import (
	"slices"

	"github.com/bentobuild/bento/internal/plan"
)

// Color says whether tools print colours although a task's output is no terminal.
type Color int

// The values of Color.
const (
	ColorAsIs   Color = iota // as the environment says
	ColorAlways              // FORCE_COLOR and CLICOLOR_FORCE are set
	ColorNever               // NO_COLOR is set, and neither of the others is passed
)

// colorNames are variables by which the user asks for colours. Tasks see them, but the tools that bento
// asks for their versions do not: it could not read their answers.
var colorNames = []string{"FORCE_COLOR", "CLICOLOR_FORCE"}

// colors returns the variables by which a task is asked for colours, or for none. A task that sets
// one of them itself, or has one in its key, decides alone.
func (c *Commands) colors(t *plan.Task, files map[string]string) map[string]string {
	if c.Color == ColorAsIs {
		return nil
	}
	for _, name := range append(slices.Clip(colorNames), "NO_COLOR") {
		_, set := t.SetEnv[name]
		_, inFile := files[name]
		if set || inFile || slices.Contains(t.HashEnv, name) {
			return nil
		}
	}
	if c.Color == ColorNever {
		return map[string]string{"NO_COLOR": "1"}
	}
	set := make(map[string]string)
	for _, name := range colorNames {
		if v := c.Environ.Get(name); v == "" || v == "0" || v == "false" {
			set[name] = "1"
		}
	}
	if c.Environ.Get("NO_COLOR") != "" { // --color goes before it
		set["NO_COLOR"] = ""
	}
	return set
}
