package record

import (
	"testing"

	"github.com/bentobuild/bento/internal/action"
)

// What git has recorded may hold the content of any file, so a command that reads it was not seen as a whole.
func TestWhyUnseen(t *testing.T) {
	read := func(p string, use action.Use) *action.Used {
		return &action.Used{Files: []action.UsedFile{{Path: p, Use: use}}}
	}
	for name, c := range map[string]struct {
		used *action.Used
		want string
	}{
		"not observed":            {nil, "it was executed without being observed"},
		"not as a whole":          {&action.Used{Unseen: []string{"why"}}, "why"},
		"a server":                {&action.Used{Servers: []string{"a server"}}, "a server"},
		"a file":                  {read("/w/a", action.Read), ""},
		"an object":               {read("/w/.git/objects/aa/bb", action.Read), gitReads},
		"the last commit":         {read("/w/.git/HEAD", action.Read), gitReads},
		"whether there is one":    {read("/w/.git/HEAD", action.Stat), ""},
		"settings":                {read("/w/.git/config", action.Read), ""},
		"what is ignored":         {read("/w/.git/info/exclude", action.Read), ""},
		"a linked worktree":       {read("/w/.git", action.Read), gitReads},
		"the place of repository": {read("/w/.git", action.Stat), ""},
		"around the workspace":    {&action.Used{Outside: []string{"/.git/index"}}, gitReads},
	} {
		t.Run(name, func(t *testing.T) {
			if got := whyUnseen(c.used); got != c.want {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
}
