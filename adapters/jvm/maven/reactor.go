package maven

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/jvm/pom"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

// maxChain is how many parents a project may have, and how deep reactors may nest.
const maxChain = 64

// The rules of problems in poms.
const (
	rulePom      = "invalid_pom"
	ruleNoModule = "missing_module"
)

// project is one Maven project and its reactor.
type project struct {
	chain pom.Chain
	// reactor are the aggregators above it, the nearest first; it is empty where the
	// project is built on its own.
	reactor []*pom.Model
	named   bool // a project names it as a module, maybe in a profile that is not active
}

func (p *project) self() *pom.Model { return p.chain[0] }

// root returns the project in whose directory Maven runs.
func (p *project) root() *pom.Model {
	if n := len(p.reactor); n > 0 {
		return p.reactor[n-1]
	}
	return p.self()
}

// aggregates reports whether the project only holds modules.
func (p *project) aggregates() bool {
	return p.self().Packaging.Text == "pom" && len(p.self().Modules) > 0
}

// open reads the project of f's directory, its parents and its reactor. Several answers
// need the project, so open keeps it.
func (a *Adapter) open(f *snapshot.Files) (*project, error) {
	return a.projects.Get(f, f.Dir(), a.read)
}

func (a *Adapter) read(f *snapshot.Files) (*project, error) {
	m, err := a.poms.Read(f, "pom.xml")
	if err != nil {
		return nil, err
	}
	p := &project{}
	if p.chain, err = a.chain(f, m); err != nil {
		return nil, err
	}
	next, err := a.aggregator(f, p.chain)
	if err != nil || next == nil || next == m {
		return p, err
	}
	if p.named = true; inactive(next, m) {
		return p, nil
	}
	up, err := a.reactors.Get(f, next.Dir(), func(f *snapshot.Files) (*project, error) { return a.climb(f, next.Path) })
	if err != nil {
		return nil, err
	}
	p.reactor = up.reactor
	if i := slices.Index(p.reactor, m); i >= 0 { // a cycle of aggregators
		p.reactor = p.reactor[:i]
	}
	return p, nil
}

// inactive reports whether only a profile that must be chosen makes m a module of an aggregator.
// Maven then builds m in its own directory.
func inactive(aggregator, m *pom.Model) bool { return aggregator.Modules[m.Dir()].Profile != "" }

// climb returns the reactor of the aggregator at path: it, and the aggregators above it.
func (a *Adapter) climb(f *snapshot.Files, path string) (*project, error) {
	m, err := a.poms.Read(f, path) // f notes it: the remembered value depends on it
	if err != nil {
		return nil, err
	}
	p := &project{}
	for next := m; next != nil && len(p.reactor) < maxChain && !holds(p.reactor, next); {
		p.reactor = append(p.reactor, next)
		chain, err := a.chain(f, next)
		if err != nil {
			return nil, err
		}
		last := next
		if next, err = a.aggregator(f, chain); err != nil {
			return nil, err
		}
		if next != nil && inactive(next, last) {
			break
		}
	}
	return p, nil
}

// chain returns a project and its parents that are found at their relative paths. It keeps
// the parents for other children.
func (a *Adapter) chain(f *snapshot.Files, m *pom.Model) (pom.Chain, error) {
	if m.Parent == nil || filepath.Base(m.Parent.Path) != "pom.xml" {
		return a.parents(f, m)
	}
	up, err := a.chains.Get(f, filepath.Dir(m.Parent.Path), func(f *snapshot.Files) (pom.Chain, error) {
		parent, err := a.readIfThere(f, "pom.xml")
		if parent == nil || err != nil {
			return nil, err
		}
		return a.parents(f, parent)
	})
	if err != nil || len(up) == 0 || !m.Parent.Matches(up[0]) {
		return pom.Chain{m}, err
	}
	return append(pom.Chain{m}, up...), nil
}

// parents returns a project and its parents.
func (a *Adapter) parents(f *snapshot.Files, m *pom.Model) (pom.Chain, error) {
	chain := pom.Chain{m}
	for len(chain) < maxChain {
		last := chain[len(chain)-1]
		next, err := a.parent(f, last)
		if err != nil || next == nil {
			return chain, err
		}
		if holds(chain, next) {
			return nil, pomProblem(last.Path, last.Parent.Line, "", "the parents of this project lead back to %s", next.Path)
		}
		chain = append(chain, next)
	}
	return chain, nil
}

// holds reports whether list holds m. It compares paths: a pom that was just written is
// parsed again each time.
func holds(list []*pom.Model, m *pom.Model) bool {
	return slices.ContainsFunc(list, func(other *pom.Model) bool { return other.Path == m.Path })
}

// parent returns the parent that is found at its relative path, or nil. Like Maven, it
// skips a pom of another project.
func (a *Adapter) parent(f *snapshot.Files, m *pom.Model) (*pom.Model, error) {
	if m.Parent == nil || m.Parent.Path == "" {
		return nil, nil
	}
	next, err := a.readIfThere(f, m.Parent.Path)
	if next == nil || err != nil || !m.Parent.Matches(next) {
		return nil, err
	}
	return next, nil
}

func (a *Adapter) readIfThere(f *snapshot.Files, path string) (*pom.Model, error) {
	m, err := a.poms.Read(f, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return m, err
}

// aggregator returns the project that has chain's as a module, or nil: one of its parents,
// or one in a directory above.
func (a *Adapter) aggregator(f *snapshot.Files, chain pom.Chain) (*pom.Model, error) {
	dir := chain[0].Dir()
	for _, m := range chain[1:] {
		if _, ok := m.Modules[dir]; ok {
			return m, nil
		}
	}
	for above := range f.Ancestors() {
		if above == dir {
			continue
		}
		m, err := a.readIfThere(f, filepath.Join(above, "pom.xml"))
		if err != nil {
			return nil, err
		}
		if m == nil {
			continue
		}
		if _, ok := m.Modules[dir]; ok {
			return m, nil
		}
	}
	return nil, nil
}

var (
	plainPath  = pattern.New(`^[\w./][\w./ @+=-]*$`)
	coordinate = pattern.New(`^[\w.-]+$`)
)

// selection returns the options that select the project within its reactor, with a blank in
// front; "" outside of a reactor.
func (p *project) selection(others bool) (string, error) {
	if len(p.reactor) == 0 {
		return "", nil
	}
	name, err := filepath.Rel(p.root().Dir(), p.self().Dir())
	if err != nil {
		return "", err
	}
	name = filepath.ToSlash(name)
	if !plainPath.MatchString(name) {
		c := p.chain.Coordinates()
		name = c.Group + ":" + c.Artifact
		if !coordinate.MatchString(c.Group) || !coordinate.MatchString(c.Artifact) {
			return "", pomProblem(p.self().Path, 1, "rename the directory", "Maven cannot select this module: its path has another meaning in -pl, and its coordinates are unknown")
		}
	}
	options := " -pl " + adapters.Quote(name)
	if others {
		options += " -am"
	}
	return options, nil
}

// pomProblem returns an error about a place in a pom.
func pomProblem(path string, line int, hint, format string, args ...any) error {
	return diagnostics.Problems{jvm.ProblemAt(diagnostics.Error, rulePom, path, line, hint, format, args...)}
}
