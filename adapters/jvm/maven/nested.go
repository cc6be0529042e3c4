package maven

import (
	"context"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// insideRule is Manifest.Inside.
const insideRule = "a reactor names it, or no reactor above has it and it does not lie below `src/`"

// Nested implements adapters.Nester. A pom below src is test data or a template.
func (a *Adapter) Nested(_ context.Context, dir, outer string) (adapters.NestedAnswer, error) {
	f := a.Files(dir)
	below := slices.Contains(strings.Split(rel(outer, dir), "/"), "src")
	p, err := a.open(f)
	if err != nil && !below {
		return adapters.NestedAnswer{}, err
	}
	answer := adapters.NestedAnswer{Reads: f.Reads()}
	if below && (err != nil || !p.named) {
		answer.Reason, answer.Why = adapters.InSources, "it lies below src/ and no reactor names it"
	}
	return answer, nil
}
