package gradle

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm/script"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// insideRule is Manifest.Inside.
const insideRule = "settings name it, or it has settings of its own and does not lie below `src/`. `buildSrc` and included builds belong to the build around them"

// Nested implements adapters.Nester.
func (a *Adapter) Nested(_ context.Context, dir, outer string) (adapters.NestedAnswer, error) {
	return snapshot.JudgeNested(a.Files(dir), func(f *snapshot.Files) (adapters.NestedAnswer, error) {
		return a.nested(f, outer)
	})
}

// nested judges a project inside the dish outer: settings name it, or it is a build of its own.
// A build below src is the input of a test, as are the projects that its settings name.
func (a *Adapter) nested(f *snapshot.Files, outer string) (answer adapters.NestedAnswer, err error) {
	if filepath.Base(f.Dir()) == "buildSrc" {
		answer.Reason, answer.Why = adapters.PartOf, "the build around it builds it first"
		return answer, nil
	}
	below := slices.Contains(strings.Split(rel(outer, f.Dir()), "/"), "src")
	var nearest *script.Settings
	for dir := range f.Ancestors() {
		if dir == f.Dir() || below && !adapters.Within(dir, outer) {
			continue
		}
		s, err := a.settingsIn(f, dir)
		switch {
		case err != nil:
			return answer, err
		case s == nil:
			continue
		case slices.ContainsFunc(s.Builds, func(b script.Place) bool { return b.Text == f.Dir() }):
			answer.Reason, answer.Why = adapters.PartOf, s.Path+" includes it as a build"
			return answer, nil
		case nearest == nil:
			nearest = s
		}
	}
	if nearest != nil {
		if _, named := pathOf(nearest, f.Dir()); named {
			return answer, nil
		}
	}
	if below {
		answer.Reason, answer.Why = adapters.InSources, "it lies below src/ and no settings name it"
		return answer, nil
	}
	if own, err := a.settingsIn(f, f.Dir()); err != nil || own != nil || nearest == nil {
		return answer, err
	}
	return unnamed(nearest), nil
}

// unnamed returns the answer about a project that the settings of its build do not name.
func unnamed(s *script.Settings) (answer adapters.NestedAnswer) {
	answer.Reason, answer.Why = adapters.NotAMember, s.Path+" does not include it"
	if len(s.Unsure) > 0 {
		answer.Reason, answer.Why = adapters.PartOf, s.Path+" computes which projects it includes, so the root builds all of them"
	}
	return answer
}
