package config

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// bentoTable is the schema of bentos/<name>.toml.
type bentoTable struct {
	Name    tomlfile.At[string]  `toml:"name" doc:"the name of the bento, as in bento build NAME"`
	Dishes  *[]dishPath          `toml:"dishes" doc:"paths of directories or globs of them, relative to the workspace"`
	Sandbox choice[confineWords] `toml:"sandbox" doc:"of the tasks of its dishes, as in defaults.sandbox"`
}

// dishPath is a directory, or a glob of directories, relative to the workspace.
type dishPath dish.Glob

// Shape returns the schema.
func (*dishPath) Shape() tomlfile.Schema {
	return tomlfile.Schema{"type": "string", "minLength": 1}
}

// UnmarshalTOML reads and checks a path.
func (p *dishPath) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("the path of a dish")}
	}
	dir, why := cleanDir(s)
	*p = dishPath{Text: dir, Pos: v.Pos()}
	if why != "" {
		return []diagnostics.Diagnostic{v.Pos().Error(rulePath, "dish path %q %s", s, why)}
	}
	if _, why := badGlob(dir); why != "" {
		return []diagnostics.Diagnostic{v.Pos().Error(RuleGlob, "dish path %q %s", s, why)}
	}
	return nil
}

func (w *Workspace) loadBentos(s *sources) (problems []diagnostics.Diagnostic) {
	for _, name := range s.bentos {
		f, more := s.parse(name)
		problems = append(problems, more...)
		if f != nil {
			problems = append(problems, w.addBento(f)...)
		}
	}
	slices.SortStableFunc(w.Bentos, func(a, b Bento) int { return strings.Compare(a.Name, b.Name) })
	return problems
}

// The largest number of entries of a bento, and of globs among them: each glob is compared with the
// paths of all dishes.
const (
	maxBentoDishes = 100_000
	maxBentoGlobs  = 2000
)

func (w *Workspace) addBento(f *tomlfile.File) []diagnostics.Diagnostic {
	var raw bentoTable
	problems := f.Decode(&raw)
	start := diagnostics.Pos{File: f.Path(), Line: 1, Col: 1}
	if f.Lookup("name") == nil {
		problems = append(problems, start.Error(ruleMissing, `the bento has no name, expected name = "…"`))
	}
	if f.Lookup("dishes") == nil {
		problems = append(problems, start.Error(ruleMissing, `the bento lists no dishes, expected dishes = ["…"]`))
	}
	if !raw.Name.Given {
		return problems
	}
	problems = append(problems, checkName("bento", raw.Name.Value, raw.Name.Pos)...)
	bento := Bento{Name: raw.Name.Value, Pos: raw.Name.Pos, Sandbox: dish.Sandbox(raw.Sandbox.At.Value)}
	if i := slices.IndexFunc(w.Bentos, func(b Bento) bool { return b.Name == bento.Name }); i >= 0 {
		d := bento.Pos.Error(RuleDuplicate, "two bentos are named %q, the other at %s", bento.Name, w.Bentos[i].Pos)
		return append(problems, d)
	}
	if raw.Dishes != nil {
		globs := 0
		for _, p := range *raw.Dishes {
			bento.Dishes = append(bento.Dishes, dish.Glob(p))
			if strings.ContainsAny(p.Text, `*?[{\`) {
				globs++
			}
		}
		err := diagnostics.Bounded(f.Path(), bento.Pos.Line, "entries of dishes", len(bento.Dishes), maxBentoDishes)
		if err == nil {
			err = diagnostics.Bounded(f.Path(), bento.Pos.Line, "globs among dishes", globs, maxBentoGlobs)
		}
		if err != nil {
			return append(problems, err.(diagnostics.Problems)...)
		}
	}
	w.Bentos = append(w.Bentos, bento)
	return problems
}
