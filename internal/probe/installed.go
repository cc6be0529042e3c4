package probe

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// plugins are the names under which asdf and mise know what an executable belongs to,
// the likeliest first.
func plugins(tool string) []string {
	switch tool {
	case "go":
		return []string{"golang", "go"}
	case "cargo", "rustc":
		return []string{"rust"}
	case "python3", "python":
		return []string{"python"}
	case "ruby", "bundle":
		return []string{"ruby"}
	case "composer":
		return []string{"composer", "php"}
	case "node", "npm":
		return []string{"nodejs", "node"}
	case "pnpm", "yarn":
		return []string{tool, "nodejs", "node"}
	case "java", "javac":
		return []string{"java"}
	case "mvn":
		return []string{"maven", "mvn"}
	}
	return []string{tool}
}

// shelf is what asdf or mise has installed, below home.
type shelf struct {
	home string
	mise bool
	read func(path string) ([]byte, error)
}

// installed finds what asdf or mise chooses for dir.
func (a *Asker) installed(shim, dir, home string) (Tool, error) {
	s := shelf{home: home, read: a.read, mise: filepath.Base(home) == "mise" || filepath.Clean(a.env.Get("MISE_DATA_DIR")) == home}
	if real, err := filepath.EvalSymlinks(shim); err == nil && filepath.Base(real) == "mise" {
		s.mise = true
	}
	tool := filepath.Base(shim)
	if err := a.usual(s, tool); err != nil {
		return Tool{}, err
	}
	for _, plugin := range plugins(tool) {
		if !isDir(filepath.Join(home, "installs", plugin)) {
			continue
		}
		if a.env.Get(s.variable(plugin)) != "" {
			return Tool{Path: shim}, nil // it looks no further
		}
		versions, where, err := s.chosen(a.env, plugin, dir)
		if err != nil {
			return Tool{}, err
		}
		for _, v := range versions {
			if t, err := a.version(s, shim, plugin, v); err != nil || t.Path != "" {
				return t, err
			}
		}
		if len(versions) > 0 {
			return Tool{}, s.missing(plugin, versions[0], where)
		}
	}
	return Tool{Path: shim}, nil // nobody asks for anything: what it says of itself
}

func (s shelf) variable(plugin string) string {
	prefix := "ASDF_"
	if s.mise {
		prefix = "MISE_"
	}
	return prefix + strings.ToUpper(strings.ReplaceAll(plugin, "-", "_")) + "_VERSION"
}

// usual refuses settings with which the choice is another one than of the files that
// bento knows.
func (a *Asker) usual(s shelf, tool string) error {
	names := []string{"ASDF_DEFAULT_TOOL_VERSIONS_FILENAME", "ASDF_TOOL_VERSIONS_FILENAME"}
	if s.mise {
		names = []string{"MISE_ENV", "MISE_CONFIG_DIR", "MISE_GLOBAL_CONFIG_FILE", "MISE_OVERRIDE_CONFIG_FILENAMES", "MISE_DEFAULT_CONFIG_FILENAME"}
	}
	for _, name := range names {
		if a.env.Get(name) != "" {
			return &adapters.KnownAtRun{Why: fmt.Sprintf("%s is set, and which %s is chosen then is not known", name, tool)}
		}
	}
	return nil
}

// version returns the tool in one of the versions that are installed, the zero Tool
// where it is not there.
func (a *Asker) version(s shelf, shim, plugin, version string) (Tool, error) {
	tool := filepath.Base(shim)
	path := slices.DeleteFunc(a.root.path(a.env), func(dir string) bool { return dir == filepath.Dir(shim) })
	if version == "system" {
		env := adapters.Environ{"PATH=" + strings.Join(path, string(filepath.ListSeparator))}
		found, err := env.LookPath(tool)
		return Tool{Path: found, path: path}, err
	}
	at := s.install(plugin, version)
	if at == "" {
		return Tool{}, nil
	}
	for _, sub := range []string{"bin", "go/bin", ".", "*/bin"} {
		found, _ := filepath.Glob(filepath.Join(at, sub, tool))
		for _, file := range found {
			if fi, err := os.Stat(file); err != nil || !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0 {
				continue
			}
			if a.root.reached(file) {
				return Tool{}, &adapters.KnownAtRun{Why: file + " leads into the workspace"}
			}
			return Tool{Path: file, path: append([]string{filepath.Dir(file)}, path...)}, nil
		}
	}
	return Tool{}, &adapters.KnownAtRun{Why: fmt.Sprintf("%s is not where it usually is in %s", tool, at)}
}

// install returns the directory of a version, "" where it is not installed. mise takes
// the newest of those that begin like the version.
func (s shelf) install(plugin, version string) string {
	dir := filepath.Join(s.home, "installs", plugin)
	if at := filepath.Join(dir, version); isDir(at) || !s.mise {
		if !isDir(at) {
			return ""
		}
		return at
	}
	entries, _ := os.ReadDir(dir)
	best := ""
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), version+".") && (best == "" || newer(e.Name(), best)) {
			best = e.Name()
		}
	}
	if best == "" {
		return ""
	}
	return filepath.Join(dir, best)
}

// newer compares versions part by part, numbers as numbers.
func newer(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return cmp.Or(cmp.Compare(len(x[i]), len(y[i])), cmp.Compare(x[i], y[i])) > 0
		}
	}
	return len(x) > len(y)
}

// missing is the error of a version that is not installed. mise would install it when
// a task calls its shim.
func (s shelf) missing(plugin, version, where string) error {
	if s.mise {
		return &adapters.KnownAtRun{Why: fmt.Sprintf("%s asks for %s %s, which mise has yet to install", where, plugin, version)}
	}
	return &adapters.MissingTool{Tool: plugin + " " + version, Hint: fmt.Sprintf("install it with %q; %s asks for it", "asdf install "+plugin+" "+version, where)}
}

// chosen returns the versions that the nearest file asks for, the user's own last, and
// which file that is.
func (s shelf) chosen(env adapters.Environ, plugin, dir string) (versions []string, where string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		if versions, where, err = s.in(at, plugin); len(versions) > 0 || err != nil {
			return versions, where, err
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	home := env.Get("HOME")
	if !filepath.IsAbs(home) {
		return nil, "", nil
	}
	if versions, where, err = s.in(home, plugin); len(versions) > 0 || err != nil || !s.mise {
		return versions, where, err
	}
	config := cmp.Or(env.Get("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	for _, path := range []string{filepath.Join(config, "mise", "config.toml"), "/etc/mise/config.toml"} {
		if versions, err = s.tomlVersions(path, s.called(plugin)...); len(versions) > 0 || err != nil {
			return versions, path, err
		}
	}
	return nil, "", nil
}

// called returns the names of a plugin in files: mise knows some by two.
func (s shelf) called(plugin string) []string {
	if s.mise {
		for _, names := range [][]string{{"node", "nodejs"}, {"go", "golang"}} {
			if slices.Contains(names, plugin) {
				return names
			}
		}
	}
	return []string{plugin}
}

// in returns what the files of one directory ask for. Two that say different things
// are for the manager to weigh.
func (s shelf) in(dir, plugin string) (versions []string, where string, err error) {
	names := ManagerFiles()
	if !s.mise {
		names = names[:1]
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		var found []string
		if name == ToolVersions {
			found, err = s.lineVersions(path, s.called(plugin)...)
		} else {
			found, err = s.tomlVersions(path, s.called(plugin)...)
		}
		switch {
		case err != nil:
			return nil, path, err
		case len(found) == 0:
		case len(versions) > 0 && !slices.Equal(versions, found):
			return nil, path, &adapters.KnownAtRun{Why: fmt.Sprintf("%s and %s ask for different versions of %s", where, path, plugin)}
		default:
			versions, where = found, path
		}
	}
	return versions, where, nil
}

// ToolVersions is the file of asdf, which mise reads too.
const ToolVersions = ".tool-versions"

// ManagerFiles are the names of the files, relative to a directory, that asdf and mise
// choose by; the first is that of asdf.
func ManagerFiles() []string {
	return []string{
		ToolVersions, "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", "mise/config.toml", ".mise/config.toml",
		".config/mise.toml", ".config/mise/config.toml",
	}
}

// lineVersions reads the first line of a plugin, by one of its names, in .tool-versions.
func (s shelf) lineVersions(path string, names ...string) ([]string, error) {
	data, err := s.read(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		text, _, _ := strings.Cut(line, "#")
		fields := strings.Fields(text)
		if len(fields) > 1 && slices.Contains(names, fields[0]) {
			return checked(path, fields[1:])
		}
	}
	return nil, nil
}

func checked(path string, versions []string) ([]string, error) {
	for _, v := range versions {
		if !isVersion(v) {
			return nil, notPlain(path, v)
		}
	}
	return versions, nil
}

// tomlVersions reads what [tools] of a file of mise asks for. What is more than plain
// versions is for mise alone to understand.
func (s shelf) tomlVersions(path string, names ...string) ([]string, error) {
	data, err := s.read(path)
	if data == nil || err != nil {
		return nil, err
	}
	doc, _ := tomlfile.ParseManifest(path, data)
	var content struct {
		Tools     map[string]*tomlfile.Value `toml:"tools"`
		Alias     *tomlfile.Value            `toml:"alias"`
		ToolAlias *tomlfile.Value            `toml:"tool_alias"`
	}
	if doc == nil || len(doc.DecodeKnown(&content)) > 0 {
		return nil, &adapters.KnownAtRun{Why: path + " cannot be understood without mise"}
	}
	for name := range content.Tools {
		if _, backend, ok := strings.Cut(name, ":"); ok && slices.Contains(names, backend) {
			return nil, &adapters.KnownAtRun{Why: fmt.Sprintf("%s has %q, which only mise understands", path, name)}
		}
	}
	i := slices.IndexFunc(names, func(name string) bool { return content.Tools[name] != nil })
	if i < 0 {
		return nil, nil
	}
	value := content.Tools[names[i]]
	if content.Alias != nil || content.ToolAlias != nil {
		return nil, &adapters.KnownAtRun{Why: path + " has other names for versions"}
	}
	var versions []string
	if text, is := value.Text(); is {
		versions = []string{text}
	} else if len(value.Decode(&versions)) > 0 {
		return nil, &adapters.KnownAtRun{Why: fmt.Sprintf("%s says more of %s than a version", path, names[i])}
	}
	return checked(path, versions)
}
