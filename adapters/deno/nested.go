package deno

import (
	"context"

	"github.com/bentobuild/bento/adapters"
)

// insideRule is Manifest.Inside.
const insideRule = "a workspace names it, or no `deno.json` above has a `workspace`"

// Nested implements adapters.Nester: the nearest workspace above decides.
func (a *Adapter) Nested(_ context.Context, dir, _ string) (adapters.NestedAnswer, error) {
	f := a.Files(dir)
	f.IsFile(configNames()[0])
	var answer adapters.NestedAnswer
	for at := range f.Ancestors() {
		if at == dir {
			continue
		}
		above, err := a.read(f, at)
		if err != nil {
			return answer, err
		}
		if above.Workspace == nil {
			continue
		}
		if !names(above, dir) {
			answer.Reason, answer.Why = adapters.NotAMember, above.Path+" does not name it"
		}
		break
	}
	answer.Reads = f.Reads()
	return answer, nil
}
