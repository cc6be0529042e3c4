package golang

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/bentobuild/bento/adapters/golang/gomod"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// space holds the uses between the members of a workspace.
type space struct {
	members []member
	uses    snapshot.Memo[[]use] // by the directory of the member
}

// member is a module of a workspace.
type member struct {
	dir string
	mod *gomod.Module
}

// use is a member's need of another, and the line that states it.
type use struct {
	member
	file string
	line int
	dev  bool
}

// space reads the modules of the workspace in effect. It leaves out directories without a
// go.mod: go reports them.
func (a *Adapter) space(f *snapshot.Files, p *project) (*space, error) {
	return a.spaces.Get(f, p.work.File, func(f *snapshot.Files) (*space, error) {
		s := new(space)
		work, err := a.works.Read(f.Beyond(), p.work.File)
		if err != nil {
			return nil, err
		}
		for _, dir := range work.Uses {
			mod, err := a.mods.Read(f, filepath.Join(dir, "go.mod"))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			s.members = append(s.members, member{dir, mod})
		}
		return s, nil
	})
}

// siblings returns the other modules of the workspace in effect, none without one.
func (a *Adapter) siblings(f *snapshot.Files, p *project) ([]member, error) {
	if p.work == nil {
		return nil, nil
	}
	s, err := a.space(f, p)
	if err != nil {
		return nil, err
	}
	return s.besides(p.dir, p.mod), nil
}

func (s *space) besides(dir string, mod *gomod.Module) []member {
	var all []member
	for _, m := range s.members {
		if m.dir != dir && (mod == nil || m.mod.Name != mod.Name) {
			all = append(all, m)
		}
	}
	return all
}

// usedBy returns the other modules that the module in dir needs: those that its go.mod requires, and
// those that it imports, because within a workspace an import is enough.
func (s *space) usedBy(f *snapshot.Files, dir string, mod *gomod.Module, workFile string) []use {
	uses, _ := s.uses.Get(f, dir, func(f *snapshot.Files) ([]use, error) {
		f.Whole("go.mod")
		var uses []use
		var free []member
		for _, m := range s.besides(dir, mod) {
			if r := mod.Find(m.mod.Name); r != nil {
				uses = append(uses, use{m, mod.Demand.File, r.Line, false})
			} else if m.mod.Name != "" {
				free = append(free, m)
			}
		}
		if len(free) == 0 {
			return uses, nil
		}
		found, complete := importsOf(f, mod, free)
		for i, m := range free {
			switch at := found[i]; {
			case at.file != "":
				uses = append(uses, use{m, at.file, at.line, at.test})
			case !complete: // the module is too large to read
				uses = append(uses, use{m, workFile, 0, false})
			}
		}
		return uses, nil
	})
	return uses
}
