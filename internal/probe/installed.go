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

// plugins returns the names under which asdf and mise know the tool of an executable, the likeliest
// first.
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

// managerDir is the directory where asdf or mise installs tools, below home.
type managerDir struct {
	home string
	mise bool
	read func(path string) ([]byte, error)
}

// installed returns the tool that asdf or mise chooses for dir.
func (a *Asker) installed(shim, dir, home string) (Tool, error) {
	s := managerDir{home: home, read: a.read, mise: filepath.Base(home) == "mise" || filepath.Clean(a.env.Get("MISE_DATA_DIR")) == home}
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
			return Tool{Path: shim}, nil // the shim looks no further
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
	return Tool{Path: shim}, nil // no file requires a version: the shim chooses
}

func (s managerDir) variable(plugin string) string {
	prefix := "ASDF_"
	if s.mise {
		prefix = "MISE_"
	}
	return prefix + strings.ToUpper(strings.ReplaceAll(plugin, "-", "_")) + "_VERSION"
}

// usual returns an error for settings that change which files the manager reads.
func (a *Asker) usual(s managerDir, tool string) error {
	names := []string{"ASDF_DEFAULT_TOOL_VERSIONS_FILENAME", "ASDF_TOOL_VERSIONS_FILENAME"}
	if s.mise {
		names = []string{"MISE_ENV", "MISE_CONFIG_DIR", "MISE_GLOBAL_CONFIG_FILE", "MISE_OVERRIDE_CONFIG_FILENAMES", "MISE_DEFAULT_CONFIG_FILENAME"}
	}
	for _, name := range names {
		if a.env.Get(name) != "" {
			return &adapters.KnownAtRun{Why: fmt.Sprintf("%s is set, so the chosen %s is unknown", name, tool)}
		}
	}
	return nil
}

// version returns the tool in one of the installed versions, the zero Tool when none is installed.
func (a *Asker) version(s managerDir, shim, plugin, version string) (Tool, error) {
	tool := filepath.Base(shim)
	path := slices.DeleteFunc(a.area.Path(a.env.Get("PATH")), func(dir string) bool { return dir == filepath.Dir(shim) })
	if version == "system" {
		all := slices.DeleteFunc(filepath.SplitList(a.env.Get("PATH")), func(dir string) bool { return dir == filepath.Dir(shim) })
		env := adapters.Environ{"PATH=" + strings.Join(all, string(filepath.ListSeparator))}
		found, err := env.LookPath(tool)
		if err == nil && a.area.Reached(found) {
			err = &adapters.KnownAtRun{Why: found + " leads into the workspace"}
		}
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
			if a.area.Reached(file) {
				return Tool{}, &adapters.KnownAtRun{Why: file + " leads into the workspace"}
			}
			return Tool{Path: file, path: append([]string{filepath.Dir(file)}, path...)}, nil
		}
	}
	return Tool{}, &adapters.KnownAtRun{Why: fmt.Sprintf("%s is not where it usually is in %s", tool, at)}
}

// install returns the directory of a version, "" when it is not installed. mise takes the newest
// version with this prefix.
func (s managerDir) install(plugin, version string) string {
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

// newer reports which version is newer, part by part, numbers as numbers.
func newer(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return cmp.Or(cmp.Compare(len(x[i]), len(y[i])), cmp.Compare(x[i], y[i])) > 0
		}
	}
	return len(x) > len(y)
}

// missing returns the error of a version that is not installed. mise would install it when a task
// calls its shim.
func (s managerDir) missing(plugin, version, where string) error {
	if s.mise {
		return &adapters.KnownAtRun{Why: fmt.Sprintf("%s requires %s %s, which mise has not installed", where, plugin, version)}
	}
	return &adapters.MissingTool{Tool: plugin + " " + version, Hint: fmt.Sprintf("install it with %q; %s requires it", "asdf install "+plugin+" "+version, where)}
}

// chosen returns the versions in the nearest file, the user's own last, and the path of that file.
func (s managerDir) chosen(env adapters.Environ, plugin, dir string) (versions []string, where string, err error) {
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

// called returns the names of a plugin in files: mise has two names for some plugins.
func (s managerDir) called(plugin string) []string {
	if s.mise {
		for _, names := range [][]string{{"node", "nodejs"}, {"go", "golang"}} {
			if slices.Contains(names, plugin) {
				return names
			}
		}
	}
	return []string{plugin}
}

// in returns the versions in the files of one directory. It returns an error for two files that
// differ: the manager decides between them.
func (s managerDir) in(dir, plugin string) (versions []string, where string, err error) {
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
			return nil, path, &adapters.KnownAtRun{Why: fmt.Sprintf("%s and %s require different versions of %s", where, path, plugin)}
		default:
			versions, where = found, path
		}
	}
	return versions, where, nil
}

// ToolVersions is the file of asdf, which mise reads too.
const ToolVersions = ".tool-versions"

// ManagerFiles returns the names of the files, relative to a directory, that asdf and mise read; the
// first is asdf's.
func ManagerFiles() []string {
	return []string{
		ToolVersions, "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", "mise/config.toml", ".mise/config.toml",
		".config/mise.toml", ".config/mise/config.toml",
	}
}

// lineVersions returns the versions in the first line of a plugin, by one of its names, in
// .tool-versions.
func (s managerDir) lineVersions(path string, names ...string) ([]string, error) {
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

// tomlVersions returns the versions in [tools] of a file of mise. It returns an error for anything
// but plain versions, which only mise resolves.
func (s managerDir) tomlVersions(path string, names ...string) ([]string, error) {
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
		return nil, &adapters.KnownAtRun{Why: path + " needs mise to be read"}
	}
	for name := range content.Tools {
		if _, backend, ok := strings.Cut(name, ":"); ok && slices.Contains(names, backend) {
			return nil, &adapters.KnownAtRun{Why: fmt.Sprintf("%s has %q, which only mise can read", path, name)}
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
		return nil, &adapters.KnownAtRun{Why: fmt.Sprintf("%s has more than a version for %s", path, names[i])}
	}
	return checked(path, versions)
}
