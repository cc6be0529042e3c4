// Package composer reads composer.json and composer.lock, described at
// https://getcomposer.org/doc/04-schema.md.
package composer

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// Manifest is a parsed composer.json.
type Manifest struct {
	Path         string // absolute
	Name         string // "" when missing
	Requires     []Require
	Repositories []PathRepository
	Replaces     []string // names of packages that it is in place of
	Scripts      []Script // without those of events
	Autoload     string   // autoload settings, in one form for all ways of writing them
	Outside      []string // directories of sources outside of the package
	VendorDir    string   // relative to the package
	BinDir       string
	Platform     bool // config.platform.php overrides the PHP version
}

// Require is an entry of require or require-dev.
type Require struct {
	Name, Constraint string
	Line             int
	Dev              bool
}

// Script is a script, its commands joined by "&&".
type Script struct {
	Name, Body string
}

// PathRepository is a repository of type path.
type PathRepository struct {
	URL  string // a directory, or a pattern of directories, relative to the package
	Line int
	Copy bool // composer copies the packages in place of links
}

// Dir returns the directory of the package.
func (m *Manifest) Dir() string { return filepath.Dir(m.Path) }

// Find returns the requirement of a name, or nil.
func (m *Manifest) Find(name string) *Require {
	i := slices.IndexFunc(m.Requires, func(r Require) bool { return strings.EqualFold(r.Name, name) })
	if i < 0 {
		return nil
	}
	return &m.Requires[i]
}

// HasScript reports whether the manifest has a script of this name.
func (m *Manifest) HasScript(name string) bool {
	return slices.ContainsFunc(m.Scripts, func(s Script) bool { return s.Name == name })
}

// ParseManifest reads a composer.json. A malformed one is a diagnostics.Problems error.
func ParseManifest(path string, data []byte) (*Manifest, error) {
	root, err := jsonfile.Parse(path, data)
	if err != nil {
		return nil, err
	}
	r := &reader{path: path}
	r.want(root, jsonfile.Object, "composer.json", "an object")
	m := &Manifest{Path: path, Name: r.text(root, "name")}
	m.Requires = append(r.requires(root, "require", false), r.requires(root, "require-dev", true)...)
	m.Repositories = r.repositories(root)
	for _, replaced := range root.Get("replace").Members() {
		m.Replaces = append(m.Replaces, replaced.Name)
	}
	m.Scripts = r.scripts(root)
	m.VendorDir = orElse(r.text(root, "config", "vendor-dir"), "vendor")
	m.BinDir = r.binDir(root, m.VendorDir)
	m.Platform = r.text(root, "config", "platform", "php") != ""
	m.Autoload = autoload(root)
	m.Outside = outside(root)
	if len(r.problems) > 0 {
		return nil, diagnostics.Problems(diagnostics.Sorted(r.problems))
	}
	return m, cmp.Or(
		diagnostics.Bounded(path, root.Get("scripts").Line(), "scripts", len(m.Scripts), adapters.MaxScripts),
		diagnostics.Bounded(path, root.Get("repositories").Line(), "path repositories", len(m.Repositories), adapters.MaxMembers),
	)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return strings.TrimSuffix(s, "/")
}

// reader collects values of a wrong type.
type reader struct {
	path     string
	problems []diagnostics.Diagnostic
}

// want reports whether an existing value has a kind.
func (r *reader) want(v *jsonfile.Value, kind jsonfile.Kind, name, what string) bool {
	if v.Kind() == 0 || v.Kind() == kind {
		return v.Kind() == kind
	}
	r.problems = append(r.problems, v.Mistyped(r.path, name, what))
	return false
}

func (r *reader) text(root *jsonfile.Value, path ...string) string {
	v := root.Get(path...)
	r.want(v, jsonfile.String, strings.Join(path, "."), "a string")
	return v.Text()
}

// binDir returns the directory of commands, with {$vendor-dir} replaced.
func (r *reader) binDir(root *jsonfile.Value, vendor string) string {
	dir := orElse(r.text(root, "config", "bin-dir"), vendor+"/bin")
	return strings.ReplaceAll(dir, "{$vendor-dir}", vendor)
}

func (r *reader) requires(root *jsonfile.Value, key string, dev bool) []Require {
	v := root.Get(key)
	if v.Kind() == jsonfile.Array && len(v.Items()) == 0 {
		return nil // PHP writes an empty object as a list
	}
	r.want(v, jsonfile.Object, key, "an object")
	var list []Require
	for _, m := range v.Members() {
		if r.want(m.Value, jsonfile.String, key+"."+m.Name, "a version in quotes") {
			list = append(list, Require{m.Name, m.Value.Text(), m.Line, dev})
		}
	}
	return list
}

// repositories returns the repositories of type path: elements of a list, or of an object.
func (r *reader) repositories(root *jsonfile.Value) []PathRepository {
	v := root.Get("repositories")
	var list []PathRepository
	add := func(repo *jsonfile.Value) {
		if repo.Get("type").Text() != "path" {
			return
		}
		if url := r.text(repo, "url"); url != "" {
			list = append(list, PathRepository{url, repo.Get("url").Line(), repo.Get("options", "symlink").Literal() == "false"})
		}
	}
	for _, repo := range v.Items() {
		add(repo)
	}
	for _, m := range v.Members() {
		add(m.Value)
	}
	return list
}

// events returns the names of scripts that composer runs itself.
func events() []string {
	return []string{
		"pre-install-cmd", "post-install-cmd", "pre-update-cmd", "post-update-cmd", "pre-status-cmd", "post-status-cmd",
		"pre-archive-cmd", "post-archive-cmd", "pre-autoload-dump", "post-autoload-dump", "post-root-package-install",
		"post-create-project-cmd", "pre-operations-exec", "pre-package-install", "post-package-install",
		"pre-package-update", "post-package-update", "pre-package-uninstall", "post-package-uninstall",
		"init", "command", "pre-file-download", "post-file-download", "pre-command-run", "pre-pool-create",
	}
}

func (r *reader) scripts(root *jsonfile.Value) []Script {
	v := root.Get("scripts")
	if v.Kind() == jsonfile.Array && len(v.Items()) == 0 {
		return nil
	}
	r.want(v, jsonfile.Object, "scripts", "an object")
	var list []Script
	for _, m := range v.Members() {
		if slices.Contains(events(), m.Name) {
			continue
		}
		commands := []string{m.Value.Text()}
		for _, item := range m.Value.Items() {
			commands = append(commands, item.Text())
		}
		commands = slices.DeleteFunc(commands, func(c string) bool { return c == "" })
		list = append(list, Script{m.Name, strings.Join(commands, " && ")})
	}
	return list
}
