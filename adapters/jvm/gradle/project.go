package gradle

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm/script"
)

// project is one project and the build that it is part of.
type project struct {
	settings *script.Settings // nil for a project on its own
	path     string           // ":" for the root
	dir      string
	facts    facts
}

// root is the directory of the build, where Gradle is started.
func (p *project) root() string {
	if p.settings == nil {
		return p.dir
	}
	return p.settings.Dir()
}

// many tells whether the build has more projects than the root.
func (p *project) many() bool { return p.settings != nil && len(p.settings.Projects) > 1 }

// named gives the paths of the projects that the settings include, sorted, without
// the root and without p itself.
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

// open reads the project of f's directory: of the nearest build above that includes
// it, else on its own. It is asked for several answers, so it is kept.
func (a *Adapter) open(f *adapters.Files) (*project, error) {
	return a.projects.Get(f, f.Dir(), a.read)
}

func (a *Adapter) read(f *adapters.Files) (*project, error) {
	p := &project{path: ":", dir: f.Dir()}
	if err := a.place(f, p); err != nil {
		return nil, err
	}
	return p, a.learn(f, p)
}

// place finds the build that p is part of.
func (a *Adapter) place(f *adapters.Files, p *project) error {
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
		break // Gradle looks no further either
	}
	if p.settings == nil {
		// Where projects lie side by side, the settings are in one called "master".
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

func (a *Adapter) settingsIn(f *adapters.Files, dir string) (*script.Settings, error) {
	return readEither(f, a.settings, filepath.Join(dir, "settings.gradle"))
}

// readEither reads a script in Groovy, else in Kotlin; nil when there is neither.
func readEither[T any](f *adapters.Files, from *adapters.Parsed[*T], path string) (*T, error) {
	for _, name := range []string{path, path + ".kts"} {
		s, err := from.Read(f, name)
		if !errors.Is(err, fs.ErrNotExist) {
			return s, err
		}
	}
	return nil, nil
}

// pathOf gives the path of the project in a directory. Of two that share it the
// first by path counts.
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

// scriptOf gives the build script of a project in a directory: of the usual name, or
// of that of the project. It is nil when there is none.
func (a *Adapter) scriptOf(f *adapters.Files, dir, path string) (*script.Build, error) {
	b, err := readEither(f, a.builds, filepath.Join(dir, "build.gradle"))
	if b != nil || err != nil || path == ":" {
		return b, err
	}
	name := path[strings.LastIndexByte(path, ':')+1:]
	return readEither(f, a.builds, filepath.Join(dir, name+".gradle"))
}

// loose gives the projects of the build without a script of their own, by path: no
// directory tells of them, so they are the root's to build.
func (p *project) loose(f *adapters.Files) []string {
	var paths []string
	for _, path := range p.named() {
		dir := p.settings.Projects[path].Dir
		if !within(dir, p.root()) {
			continue
		}
		if !hasScript(f, dir) && f.IsDir(filepath.Join(dir, "src")) {
			paths = append(paths, path)
		}
	}
	return paths
}

// hasScript tells whether a directory is one that Detect finds.
func hasScript(f *adapters.Files, dir string) bool {
	for _, name := range []string{"build.gradle", filepath.Base(dir) + ".gradle"} {
		if f.IsFile(filepath.Join(dir, name)) || f.IsFile(filepath.Join(dir, name+".kts")) {
			return true
		}
	}
	return false
}

// within tells whether path is dir, or lies below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

func rel(base, path string) string {
	if r, err := filepath.Rel(base, path); err == nil {
		return filepath.ToSlash(r)
	}
	return path
}
