package golang

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/golang/gomod"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// project is what the go command finds in and around a directory.
type project struct {
	dir  string
	mod  *gomod.Module // nil at the root of a workspace that is not a module
	work *gomod.Work   // the workspace in effect, or nil
	// noWork is set when go would find a workspace without this module, or one above the
	// repository. Tasks and installs then run with GOWORK=off.
	noWork bool
}

// project reads the manifests in and around f's directory.
func (a *Adapter) project(f *snapshot.Files) (*project, error) {
	p := &project{dir: f.Dir()}
	mod, err := a.mods.Read(f, "go.mod")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	p.mod = mod
	path, ours := a.findWork(f)
	if path == "" || !ours {
		p.noWork = path != ""
		return p, nil
	}
	if p.work, err = a.works.Read(f.Beyond(), path); err != nil {
		return nil, err
	}
	if mod != nil && a.env.Get("GOWORK") == "" && !p.work.Has(p.dir) {
		p.work, p.noWork = nil, true
	}
	return p, nil
}

// findWork returns the go.work that the go command would use, or "", and whether it lies in
// the repository or the user names it.
func (a *Adapter) findWork(f *snapshot.Files) (path string, ours bool) {
	if v := a.env.Get("GOWORK"); v != "" {
		if v == "off" || !filepath.IsAbs(v) {
			return "", false
		}
		return filepath.Clean(v), true
	}
	if path, ok := f.Up("go.work"); ok {
		return path, true
	}
	beyond := f.Beyond()
	for dir := f.Dir(); dir != filepath.Dir(dir); { // go searches up to the root of the file system
		dir = filepath.Dir(dir)
		if path := filepath.Join(dir, "go.work"); beyond.IsFile(path) {
			return path, false
		}
	}
	return "", false
}

// members returns the modules that the manifests of p name below or beside it: those of its
// go.work and the local replacements inside its own directory.
func (p *project) members() []string {
	var dirs []string
	if p.work != nil && p.work.Dir() == p.dir {
		dirs = append(dirs, p.work.Uses...)
	}
	if p.mod != nil {
		for _, r := range p.mod.Replaces {
			if r.Dir != p.dir && adapters.Within(p.dir, r.Dir) {
				dirs = append(dirs, r.Dir)
			}
		}
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	return slices.DeleteFunc(dirs, func(d string) bool { return d == p.dir })
}

// env returns the variables that tasks and installs of p need in addition.
func (p *project) env() map[string]string {
	if p.noWork {
		return map[string]string{"GOWORK": "off"}
	}
	return nil
}
