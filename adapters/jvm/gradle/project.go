package gradle

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm/script"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// project is one project and its build.
type project struct {
	settings *script.Settings // nil for a project on its own
	path     string           // ":" for the root
	dir      string
	facts    facts
}

// root returns the directory of the build, in which Gradle runs.
func (p *project) root() string {
	if p.settings == nil {
		return p.dir
	}
	return p.settings.Dir()
}

// many reports whether the build has more projects than the root.
func (p *project) many() bool { return p.settings != nil && len(p.settings.Projects) > 1 }

// named returns the paths of the projects that the settings include, sorted, except the
// root and p itself.
func (p *project) named() []string {
	if p.settings == nil {
		return nil
	}
	var paths []string
	for path, other := range p.settings.Projects {
		if path != ":" && path != p.path && other.Named {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// open reads the project of f's directory: of the nearest build above that includes it,
// else on its own. Several answers need the project, so open keeps it.
func (a *Adapter) open(f *snapshot.Files) (*project, error) {
	return a.projects.Get(f, f.Dir(), a.read)
}

func (a *Adapter) read(f *snapshot.Files) (*project, error) {
	p := &project{path: ":", dir: f.Dir()}
	if err := a.place(f, p); err != nil {
		return nil, err
	}
	return p, a.learn(f, p)
}

// place finds the build of p.
func (a *Adapter) place(f *snapshot.Files, p *project) error {
	for dir := range f.Ancestors() {
		s, err := a.settingsIn(f, dir)
		if err != nil {
			return err
		}
		if s == nil {
			continue
		}
		if path, ok := pathOf(s, f.Dir()); ok {
			p.settings, p.path = s, path
		}
		break // Gradle searches no further either
	}
	if p.settings == nil {
		// Projects side by side may have their settings in a directory called "master".
		s, err := a.settingsIn(f, filepath.Join(filepath.Dir(f.Dir()), "master"))
		if err != nil {
			return err
		}
		if s != nil {
			if path, ok := pathOf(s, f.Dir()); ok {
				p.settings, p.path = s, path
			}
		}
	}
	return nil
}

func (a *Adapter) settingsIn(f *snapshot.Files, dir string) (*script.Settings, error) {
	return readEither(f, a.settings, filepath.Join(dir, "settings.gradle"))
}

// readEither reads a script in Groovy, else in Kotlin, and returns nil when both are
// missing.
func readEither[T any](f *snapshot.Files, from *snapshot.Parsed[*T], path string) (*T, error) {
	for _, name := range []string{path, path + ".kts"} {
		s, err := from.Read(f, name)
		if !errors.Is(err, fs.ErrNotExist) {
			return s, err
		}
	}
	return nil, nil
}

// pathOf returns the path of the project in a directory. Of two projects in it, the first
// by path wins.
func pathOf(s *script.Settings, dir string) (path string, ok bool) {
	if dir == s.Dir() {
		return ":", true
	}
	for name, p := range s.Projects {
		if p.Dir == dir && (!ok || name < path) {
			path, ok = name, true
		}
	}
	return path, ok
}

// scriptOf returns the build script of a project in a directory, with the usual name or
// that of the project, or nil.
func (a *Adapter) scriptOf(f *snapshot.Files, dir, path string) (*script.Build, error) {
	b, err := readEither(f, a.builds, filepath.Join(dir, "build.gradle"))
	if b != nil || err != nil || path == ":" {
		return b, err
	}
	name := path[strings.LastIndexByte(path, ':')+1:]
	return readEither(f, a.builds, filepath.Join(dir, name+".gradle"))
}

// loose returns the projects of the build without a script, by path. No dish holds them, so
// the root builds them.
func (p *project) loose(f *snapshot.Files) []string {
	var paths []string
	for _, path := range p.named() {
		dir := p.settings.Projects[path].Dir
		if !adapters.Within(p.root(), dir) {
			continue
		}
		if !hasScript(f, dir) && f.IsDir(filepath.Join(dir, "src")) {
			paths = append(paths, path)
		}
	}
	return paths
}

// hasScript reports whether Detect finds a project in a directory.
func hasScript(f *snapshot.Files, dir string) bool {
	for _, name := range []string{"build.gradle", filepath.Base(dir) + ".gradle"} {
		if f.IsFile(filepath.Join(dir, name)) || f.IsFile(filepath.Join(dir, name+".kts")) {
			return true
		}
	}
	return false
}

func rel(base, path string) string {
	if r, err := filepath.Rel(base, path); err == nil {
		return filepath.ToSlash(r)
	}
	return path
}
