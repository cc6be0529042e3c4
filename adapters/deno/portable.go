package deno

import (
	"path"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
)

// Portable implements adapters.Porter: node_modules, and the packages of npm in Deno's directory that the lockfile names.
func (a *Adapter) Portable(dir string, scope adapters.Scope) (adapters.Portable, error) {
	if scope.Nothing {
		return adapters.Portable{}, nil
	}
	f := a.Now().Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.Portable{}, err
	}
	_, l := a.lockOf(f, p)
	switch {
	case l.lock == nil:
		return adapters.Portable{Stays: "its lockfile does not say what it needs"}, nil
	case l.lock.HasRemote:
		return adapters.Portable{Stays: "its modules of JSR or of URLs are in Deno's cache under names that are digests"}, nil
	}
	cached := adapters.PortableTree{Dir: a.denoDir(), Variable: "DENO_DIR", Only: []string{}}
	for _, of := range l.lock.NPM {
		cached.Only = append(cached.Only, "npm/*/"+of, "npm/*/"+path.Dir(of)+"/registry.json")
	}
	modules := adapters.PortableTree{Dir: filepath.Join(scope.Dir, "node_modules")}
	return adapters.Portable{Trees: []adapters.PortableTree{modules, cached}, Set: map[string]string{"DENO_NO_UPDATE_CHECK": "1"}}, nil
}
