package record

import (
	"fmt"
	"path"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/tree"
)

// Reach is what the command of an execution may use of the workspace. All paths are relative to it.
type Reach struct {
	key.Usable
	Root      string
	Files     map[string]bool // that may be read: inputs, discovered inputs, outputs of dependencies
	Changes   *tree.Set       // of Usable.Change
	Elsewhere *tree.Set       // of Usable.Read
}

// Reach returns what the command may use. It is for the goroutine of the Evaluator; Prepare need not have been called.
func (x *Execution) Reach() (*Reach, error) {
	t := x.Ev.Task
	files, _ := x.knownFiles(false) // all that the task declares
	r := &Reach{Root: x.Root, Usable: x.Files.Usable(t), Files: files}
	var err error
	if r.Changes, err = tree.CompileSet(t.Dish.Path, r.Change); err != nil {
		return nil, err
	}
	if r.Elsewhere, err = tree.CompileSet(t.Dish.Path, r.Read); err != nil {
		return nil, err
	}
	for _, d := range x.Linked {
		for _, e := range x.Tree.Under(d.Path) {
			r.Files[e.Path] = true
		}
	}
	for _, d := range x.Ev.Discovered {
		if d.Use == key.UseContent {
			r.Files[d.Path] = true
		}
	}
	for _, u := range x.Upstream {
		for i := range u.Outputs {
			r.Files[u.Outputs[i].Path] = u.Outputs[i].Kind != cache.Dir
		}
	}
	return r, nil
}

// Readable reports whether the command may read a file.
func (r *Reach) Readable(p string) bool {
	return r.Files[p] || r.Changes.Match(p) || r.Elsewhere.Match(p) || inGit(p) || key.IsOwn(p)
}

// Passing reports whether the command may make the file or, with dir, the directory p for as long as it runs: tools make
// files beside others, and rename or remove them when they are complete. The name of a directory begins with that of an output.
func (r *Reach) Passing(p string, dir bool) bool {
	if !dir {
		return r.Changes.Enters(path.Dir(p))
	}
	return r.besideOutput(p)
}

func (r *Reach) besideOutput(p string) bool {
	dir, name := path.Split(p)
	for _, root := range r.Roots {
		if around, base := path.Split(root); around == dir && strings.HasPrefix(strings.TrimPrefix(name, "."), strings.TrimPrefix(base, ".")) {
			return true
		}
	}
	return false
}

// Changeable reports whether the command may make, change or remove a file or, with dir, a directory.
func (r *Reach) Changeable(p string, dir bool) bool {
	return r.Changes.Match(p) || dir && r.Changes.Enters(p)
}

// Denied returns a sentence about a file that the command was kept from using, and the advice what to declare.
func (x *Execution) Denied(p string, change bool) (what, hint string) {
	t := x.Ev.Task
	if change {
		return fmt.Sprintf("it may not write %q, which is none of its outputs", p),
			fmt.Sprintf("add %q to outputs of %s if it makes the file, to rewrites if it changes an input, to leaves if it is a cache", x.globOf(p), t.ID())
	}
	maker, owner := x.Files.UsedBy(p)
	switch {
	case maker != nil && maker != t && !x.Tree.MayTrack(p):
		return fmt.Sprintf("it may not read %q, an output of %s", p, maker.ID()), fmt.Sprintf("add depends_on = [%q] to %s", dependencyOn(t, maker), t.ID())
	case strings.HasPrefix(p, "../"):
		return fmt.Sprintf("it may not use %q", p), ""
	case owner == nil || owner.Path == t.Dish.Path || !x.Tree.MayTrack(p):
		return fmt.Sprintf("it may not read %q, which is none of its inputs", p), fmt.Sprintf("add %q to inputs of %s", x.globOf(p), t.ID())
	}
	return fmt.Sprintf("it may not read %q of the dish %s, which is none of its inputs", p, owner.Name),
		fmt.Sprintf("add %q to inputs of %s, or %q to depends_on of its dish", x.globOf(p), t.ID(), owner.Name)
}
