package probe

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// Tool is an executable behind the shim of a version manager.
type Tool struct {
	Path string // program to start; the shim itself if the manager gets the version in a variable
	set  map[string]string
	path []string // PATH; nil for no change
}

// apply returns env with the changes of t.
func (t Tool) apply(env adapters.Environ) adapters.Environ {
	if t.path != nil {
		env = env.With(map[string]string{"PATH": strings.Join(t.path, string(filepath.ListSeparator))})
	}
	return env.With(t.set)
}

// Resolve returns the program that the executable at path starts for dir. For a shim of pyenv and
// similar managers it sets the version in a variable, so that the shim reads no file; for asdf and
// mise it finds the program in the directories of installed tools. It returns an *adapters.KnownAtRun
// if the repository chooses the program or names no plain version, and an *adapters.MissingTool if
// the version is not installed.
func (a *Asker) Resolve(path, dir string) (Tool, error) {
	if a.area.Reached(path) {
		return Tool{}, &adapters.KnownAtRun{Why: path + " is in the workspace or the repository around it, or a link leads there"}
	}
	if filepath.Base(filepath.Dir(path)) != "shims" {
		return Tool{Path: path}, nil
	}
	home := filepath.Dir(filepath.Dir(path))
	if isDir(filepath.Join(home, "installs")) {
		return a.installed(path, dir, home)
	}
	if m := a.envManager(home, filepath.Base(path)); m != nil && isDir(filepath.Join(home, "versions")) {
		return a.withVersion(*m, path, dir)
	}
	return Tool{}, &adapters.KnownAtRun{Why: path + " is the shim of a version manager that bento does not know"}
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// envManager is a version manager like rbenv: <NAME>_VERSION is the version, else the nearest file.
type envManager struct {
	name     string // "pyenv"
	file     string
	tools    []string
	unlessBy []string // variables that change how it chooses
}

func envManagers() []envManager {
	return []envManager{
		{"pyenv", ".python-version", []string{"python3", "python", "poetry", "uv", "pip"}, []string{"PYENV_DIR"}},
		{"rbenv", ".ruby-version", []string{"ruby", "bundle"}, []string{"RBENV_DIR"}},
		{"nodenv", ".node-version", []string{"node", "npm", "pnpm", "yarn"}, []string{"NODENV_DIR"}},
		{"goenv", ".go-version", []string{"go"}, []string{"GOENV_DIR", "GOENV_GOMOD_VERSION_ENABLE"}},
		{"jenv", ".java-version", []string{"java", "javac", "mvn", "gradle"}, []string{"JENV_DIR"}},
		{"phpenv", ".php-version", []string{"php", "composer"}, []string{"PHPENV_DIR"}},
	}
}

// envManagerIn returns the manager in home: the one of that name, else the one that has such tools.
func (a *Asker) envManager(home, tool string) *envManager {
	all := envManagers()
	i := slices.IndexFunc(all, func(m envManager) bool {
		return strings.TrimPrefix(filepath.Base(home), ".") == m.name || filepath.Clean(a.env.Get(strings.ToUpper(m.name)+"_ROOT")) == home
	})
	if i < 0 {
		i = slices.IndexFunc(all, func(m envManager) bool { return slices.Contains(m.tools, tool) })
	}
	if i < 0 {
		return nil
	}
	return &all[i]
}

// withVersion returns the shim of m with a variable that sets the version of the nearest file.
func (a *Asker) withVersion(m envManager, shim, dir string) (Tool, error) {
	variable := strings.ToUpper(m.name) + "_VERSION"
	for _, name := range m.unlessBy {
		if a.env.Get(name) != "" {
			return Tool{}, &adapters.KnownAtRun{Why: name + " is set, so the choice of " + m.name + " is unknown"}
		}
	}
	if a.env.Get(variable) != "" {
		return Tool{Path: shim}, nil
	}
	path, data, err := a.nearest(dir, m.file)
	if err != nil {
		return Tool{}, err
	}
	versions := words(data)
	if len(versions) == 0 {
		return Tool{Path: shim}, nil
	}
	if m.name != "pyenv" {
		versions = versions[:1] // other managers use only the first
	}
	for _, v := range versions {
		if !isVersion(v) {
			return Tool{}, notPlain(path, v)
		}
	}
	return Tool{Path: shim, set: map[string]string{variable: strings.Join(versions, ":")}}, nil
}

func notPlain(path, word string) error {
	return &adapters.KnownAtRun{Why: fmt.Sprintf("%s requires %.100q, which is no plain version", path, word)}
}

// isVersion reports whether a word is the name of a version, such as "3.12.1", "temurin-21.0.1+12"
// or "system", and cannot be a path or an address.
func isVersion(word string) bool {
	return len(word) <= 64 && channel.MatchString(word) && !strings.Contains(word, "..")
}

// nearest returns the nearest file of a name at or above dir, up to the root of the file system as
// version managers do. An unreadable one is an error.
func (a *Asker) nearest(dir, name string) (path string, data []byte, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		path = filepath.Join(at, name)
		if data, err = a.read(path); data != nil || err != nil || at == filepath.Dir(at) {
			return path, data, err
		}
	}
}

// read returns the content of a version file, nil when it is missing.
func (a *Asker) read(path string) ([]byte, error) {
	return a.from.Files(filepath.Dir(path)).Beyond().ReadChoice(path)
}

// words returns the words of a version file, without comments.
func words(data []byte) []string {
	var list []string
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		text, _, _ := strings.Cut(line, "#")
		list = append(list, strings.Fields(text)...)
		if len(list) > 32 {
			break
		}
	}
	return list
}
