package run

import (
	"os"

	"github.com/bentobuild/bento/internal/proc"
)

// Stdio is what interactive tasks read and write.
type Stdio struct {
	In, Out, Err *os.File
	// Terminal says that In is a terminal: then Out and Err are theirs too, and
	// nothing of what they print is kept. Else they print like other tasks.
	Terminal bool
}

// onTerminal tells whether the task has the terminal to itself.
func (x *execution) onTerminal() bool {
	return x.ev.Task.Interactive && x.opts.Stdio != nil && x.opts.Stdio.Terminal
}

// giveStdio gives an interactive task what it reads.
func (x *execution) giveStdio(spec *proc.Spec) {
	if !x.ev.Task.Interactive || x.opts.Stdio == nil {
		return
	}
	spec.Stdin = x.opts.Stdio.In
	if x.onTerminal() {
		spec.Stdout, spec.Stderr, spec.Terminal = x.opts.Stdio.Out, x.opts.Stdio.Err, x.opts.Stdio.In
	}
}
