package deno

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters/deno/denojson"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// project is a directory of Deno with its workspace.
type project struct {
	*denojson.Config // empty when the directory has only a lockfile
	dir              string
	root             *denojson.Config // of the workspace; the project's own outside of one
}

// scope returns the directory that is installed as one.
func (p *project) scope() string { return filepath.Dir(p.root.Path) }

func (p *project) isMember() bool { return p.root != p.Config }

// isAggregate reports whether the project is only the root of a workspace.
func (p *project) isAggregate() bool { return p.Workspace != nil && !p.Exports }

// open reads the project in f's directory.
func (a *Adapter) open(f *snapshot.Files) (*project, error) {
	own, err := a.read(f, f.Dir())
	if err != nil {
		return nil, err
	}
	p := &project{Config: own, dir: f.Dir(), root: own}
	for dir := range f.Ancestors() {
		if dir == f.Dir() {
			continue
		}
		above, err := a.read(f, dir)
		if err != nil {
			return nil, err
		}
		if names(above, f.Dir()) {
			p.root = above
			break
		}
	}
	return p, nil
}

// isPackage reports whether f's directory is a member of a workspace of Deno that has a package.json and no
// deno.json, and Deno's lockfile is the only one from there up to the root of the workspace.
func (a *Adapter) isPackage(f *snapshot.Files) bool {
	if !f.IsFile("package.json") || slices.ContainsFunc(configNames(), f.IsFile) {
		return false
	}
	for dir := range f.Ancestors() {
		if slices.ContainsFunc(otherLocks(), func(name string) bool { return f.IsFile(filepath.Join(dir, name)) }) {
			return false
		}
		if dir == f.Dir() {
			continue
		}
		above, err := a.read(f, dir)
		if err != nil {
			return false // bento reports it for that directory
		}
		if above.Workspace != nil {
			return names(above, f.Dir()) && above.Lock != "" && f.IsFile(above.Lock)
		}
	}
	return false
}

// otherLocks returns the names of the lockfiles of the managers of Node.js.
func otherLocks() []string {
	return []string{"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"}
}

// read returns the deno.json in dir, an empty one when it is missing.
func (a *Adapter) read(f *snapshot.Files, dir string) (*denojson.Config, error) {
	return a.configs.Get(f, dir, func(f *snapshot.Files) (*denojson.Config, error) {
		for _, name := range configNames() {
			path := f.Path(name)
			data, err := f.ReadIfExists(path)
			if err != nil {
				return nil, err
			}
			if data != nil {
				return denojson.Parse(path, data)
			}
		}
		path := filepath.Join(dir, configNames()[0])
		return &denojson.Config{Path: path, Lock: filepath.Join(dir, "deno.lock")}, nil
	})
}

// names reports whether dir is a member of the workspace of c.
func names(c *denojson.Config, dir string) bool {
	rel, err := filepath.Rel(filepath.Dir(c.Path), dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return false
	}
	return slices.ContainsFunc(c.Workspace, func(pattern string) bool {
		hit, err := path.Match(cleanMember(pattern), filepath.ToSlash(rel))
		return err == nil && hit
	})
}

func cleanMember(pattern string) string { return path.Clean(strings.TrimSuffix(pattern, "/")) }

// maxMembers is how many directories a workspace may name at most.
const maxMembers = 10_000

// membersOf returns the directories that the workspace of c names, sorted. Deno allows "*"
// in a path, and no "**".
func (a *Adapter) membersOf(f *snapshot.Files, c *denojson.Config) []string {
	if len(c.Workspace) == 0 {
		return nil
	}
	root := filepath.Dir(c.Path)
	dirs, _ := a.members.Get(f, root, func(f *snapshot.Files) ([]string, error) {
		if _, err := a.read(f, root); err != nil {
			return nil, err
		}
		var dirs []string
		for _, pattern := range c.Workspace {
			if clean := cleanMember(pattern); clean != "." && filepath.IsLocal(filepath.FromSlash(clean)) {
				dirs = append(dirs, expand(f, root, strings.Split(clean, "/"))...)
			}
		}
		slices.Sort(dirs)
		return slices.Compact(dirs), nil
	})
	return dirs
}

// expand returns the directories below dir that the parts of a path match.
func expand(f *snapshot.Files, dir string, parts []string) []string {
	if len(parts) == 0 {
		if !f.IsDir(dir) {
			return nil
		}
		return []string{dir}
	}
	if !strings.ContainsAny(parts[0], `*?[\`) {
		return expand(f, filepath.Join(dir, parts[0]), parts[1:])
	}
	var dirs []string
	for _, e := range f.List(dir) {
		hit, err := path.Match(parts[0], e.Name())
		if err == nil && hit && e.IsDir() && e.Name() != "node_modules" && len(dirs) < maxMembers {
			dirs = append(dirs, expand(f, filepath.Join(dir, e.Name()), parts[1:])...)
		}
	}
	return dirs
}

// memberNames finds the members of workspaces by the names in their manifests. A caller
// that depends on a manifest notes it itself.
type memberNames struct {
	byRoot snapshot.Memo[map[string]string]
}

// find returns the directory of the member with this name, or "".
func (n *memberNames) find(a *Adapter, root *denojson.Config, name string) string {
	dir := filepath.Dir(root.Path)
	dirs, _ := n.byRoot.Get(a.Files(dir), dir, func(f *snapshot.Files) (map[string]string, error) {
		dirs := make(map[string]string)
		for _, dir := range a.membersOf(f, root) {
			if name := packageName(f.In(dir)); name != "" {
				dirs[name] = dir
			}
			if c, err := a.read(f, dir); err == nil && c.Name != "" {
				dirs[c.Name] = dir
			}
		}
		return dirs, nil
	})
	return dirs[name]
}
