// Package pom reads the pom.xml of Maven projects
// (https://maven.apache.org/ref/current/maven-model/maven.html): modules, dependencies, and
// the files and tools that they depend on.
package pom

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// Value is a text of a pom and its line; both are zero when it is missing.
type Value struct {
	Text string
	Line int
}

// Model is one pom.xml. Texts keep their ${expressions}.
type Model struct {
	Path string // absolute

	Group, Artifact, Version, Packaging Value
	Parent                              *Parent // nil for none

	// Modules are the projects that it builds, by directory.
	Modules map[string]Module
	// Properties are those of the project, without those of its profiles.
	Properties map[string]Value
	// Uses are the artifacts that a build may need: dependencies, imported and managed ones
	// with a version, plugins and their dependencies, extensions.
	Uses []Use
	// Plugins are those of the build, also of profiles. Managed are defaults for plugins of
	// the build.
	Plugins, Managed []Plugin
	// Compiler is the configuration of the compiler by name: release, target, source.
	Compiler map[string]Value
	// Rules are the versions that the enforcer requires: "requireJavaVersion".
	Rules map[string]Value
	// TestSources reports whether tests are not in the usual directory.
	TestSources bool
	// Texts are values that may name files.
	Texts []Value
}

// Parent is the parent element.
type Parent struct {
	Group, Artifact, Version Value
	// Path is where Maven looks for the parent first, absolute; "" means in repositories
	// only.
	Path string
	Line int
}

// Module is an entry of modules.
type Module struct {
	Line int
	// Profile is the profile that must be active for it, or "".
	Profile string
}

// Use is an artifact that a build may need.
type Use struct {
	Group, Artifact, Version string
	Line                     int
	Test                     bool
}

// Plugin is a plugin of the build.
type Plugin struct {
	Artifact string
	Bound    bool     // it has executions: it runs during a build
	Goals    []string // of its executions, without duplicates
	Line     int
}

// Dir returns the directory of the project.
func (m *Model) Dir() string { return filepath.Dir(m.Path) }

// Parse reads a pom. path is absolute. The error is a diagnostics.Problems.
func Parse(path string, data []byte) (*Model, error) {
	root, err := document(path, data)
	if err != nil {
		return nil, err
	}
	if root.name != "project" {
		return nil, problem(path, root.line, root.col, "", "expected <project>, got <%s>", root.name)
	}
	p := parser{Model: &Model{
		Path: path, Modules: make(map[string]Module), Properties: make(map[string]Value),
		Compiler: make(map[string]Value), Rules: make(map[string]Value),
	}}
	if err := p.unique(root, "project", "parent", "dependency", "plugin", "build"); err != nil {
		return nil, err
	}
	p.head(root)
	p.body(root, "")
	for _, profile := range root.all("profiles", "profile") {
		id := profile.value("id").Text
		if profile.at("activation", "activeByDefault") != nil && profile.at("activation", "activeByDefault").text == "true" {
			id = ""
		}
		p.body(profile, id)
	}
	return p.Model, diagnostics.Bounded(path, 0, "modules", len(p.Modules), adapters.MaxMembers)
}

type parser struct{ *Model }

// unique refuses elements that occur twice where Maven allows one.
func (p *parser) unique(n *node, within ...string) error {
	if slices.Contains(within, n.name) {
		first := make(map[string]int, len(n.kids))
		for _, k := range n.kids {
			if line, twice := first[k.name]; twice {
				return problem(p.Path, k.line, k.col, "", "<%s> occurs twice in <%s>, first in line %d", k.name, n.name, line)
			}
			first[k.name] = k.line
		}
	}
	if n.name == "configuration" {
		return nil // its content belongs to the plugin
	}
	for _, k := range n.kids {
		if err := p.unique(k, within...); err != nil {
			return err
		}
	}
	return nil
}

// head reads the coordinates and the parent.
func (p *parser) head(root *node) {
	p.Group, p.Artifact, p.Version = root.value("groupId"), root.value("artifactId"), root.value("version")
	p.Packaging = root.value("packaging")
	for _, n := range root.child("properties").children() {
		p.Properties[n.name] = Value{n.text, n.line}
	}
	n := root.child("parent")
	if n == nil {
		return
	}
	p.Parent = &Parent{Group: n.value("groupId"), Artifact: n.value("artifactId"), Version: n.value("version"), Line: n.line}
	switch rel := n.child("relativePath"); {
	case rel == nil:
		p.Parent.Path = p.pomAt("..")
	case rel.text != "":
		p.Parent.Path = p.pomAt(rel.text)
	}
}

func (n *node) children() []*node {
	if n == nil {
		return nil
	}
	return n.kids
}

// pomAt returns the pom at a path relative to the project: in a directory, or the file
// itself.
func (p *parser) pomAt(rel string) string {
	path := filepath.Join(p.Dir(), filepath.FromSlash(strings.ReplaceAll(rel, `\`, "/")))
	if filepath.Ext(path) == ".xml" {
		return path
	}
	return filepath.Join(path, "pom.xml")
}

// body reads the elements that a project and a profile share.
func (p *parser) body(n *node, profile string) {
	for _, list := range [][2]string{{"modules", "module"}, {"subprojects", "subproject"}} {
		for _, m := range n.all(list[0], list[1]) {
			p.module(m, profile)
		}
	}
	for _, d := range n.all("dependencies", "dependency") {
		p.use(d)
	}
	for _, d := range n.child("dependencyManagement").all("dependencies", "dependency") {
		if d.value("scope").Text == "import" {
			p.use(d)
		}
	}
	build := n.child("build")
	p.TestSources = p.TestSources || build.child("testSourceDirectory") != nil
	for _, e := range build.all("extensions", "extension") {
		p.use(e)
	}
	for _, plugin := range build.all("plugins", "plugin") {
		p.plugin(plugin)
	}
	for _, plugin := range build.child("pluginManagement").all("plugins", "plugin") {
		p.uses(plugin)
		p.Managed = append(p.Managed, pluginOf(plugin))
	}
	p.texts(n.child("properties"))
	p.texts(build)
}

func (p *parser) module(m *node, profile string) {
	if m.text == "" {
		return
	}
	pom := p.pomAt(m.text)
	if filepath.Base(pom) != "pom.xml" {
		return // no directory that can be a project
	}
	dir := filepath.Dir(pom)
	if old, ok := p.Modules[dir]; !ok || old.Profile != "" {
		p.Modules[dir] = Module{Line: m.line, Profile: profile}
	}
}

// use adds an artifact. Maven's own plugins may leave out their group.
func (p *parser) use(d *node) {
	u := Use{
		Group: d.value("groupId").Text, Artifact: d.value("artifactId").Text, Version: d.value("version").Text,
		Line: d.line, Test: d.value("scope").Text == "test",
	}
	if u.Group == "" && d.name == "plugin" {
		u.Group = "org.apache.maven.plugins"
	}
	if u.Artifact != "" {
		p.Uses = append(p.Uses, u)
	}
}

// uses adds a plugin as an artifact, its dependencies, and the annotation processors of the
// compiler.
func (p *parser) uses(plugin *node) {
	p.use(plugin)
	for _, d := range plugin.all("dependencies", "dependency") {
		p.use(d)
	}
	for _, c := range p.configurations(plugin) {
		for _, path := range c.all("annotationProcessorPaths", "path") {
			p.use(path)
		}
	}
}

func (p *parser) configurations(plugin *node) []*node {
	list := []*node{plugin.child("configuration")}
	for _, e := range plugin.all("executions", "execution") {
		list = append(list, e.child("configuration"))
	}
	return slices.DeleteFunc(list, func(n *node) bool { return n == nil })
}

func pluginOf(n *node) Plugin {
	p := Plugin{Artifact: n.value("artifactId").Text, Line: n.line}
	for _, e := range n.all("executions", "execution") {
		p.Bound = true
		for _, g := range e.all("goals", "goal") {
			if !slices.Contains(p.Goals, g.text) {
				p.Goals = append(p.Goals, g.text)
			}
		}
	}
	return p
}

func (p *parser) plugin(n *node) {
	p.uses(n)
	plugin := pluginOf(n)
	p.Plugins = append(p.Plugins, plugin)
	for _, c := range p.configurations(n) {
		switch plugin.Artifact {
		case "maven-enforcer-plugin":
			p.rules(c)
		case "maven-compiler-plugin":
			for _, name := range []string{"release", "target", "source"} {
				if v := c.value(name); v.Text != "" {
					p.Compiler[name] = v
				}
			}
		}
	}
}

func (p *parser) rules(c *node) {
	for _, rule := range []string{"requireJavaVersion", "requireMavenVersion"} {
		if v := c.at("rules", rule).value("version"); v.Text != "" {
			if _, ok := p.Rules[rule]; !ok {
				p.Rules[rule] = v
			}
		}
	}
}

// texts collects the values below n that may name a file: those with a slash or an
// extension.
func (p *parser) texts(n *node) {
	for _, k := range n.children() {
		switch {
		case slices.Contains([]string{"groupId", "artifactId", "version", "id", "mainClass"}, k.name):
		case len(k.kids) > 0:
			p.texts(k)
		case mayBePath(k.text):
			p.Texts = append(p.Texts, Value{k.text, k.line})
		}
	}
}

func mayBePath(text string) bool {
	if text == "" || len(text) > 300 || strings.ContainsAny(text, "\n\t<>|\"'*?;=") || strings.Contains(text, "://") {
		return false
	}
	if strings.Contains(text, "/") {
		return true
	}
	ext := strings.ToLower(filepath.Ext(text))
	return len(ext) > 2 && len(ext) < 12 && ext[1] >= 'a' && ext[1] <= 'z'
}
