//go:build amd64 || arm64

package observe

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/proc"
)

// TestFinders observes a command with a program that looks for the members of a workspace: this binary, as the program
// "static". What it reads in other/ is overlooked, in all its threads, and what its children read there is not.
func TestFinders(t *testing.T) {
	needObserver(t)
	t.Parallel()
	finder := self(t)
	root := tree(t, append(numbered(50), "own", "other/a", "other/b", "other/deep/c")...)
	for _, c := range []struct {
		name string
		argv []string
		want []string
	}{
		{"reads and looks", []string{finder, "static", "read:own", "read:other/a", "stat:other/b", "list:other", "read:other/missing"}, []string{"own"}},
		{"threads", []string{finder, "static", "threads:other/deep", "read:own"}, []string{"own"}},
		{"a change", []string{finder, "static", "write:other/new"}, []string{"other/new"}},
		{"a child", []string{"/bin/sh", "-c", finder + " static read:other/a; cat other/b"}, []string{"other/b"}},
		{"the same file", []string{"/bin/sh", "-c", finder + " static read:other/a; cat other/a"}, []string{"other/a"}},
		{"twice", []string{"/bin/sh", "-c", finder + " static read:other/a; " + finder + " static read:other/b; true"}, nil},
		{"elsewhere", []string{"/bin/sh", "-c", "cd other/deep; " + finder + " static read:c; true"}, []string{"other/deep", "other/deep/c"}},
		{"another call", []string{finder, "static", "elsewhere:", "read:other/a"}, []string{"other/a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var used *action.Used
			x, err := (&Executor{Root: root, Self: finder, Name: finder}).Start(t.Context(), &action.Command{
				Spec: proc.Spec{Argv: c.argv, Dir: root, Env: []string{"PATH=/usr/bin:/bin"}},
				Used: func(u *action.Used) { used = u },
				Overlook: &action.Overlook{
					Runs: func(file string, words []string) bool {
						return file == finder && words[1] == "static" && !slices.Contains(words, "elsewhere:")
					},
					At: func(dir string, f action.UsedFile, _ bool) bool { return dir == root && within(root+"/other", f.Path) },
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := x.Wait(); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range used.Files {
				if p := strings.TrimPrefix(f.Path, root+"/"); p == "own" || filepath.Dir(p) != "." {
					got = append(got, p)
				}
			}
			if d := cmp.Diff(c.want, got); d != "" || used.Unseen != nil {
				t.Errorf("noted: %s\n%q", d, used.Unseen)
			}
		})
	}
}
