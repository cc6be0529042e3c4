// Package project reads what a package of Node.js is: its manager, the directories above
// it, and its workspace.
package project

import (
	"io/fs"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/adapters/node/settings"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// File is the name of the manifest.
const File = "package.json"

// Shelf holds what the adapters of one family have read. All packages below a directory
// share the directories above them. It is safe for concurrent use.
type Shelf struct {
	snapshot.Source
	env      adapters.Environ
	isConfig func(name string) bool
	packages snapshot.Memo[*packagejson.Manifest] // by directory
	spaces   snapshot.Memo[*Space]                // by directory
	levels   snapshot.Memo[[]*Level]              // by the first directory
	projects snapshot.Memo[*Project]              // by directory
	members  snapshot.Memo[[]string]              // by the root of the workspace

	yarns       snapshot.Memo[settings.Yarn] // by directory
	generations snapshot.Memo[Generation]    // by directory
}

// NewShelf returns an empty shelf. isConfig reports whether a file above a package belongs
// to Level.Configs.
func NewShelf(o snapshot.Options, isConfig func(name string) bool) *Shelf {
	return &Shelf{Source: o.Source(), env: o.Env, isConfig: isConfig}
}

// Level is a directory above a package.
type Level struct {
	Dir     string
	Configs []string // absolute

	files    map[string]bool       // the names of the files in it
	manifest *packagejson.Manifest // nil when it is missing or cannot be read
	space    *Space                // nil unless it is the root of a workspace
	others   memberGlobs           // members that the files of other tools declare
	err      error                 // of its manifests
}

func (l *Level) isFile(name string) bool { return l.files[name] }

// Space is a workspace: packages that are installed as one, at its root.
type Space struct {
	Dir      string
	Manifest *packagejson.Manifest // nil when the root has no package.json
	PNPM     *settings.PNPM        // nil unless it is a workspace of pnpm

	globs memberGlobs
}

// has reports whether a directory is a member.
func (s *Space) has(dir string) bool {
	rel, err := filepath.Rel(s.Dir, dir)
	return err == nil && s.globs.match(filepath.ToSlash(rel))
}

// Read returns the package.json in dir, or nil. The error is a diagnostics.Problems.
func (s *Shelf) Read(f *snapshot.Files, dir string) (*packagejson.Manifest, error) {
	return s.packages.Get(f, dir, func(f *snapshot.Files) (*packagejson.Manifest, error) {
		path := f.Path(File)
		data, err := f.ReadIfExists(path)
		if data == nil || err != nil {
			return nil, err
		}
		return packagejson.ParseManifest(path, data)
	})
}

// SpaceAt returns the workspace whose root is dir, or nil. The error is a
// diagnostics.Problems.
func (s *Shelf) SpaceAt(f *snapshot.Files, dir string) (*Space, error) {
	return s.spaces.Get(f, dir, func(f *snapshot.Files) (*Space, error) {
		manifest, err := s.Read(f, dir)
		if err != nil {
			return nil, err
		}
		config, err := settings.ReadPNPM(f, dir)
		if err != nil {
			return nil, err
		}
		if config == nil && (manifest == nil || len(manifest.Workspaces) == 0) {
			return nil, nil
		}
		out := &Space{Dir: dir, Manifest: manifest}
		var globs []string
		if isPNPM(f, manifest, config) {
			if out.PNPM = config; config != nil {
				globs = config.Packages
			}
		} else if manifest != nil {
			globs = manifest.Workspaces
		}
		if out.globs = compileGlobs(globs); len(globs) == 0 {
			return nil, nil
		}
		return out, nil
	})
}

// isPNPM reports whether pnpm finds the members below f's directory: pnpm ignores the
// workspaces of package.json, and the other managers ignore its settings.
func isPNPM(f *snapshot.Files, manifest *packagejson.Manifest, config *settings.PNPM) bool {
	if of, ok := declared(manifest); ok {
		return of == PNPM
	}
	locked := lockedBy(f.IsFile)
	return locked == PNPM || locked == "" && config != nil
}

// above returns the directories above that of f, the nearest first, up to the top of the
// repository.
func (s *Shelf) above(f *snapshot.Files) []*Level {
	for dir := range f.Ancestors() {
		if dir == f.Dir() {
			continue
		}
		levels, _ := s.levels.Get(f, dir, func(f *snapshot.Files) ([]*Level, error) {
			var levels []*Level
			for dir := range f.Ancestors() {
				levels = append(levels, s.level(f, dir))
			}
			return levels, nil
		})
		return levels
	}
	return nil
}

func (s *Shelf) level(f *snapshot.Files, dir string) *Level {
	l := &Level{Dir: dir, files: make(map[string]bool)}
	for _, e := range f.List(dir) {
		if !isFile(f, dir, e) {
			continue
		}
		l.files[e.Name()] = true
		if s.isConfig(e.Name()) {
			l.Configs = append(l.Configs, filepath.Join(dir, e.Name()))
		}
	}
	if l.files[File] {
		l.manifest, l.err = s.Read(f, dir)
	}
	l.others = otherMembers(f, dir, l.isFile)
	if l.err == nil && (l.files[File] || l.files[settings.PNPMFile]) {
		l.space, l.err = s.SpaceAt(f, dir)
	}
	return l
}

func isFile(f *snapshot.Files, dir string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type().IsRegular()
	}
	return f.IsFile(filepath.Join(dir, e.Name()))
}

// Members returns the directories that a workspace names, whether or not they hold a
// package.json, sorted. The slice is shared.
func (s *Shelf) Members(f *snapshot.Files, sp *Space) []string {
	dirs, _ := s.members.Get(f, sp.Dir, func(f *snapshot.Files) ([]string, error) {
		if _, err := s.SpaceAt(f, sp.Dir); err != nil {
			return nil, err
		}
		return sp.globs.expand(f, sp.Dir), nil
	})
	return dirs
}
