package node

import (
	"context"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
)

// insideRule is Manifest.Inside.
const insideRule = "the nearest directory above that declares members (npm, yarn, pnpm, bun, lerna, deno) names it, or it has a lockfile or members of its own; where none declares any, it has scripts or dependencies"

// Nested implements adapters.Nester.
func (a *Adapter) Nested(_ context.Context, dir, _ string) (adapters.NestedAnswer, error) {
	f := a.Files(dir)
	var answer adapters.NestedAnswer
	where, err := a.Stand(f)
	if err != nil {
		return answer, err
	}
	switch {
	case where.Own, where.Named:
	case where.Root != "":
		answer.Reason, answer.Why = adapters.NotAMember, filepath.Join(where.Root, where.By)+" does not name it, and it has no lockfile of its own"
	case !where.Works:
		answer.Reason, answer.Why = adapters.NoProject, "its package.json has neither scripts nor dependencies"
	}
	answer.Reads = f.Reads()
	return answer, nil
}
