package ruby

import (
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
)

// Portable implements adapters.Porter: the directory of gems, if it is the project's own, and the settings that name it.
func (a *Adapter) Portable(dir string, scope adapters.Scope) (adapters.Portable, error) {
	if scope.Nothing {
		return adapters.Portable{}, nil
	}
	gems := installedTo(a.Now().Files(dir), scope.Dir)
	if gems == "" {
		return adapters.Portable{Stays: `its gems are in a directory that projects of this machine share; "bundle config set --local path vendor/bundle" moves them into the project`}, nil
	}
	return adapters.Portable{Trees: []adapters.PortableTree{
		{Dir: filepath.Join(scope.Dir, gems)},
		{Dir: filepath.Join(scope.Dir, ".bundle"), Only: []string{"config"}},
	}}, nil
}
