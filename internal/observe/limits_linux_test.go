//go:build amd64 || arm64

package observe

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/sandbox/sandboxtest"
)

// limited runs a command of which root limits the files: it may read those with "in" in their names, and change
// those with "out". It returns what the command printed, and what was denied.
func limited(t *testing.T, root string, onlyChanges bool, argv ...string) (string, []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	var used *action.Used
	c := &action.Command{
		Spec: proc.Spec{Argv: argv, Dir: root, Env: os.Environ(), Stdout: &out, Stderr: &out},
		Used: func(u *action.Used) { used = u },
		Limits: &action.Limits{OnlyChanges: onlyChanges, Allows: func(path string, change, _ bool) bool {
			name := strings.TrimPrefix(path, root)
			return strings.Contains(name, "out") || !change && strings.Contains(name, "in")
		}},
	}
	x, err := (&Executor{Root: root, Self: self, Name: self}).Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Wait(); err != nil {
		t.Fatal(err)
	}
	return out.String(), lines(root, &action.Used{Files: used.Denied})
}

func TestLimits(t *testing.T) {
	needObserver(t)
	sh := func(script string) []string { return []string{"/bin/sh", "-c", "export LC_ALL=C; " + script} }
	for name, c := range map[string]struct {
		argv   []string
		prints string // "" for anything
		want   []string
		free   bool // only changes are limited, so this is not denied
	}{
		"a file that may be read":   {argv: sh("cat in.txt"), prints: "in.txt"},
		"another":                   {argv: sh("cat other.txt || cat other.txt; echo"), want: []string{"other.txt: read"}, free: true},
		"through a link":            {argv: sh("cat in.link || echo denied"), want: []string{"other.txt: read"}, free: true},
		"names":                     {argv: sh("ls; test -e other.txt && readlink in.link")},
		"a missing file":            {argv: sh("cat none || echo none > out.txt; cat out.txt"), prints: "cat: none: No such file or directory\nnone\n"},
		"what it made":              {argv: sh("mkdir out.d && echo x > out.d/a && mv out.d/a out.d/b && rm -r out.d && mkdir out.d && echo y > out.d/b && cat out.d/b"), prints: "y\n"},
		"a change":                  {argv: sh("echo x >> in.txt"), want: []string{"in.txt: read write"}},
		"a new file":                {argv: sh("echo x > fresh"), want: []string{"fresh: write absent"}},
		"a directory":               {argv: sh("mkdir fresh"), want: []string{"fresh: write absent"}},
		"removal":                   {argv: sh("rm -f in.txt"), want: []string{"in.txt: remove"}},
		"another name":              {argv: sh("mv other.txt out.x"), want: []string{"other.txt: read remove"}},
		"a program":                 {argv: sh("./tool"), want: []string{"tool: read"}, free: true},
		"the interpreter of":        {argv: sh("./in.script"), want: []string{"other.txt: read"}, free: true},
		"one that is there already": {argv: sh("set -C; echo x > in.txt")},
	} {
		t.Run(name, func(t *testing.T) {
			for _, onlyChanges := range []bool{false, true} {
				root := tree(t, "in.txt", "other.txt", "tool", "in.link -> other.txt")
				if err := os.WriteFile(filepath.Join(root, "in.script"), []byte("#!"+root+"/other.txt\n"), 0o777); err != nil {
					t.Fatal(err)
				}
				printed, denied := limited(t, root, onlyChanges, c.argv...)
				want := c.want
				if c.free && onlyChanges {
					want = nil
				}
				if d := cmp.Diff(want, denied); d != "" || c.prints != "" && printed != c.prints {
					t.Errorf("only changes: %v: printed %q, denied (-want +got):\n%s", onlyChanges, printed, d)
				}
			}
		})
	}
}

// Limits that the system cannot enforce keep a command from running.
func TestLimitsOnALesserKernel(t *testing.T) {
	needObserver(t)
	self, root := os.Args[0], tree(t)
	if slices.Contains(os.Args, "__limited") {
		c := &action.Command{Spec: proc.Spec{Argv: []string{"/bin/touch", "made"}, Dir: root}, Limits: &action.Limits{Allows: func(string, bool, bool) bool { return true }}}
		if err := sandboxtest.Without("seccomp"); err != nil {
			t.Fatal(err)
		}
		_, err := (&Executor{Root: root, Self: self, Name: self}).Start(t.Context(), c)
		if _, missing := os.Stat(filepath.Join(root, "made")); err == nil || missing == nil {
			t.Errorf("error %v, and the command ran: %v", err, missing == nil)
		}
		return
	}
	res, err := proc.Run(t.Context(), proc.Spec{Argv: []string{self, "-test.run=^TestLimitsOnALesserKernel$", "__limited"}, Env: os.Environ(), Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil || res.ExitCode != 0 {
		t.Errorf("exit code %d, %v", res.ExitCode, err)
	}
}
