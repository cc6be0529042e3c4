package discovery

import (
	"errors"
	"slices"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/tree"
)

// compile makes the set of globs, or tells which are wrong and gives nil.
func (f *finder) compile(base string, globs []config.Glob) *tree.Set {
	globs = slices.DeleteFunc(slices.Clone(globs), func(g config.Glob) bool { return g.Text == "" })
	texts := make([]string, len(globs))
	for i, g := range globs {
		texts[i] = g.Text
	}
	set, err := tree.CompileSet(base, texts)
	if err == nil {
		return set
	}
	for _, err := range unjoin(err) {
		var bad *tree.GlobError
		if errors.As(err, &bad) && bad.Index < len(globs) {
			f.add(globs[bad.Index].Pos.Error(config.RuleGlob, "glob %q: %s", bad.Glob, bad.Reason))
		}
	}
	return nil
}

func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}
