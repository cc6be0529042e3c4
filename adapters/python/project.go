package python

import (
	"slices"

	"github.com/bentobuild/bento/adapters/python/devtool"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// project is a Python project and the parts of its install.
type project struct {
	*pyproject.Project
	dir     string
	setupPy bool
	poetry  bool      // poetry installs it, as it has a poetry.lock
	files   []reqFile // those that exist
	tools   devtool.Tools

	// The parts of the install: the project itself, files, extras and groups.
	self   bool // by "-e ."
	copied bool // by a file that requires "."
	take   []reqFile
	extras []string
	groups []pyproject.Group
	single []string // tools that are only configured
}

// reqFile is a file of requirements.
type reqFile struct {
	name string // relative to the dish
	*requirements.Set
	dev bool
}

// requirementFiles returns the usual names: that of the application first, then those that
// are most likely for tests.
func requirementFiles() []string {
	return []string{
		"requirements.txt",
		"requirements-dev.txt", "requirements_dev.txt", "dev-requirements.txt", "requirements/dev.txt",
		"requirements-test.txt", "requirements_test.txt", "test-requirements.txt", "requirements/test.txt",
		"requirements-tests.txt", "requirements/tests.txt",
		"requirements-lint.txt", "lint-requirements.txt", "requirements/lint.txt",
	}
}

// poetryLock is the lockfile of poetry. With it poetry installs the project.
const poetryLock = "poetry.lock"

// open reads the project in f's directory.
func open(f *snapshot.Files) (*project, error) {
	toml, err := pyproject.Read(f)
	if err != nil {
		return nil, err
	}
	p := &project{Project: toml, dir: f.Dir(), setupPy: f.IsFile("setup.py")}
	p.poetry = toml.Path != "" && f.IsFile(poetryLock)
	p.tools = devtool.Find(f, toml)
	if p.poetry {
		p.choosePoetry()
		return p, nil
	}
	for i, name := range requirementFiles() {
		set, err := requirements.Read(f, name)
		if err != nil {
			return nil, err
		}
		if set != nil {
			p.files = append(p.files, reqFile{name: name, Set: set, dev: i > 0})
		}
	}
	p.choose()
	return p, nil
}

// canBuild reports whether the project has a build system.
func (p *project) canBuild() bool { return p.HasBuildSystem || p.setupPy }

// choose decides what is installed: the requirements of the project, and those extras,
// groups and files that declare the tools of its recipes.
func (p *project) choose() {
	for _, file := range p.files {
		if !file.dev {
			p.take = append(p.take, file)
			p.copied = p.copied || slices.ContainsFunc(file.Requirements, func(r requirements.Requirement) bool {
				return r.Path == p.dir && !r.Editable
			})
		}
	}
	p.self = p.canBuild() && !p.copied // pip refuses "." together with "-e ."
	for i := range p.tools {
		t := &p.tools[i]
		t.Declared = p.covers(t.Name) || p.chooseGroup(t.Name) || p.chooseExtra(t.Name) || p.chooseFile(t.Name)
		if t.Configured && !t.Declared && t.Alone {
			p.single = append(p.single, t.Name+t.Spec)
		}
	}
	normal, dev := p.asked()
	for _, r := range slices.Concat(normal, dev) {
		for i := range p.tools {
			if p.tools[i].Name == r.Name {
				p.tools[i].Pinned = r.Spec
			}
		}
	}
}

// covers reports whether the chosen parts require the package.
func (p *project) covers(name string) bool {
	if slices.ContainsFunc(p.Dependencies, func(r requirements.Requirement) bool { return r.Name == name }) {
		return true
	}
	for _, file := range p.take {
		if file.Has(name) {
			return true
		}
	}
	for _, e := range p.Extras {
		if slices.Contains(p.extras, e.Name) && e.Has(name) {
			return true
		}
	}
	return slices.ContainsFunc(p.groups, func(g pyproject.Group) bool { return g.Has(name) })
}

func (p *project) chooseGroup(name string) bool {
	g := pyproject.Preferred(p.plainGroups(), name)
	if g != nil {
		p.groups = append(p.groups, *g)
	}
	return g != nil
}

// plainGroups returns the groups that pip can read.
func (p *project) plainGroups() []pyproject.Group {
	return slices.DeleteFunc(slices.Clone(p.Groups), func(g pyproject.Group) bool { return g.Poetry })
}

// chooseExtra chooses an extra; only a project that is installed itself has extras.
func (p *project) chooseExtra(name string) bool {
	g := pyproject.Preferred(p.Extras, name)
	if g == nil {
		return false
	}
	if p.self {
		p.extras = append(p.extras, g.Name)
	} else {
		p.groups = append(p.groups, *g)
	}
	return true
}

func (p *project) chooseFile(name string) bool {
	for _, file := range p.files {
		if file.Has(name) {
			p.take = append(p.take, file)
			return true
		}
	}
	return false
}

// nothing reports whether an install is needed neither for tasks nor for a build.
func (p *project) nothing() bool {
	if p.poetry || p.self || len(p.groups)+len(p.single)+len(p.Dependencies) > 0 {
		return false
	}
	return !slices.ContainsFunc(p.take, func(file reqFile) bool { return len(file.Requirements) > 0 })
}

// asked returns all requirements of an install, split into normal and development ones.
func (p *project) asked() (normal, dev []requirements.Requirement) {
	normal = slices.Concat(p.Dependencies, p.Sources, p.Poetry)
	for _, file := range p.take {
		if file.dev {
			dev = append(dev, file.Requirements...)
		} else {
			normal = append(normal, file.Requirements...)
		}
	}
	for _, e := range p.Extras {
		if slices.Contains(p.extras, e.Name) {
			dev = append(dev, e.Requirements...)
		}
	}
	for _, g := range p.groups {
		dev = append(dev, g.Requirements...)
	}
	for _, g := range p.Groups {
		if g.Poetry && !slices.ContainsFunc(p.groups, func(o pyproject.Group) bool { return o.Poetry && o.Name == g.Name }) {
			dev = append(dev, g.Requirements...)
		}
	}
	return normal, dev
}
