package discovery

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery/answers"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree"
)

// neededScans looks for the sources that import what tasks other than builds make. In most
// workspaces dish.toml declares no such files, and no source is read.
func (f *finder) neededScans() (list []scan) {
	made, basis := f.made()
	if len(made) == 0 {
		return nil
	}
	for _, d := range f.ws.Dishes {
		a, ok := d.Adapter.(adapters.SourceImporter)
		if !ok || d.Failure != nil {
			continue
		}
		find := func(dir, file string, data []byte) []adapters.Embed {
			return slices.DeleteFunc(a.SourceImports(dir, f.decided[d].links.Names, file, data), func(e adapters.Embed) bool { return !f.isMade(e, made) })
		}
		list = append(list, scan{
			of: answers.Project{
				Path: d.Path, Adapter: d.Adapter, Embeds: find, Kind: "needs", In: a.ImportsIn(),
				Basis: basis + strings.Join(f.decided[d].links.Names, "\x00"),
			},
			set: func(list []adapters.Embed) { f.setNeeds(d, list) },
		})
	}
	return list
}

// madeFiles are the files of one output, which are at a path or below it.
type madeFiles struct {
	at  string // relative to the root
	set *tree.Set
}

// made returns the files that tasks of dish.toml make, without those of builds and those that git
// tracks, and all their globs.
func (f *finder) made() (made []madeFiles, basis string) {
	add := func(base string, globs *[]dish.Glob) {
		if globs == nil {
			return
		}
		for _, g := range *globs {
			if !f.ws.Untracked(base, g.Text) {
				continue
			}
			if set, err := tree.CompileSet(base, []string{g.Text}); err == nil { // else config has reported it
				made = append(made, madeFiles{dish.Prefix(base, g.Text), set})
				basis += base + "\x00" + g.Text + "\x00"
			}
		}
	}
	for _, d := range f.ws.Dishes {
		if d.Config == nil {
			continue
		}
		for i := range d.Config.Tasks {
			if t := &d.Config.Tasks[i]; t.Name != "build" {
				add(d.Path, t.Outputs)
				add(".", t.WorkspaceOutputs)
			}
		}
	}
	return made, basis
}

// isMade reports whether a task makes files that a source may import.
func (f *finder) isMade(e adapters.Embed, made []madeFiles) bool {
	at, ok := f.ws.Relative(e.Path)
	if !ok {
		return false
	}
	var set *tree.Set
	for _, m := range made {
		if !isAt(at, m.at) && !isAt(m.at, at) {
			continue
		}
		if set == nil {
			var err error
			if set, err = tree.CompileSet(at, []string{e.Glob}); err != nil {
				return false
			}
		}
		if m.set.Overlaps(&set.Set) {
			return true
		}
	}
	return false
}

// isAt reports whether a path is dir or below it.
func isAt(p, dir string) bool { return dir == "." || p == dir || strings.HasPrefix(p, dir+"/") }

func (f *finder) setNeeds(d *dish.Dish, list []adapters.Embed) {
	for _, e := range list {
		if at, ok := f.ws.Relative(e.Path); ok {
			d.Needs = append(d.Needs, dish.Embed{
				Path: at, Glob: e.Glob, Pos: diagnostics.Pos{File: f.inWorkspace(e.File), Line: e.Line}, Owner: f.ws.Owner(at), Named: e.Named,
			})
		}
	}
}
