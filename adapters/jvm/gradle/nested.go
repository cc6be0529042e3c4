package gradle

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm/script"
)

// insideRule is Manifest.Inside.
const insideRule = "settings name it, or it has settings of its own. `buildSrc` and included builds belong to the build around them"

// Nested implements adapters.Nester: a project that settings name, or a build of its own.
func (a *Adapter) Nested(_ context.Context, dir, _ string) (adapters.NestedAnswer, error) {
	return adapters.JudgeNested(a.Files(dir), a.nested)
}

func (a *Adapter) nested(f *adapters.Files) (answer adapters.NestedAnswer, err error) {
	if filepath.Base(f.Dir()) == "buildSrc" {
		answer.Reason, answer.Why = adapters.PartOf, "the build around it builds it first"
		return answer, nil
	}
	own, err := a.settingsIn(f, f.Dir())
	if err != nil {
		return answer, err
	}
	for dir := range f.Ancestors() {
		if dir == f.Dir() {
			continue
		}
		s, err := a.settingsIn(f, dir)
		if err != nil {
			return answer, err
		}
		if s != nil {
			return standing(s, f.Dir(), own != nil), nil
		}
	}
	return answer, nil
}

// standing returns the place of a directory in the nearest build above.
func standing(s *script.Settings, dir string, own bool) (answer adapters.NestedAnswer) {
	_, named := pathOf(s, dir)
	switch {
	case slices.ContainsFunc(s.Builds, func(b script.Place) bool { return b.Text == dir }):
		answer.Reason, answer.Why = adapters.PartOf, s.Path+" includes it as a build"
	case named || own:
	case len(s.Unsure) > 0:
		answer.Reason, answer.Why = adapters.PartOf, s.Path+" computes which projects it includes, so the root builds all of them"
	default:
		answer.Reason, answer.Why = adapters.NotAMember, s.Path+" does not include it"
	}
	return answer
}
