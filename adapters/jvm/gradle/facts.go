package gradle

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm/script"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// facts are the facts about a project from all its scripts: its own, those of the projects above it,
// scripts that they apply, and plugins that are scripts of the build.
type facts struct {
	scripts   []string // absolute, in the order of reading
	strings   []fact
	unsure    []fact
	accessors []fact
	plugins   []string
	java      []javaFact
	makes     bool // its own script applies a plugin that builds something
	tests     bool // the project's own script names tests
	anyTests  bool // any script does
}

// fact is one statement of a script about the project.
type fact struct {
	text, file string
	line       int
	test       bool
}

type javaFact struct {
	script.Java
	file string
}

// maxScripts is how many scripts are read for one project at most.
const maxScripts = 256

// reading is the reading of the scripts of one project.
type reading struct {
	*Adapter
	f       *snapshot.Files
	p       *project
	catalog *script.Catalog
	seen    map[string]bool
}

// learn fills in the facts of p.
func (a *Adapter) learn(f *snapshot.Files, p *project) error {
	r := &reading{Adapter: a, f: f, p: p, seen: make(map[string]bool)}
	var err error
	if path := filepath.Join(p.root(), "gradle", "libs.versions.toml"); f.IsFile(path) {
		if r.catalog, err = a.catalogs.Read(f, path); err != nil {
			return err
		}
	}
	own, err := a.scriptOf(f, p.dir, p.path)
	if err != nil {
		return err
	}
	if own != nil {
		if err := r.take(own, func(scope string) bool { return scope == script.Own || scope == script.All || scope == p.path }); err != nil {
			return err
		}
	}
	for above := p.path; p.settings != nil && above != ":"; {
		above = parent(above)
		b, err := a.scriptOf(f, p.settings.Projects[above].Dir, above)
		if err != nil {
			return err
		}
		if b == nil {
			continue
		}
		of := func(scope string) bool {
			return scope == script.All || scope != script.Own && script.Absolute(above, scope) == p.path
		}
		if err := r.take(b, of); err != nil {
			return err
		}
	}
	return nil
}

// parent returns the path of the project above.
func parent(path string) string {
	i := strings.LastIndexByte(path, ':')
	if i <= 0 {
		return ":"
	}
	return path[:i]
}

// take adds the statements of a script in the scopes that concern the project.
func (r *reading) take(b *script.Build, about func(scope string) bool) error {
	if r.seen[b.Path] || len(r.seen) == maxScripts {
		return nil
	}
	r.seen[b.Path] = true
	x := &r.p.facts
	x.scripts = append(x.scripts, b.Path)
	fill := func(list *[]fact, statements []script.Statement) {
		for _, s := range statements {
			if about(s.Scope) {
				*list = append(*list, fact{s.Text, b.Path, s.Line, s.Test})
			}
		}
	}
	before := len(x.strings)
	fill(&x.strings, b.Strings)
	fill(&x.unsure, b.Unsure)
	fill(&x.accessors, b.Accessors)
	for _, j := range b.Java {
		if about(j.Scope) {
			x.java = append(x.java, javaFact{j, b.Path})
		}
	}
	x.anyTests = x.anyTests || slices.ContainsFunc(b.Words, func(s script.Statement) bool { return about(s.Scope) })
	x.tests = x.tests || x.anyTests && filepath.Dir(b.Path) == r.p.dir
	for _, s := range b.Plugins {
		x.makes = x.makes || s.Scope == script.Own && filepath.Dir(b.Path) == r.p.dir && makes(s.Text)
		if about(s.Scope) {
			if err := r.plugin(s.Text); err != nil {
				return err
			}
		}
	}
	return r.applied(b, x.strings[before:])
}

// makes reports whether a plugin builds something in a project. An unknown plugin may, but most
// unknown plugins are in the root and configure other projects.
func makes(id string) bool {
	return slices.Contains([]string{
		"java", "java-library", "java-gradle-plugin", "java-platform", "groovy", "scala", "war", "ear", "application", "distribution", "antlr",
		"kotlin", "kotlin-dsl", "org.jetbrains.kotlin.jvm", "org.jetbrains.kotlin.multiplatform", "org.springframework.boot",
		"com.android.application", "com.android.library", "cpp-application", "cpp-library", "type:JavaPlugin", "type:JavaLibraryPlugin",
	}, id)
}

// plugin adds a plugin, and reads it if it is a script of the build.
func (r *reading) plugin(id string) error {
	if alias, ok := strings.CutPrefix(id, "alias:"); ok {
		if r.catalog == nil {
			return nil
		}
		id = r.catalog.Plugins[alias]
	}
	if id == "" || slices.Contains(r.p.facts.plugins, id) {
		return nil
	}
	r.p.facts.plugins = append(r.p.facts.plugins, id)
	if !fileName(id) {
		return nil
	}
	for _, home := range r.p.buildLogic() {
		for _, language := range []string{"groovy", "kotlin"} {
			b, err := readEither(r.f, r.builds, filepath.Join(home, "src", "main", language, id+".gradle"))
			if err != nil {
				return err
			}
			if b != nil {
				return r.take(b, func(scope string) bool { return scope == script.Own || scope == script.All })
			}
		}
	}
	return nil
}

// fileName reports whether a text can be the name of a file.
func fileName(text string) bool {
	return len(text) < 200 && text != "" && text[0] != '.' && !strings.ContainsAny(text, "/\\:\x00")
}

// buildLogic returns the directories of the builds that make this build's plugins.
func (p *project) buildLogic() []string {
	dirs := []string{filepath.Join(p.root(), "buildSrc")}
	if p.settings != nil {
		for _, b := range p.settings.Builds {
			dirs = append(dirs, b.Text)
		}
	}
	return dirs
}

// applied reads the scripts that a script applies or names.
func (r *reading) applied(b *script.Build, statements []fact) error {
	for _, s := range statements {
		if !strings.HasSuffix(s.text, ".gradle") && !strings.HasSuffix(s.text, ".gradle.kts") {
			continue
		}
		path := r.p.find(r.f, s.text, filepath.Dir(b.Path))
		if path == "" {
			continue
		}
		next, err := r.builds.Read(r.f, path)
		if err != nil {
			return err
		}
		if err := r.take(next, func(scope string) bool { return scope == script.Own || scope == script.All || scope == r.p.path }); err != nil {
			return err
		}
	}
	return nil
}

// places returns the expressions in strings for the directory of the build and of the
// project.
func places() (root, own []string) {
	return []string{
			"$rootDir", "${rootDir}", "$rootProject.projectDir", "${rootProject.projectDir}", "${project.rootDir}", "$project.rootDir",
			"$rootProject.rootDir", "${rootProject.rootDir}", "${rootProject.layout.projectDirectory}", "${isolated.rootProject.projectDirectory}",
		}, []string{
			"$projectDir", "${projectDir}", "${project.projectDir}", "$project.projectDir", "${layout.projectDirectory}",
		}
}

// find returns the file or directory that a string of a script in dir names, or "":
// relative to the project, to the build, or to the script. A directory is returned only
// where the string says what it is relative to.
func (p *project) find(f *snapshot.Files, text, dir string) string {
	if !strings.HasPrefix(text, "$") && !mayBePath(text) {
		return ""
	}
	root, own := places()
	bases, anchored := []string{p.dir, p.root(), dir}, false
	for _, prefix := range root {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			text, bases, anchored = rest, []string{p.root()}, true
		}
	}
	for _, prefix := range own {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			text, bases, anchored = rest, []string{p.dir}, true
		}
	}
	if !mayBePath(text) {
		return ""
	}
	for _, base := range bases {
		path := filepath.Join(base, filepath.FromSlash(text))
		if filepath.IsAbs(text) && !anchored {
			path = filepath.Clean(text)
		}
		if adapters.Within(path, p.dir) {
			continue // a directory above the build would make everything an input
		}
		if f.IsFile(path) || anchored && f.IsDir(path) || strings.HasPrefix(text, "..") && f.IsDir(path) {
			return path
		}
	}
	return ""
}

func mayBePath(text string) bool {
	if text == "" || len(text) > 300 || strings.ContainsAny(text, "\x00\n\t<>|\"*?;=:$ ") {
		return false
	}
	return strings.Contains(text, "/") || len(filepath.Ext(text)) > 2
}

// has reports whether the project applies one of these plugins.
func (x *facts) has(ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(x.plugins, id) })
}
