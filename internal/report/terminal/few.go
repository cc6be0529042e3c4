package terminal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/run"
)

// mostHitNames is the maximal length in bytes of the names of hits. More hits are counted.
const mostHitNames = 70

// writeHits writes one line for the hits since its last call: their names, or their number.
func (l *Lines) writeHits() {
	if len(l.hits) == 0 {
		return
	}
	l.endLines()
	l.status("hit", l.Style.Dim, hitNames(l.hits), "")
	l.hits = l.hits[:0]
}

func hitNames(hits []*plan.Task) string {
	var names []string
	length := 0
	for _, t := range hits {
		names = append(names, t.ID())
		if length += len(", ") + len(names[len(names)-1]); length > mostHitNames && len(hits) > 1 {
			return fmt.Sprintf("%d tasks  -v lists them", len(hits))
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// isRaw reports whether the output of a task is shown as it comes and without its name: it is the only task that the
// user has named.
func (l *Lines) isRaw(t *plan.Task) bool {
	return l.few == 1 && t.Requested && !t.Persistent
}

// rawOutput writes a piece of output, which may end anywhere.
func (l *Lines) rawOutput(ev run.TaskOutput) {
	i := 0
	if ev.Stream == action.Stderr {
		i = 1
	}
	if l.raw[i] == nil {
		l.raw[i] = l.shown(ev.Stream)
	}
	l.raw[i].Write(ev.Data) //nolint:errcheck // there is no other stream for the error
	l.open[i] = !bytes.HasSuffix(ev.Data, []byte("\n"))
}

func (l *Lines) endRaw() {
	for i, w := range l.raw {
		if w != nil {
			w.Close()
			l.raw[i] = nil
		}
	}
	l.endLines()
}
