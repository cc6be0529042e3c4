package node

import (
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/adapters/node/workspace"
)

// workspaceOf gives the root of the nearest workspace above f's directory that
// names it as a member, nil when there is none.
func (a *Adapter) workspaceOf(f *adapters.Files) (*packagejson.Manifest, error) {
	for dir := range f.Ancestors() {
		if dir == f.Dir() {
			continue
		}
		m, err := a.read(f, filepath.Join(dir, packageFile))
		if err != nil {
			return nil, err
		}
		if m == nil || len(m.Workspaces) == 0 {
			continue
		}
		rel, err := filepath.Rel(dir, f.Dir())
		if err == nil && workspace.Compile(m.Workspaces).Match(filepath.ToSlash(rel)) {
			return m, nil
		}
	}
	return nil, nil
}

// membersOf gives the directories that a workspace's root names, whether or not
// they hold a package.json, sorted.
func (a *Adapter) membersOf(f *adapters.Files, root *packagejson.Manifest) []string {
	dirs, _ := a.members.get(f, root.Path, func(f *adapters.Files) ([]string, error) {
		f.Path(root.Path)
		return workspace.Compile(root.Workspaces).Expand(f, dirOf(root)), nil
	})
	return dirs
}
