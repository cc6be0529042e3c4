package ruby

import (
	"context"

	"github.com/bentobuild/bento/adapters"
)

// insideRule is Manifest.Inside.
const insideRule = "it has a lockfile of its own or a gemspec. A gem that the Gemfile above takes by `path` or `gemspec` shares its install"

// Nested implements adapters.Nester: a project that is locked on its own, or a gem.
func (a *Adapter) Nested(_ context.Context, dir, _ string) (adapters.NestedAnswer, error) {
	f := a.Files(dir)
	var answer adapters.NestedAnswer
	gemfile, ok := gemfileIn(f, dir)
	if locked := ok && f.IsFile(lockOf(gemfile)); !locked && len(gemspecsIn(f, dir)) == 0 {
		answer.Reason, answer.Why = adapters.NoLockfile, "it has neither a lockfile of its own nor a gemspec"
	}
	answer.Reads = f.Reads()
	return answer, nil
}
