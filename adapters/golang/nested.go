package golang

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// insideRule is Manifest.Inside.
const insideRule = "it has a `go.mod`: a module ends where the next begins. Directories whose name begins with `.` or `_` are passed over"

// Nested implements adapters.Nester: a module ends where the next one begins. The go command
// passes over directories whose name begins with "." or "_".
func (a *Adapter) Nested(_ context.Context, dir, outer string) (adapters.NestedAnswer, error) {
	f := a.Files(dir)
	f.IsFile("go.mod") // Detect found it or a go.work
	answer := adapters.NestedAnswer{Reads: f.Reads()}
	rel, err := filepath.Rel(outer, dir)
	if err != nil {
		return answer, err
	}
	for name := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
			answer.Reason, answer.Why = adapters.PassedOver, "the go command passes over "+name
		}
	}
	return answer, nil
}
