package report

import (
	"fmt"
	"io"

	"github.com/bentobuild/bento/adapters"
)

// WriteForwarded prints a piece of a tool's output that a plugin forwards, unchanged, to the stream of the tool.
func WriteForwarded(out, err io.Writer, l adapters.Log) {
	if l.Stream == "stderr" {
		out = err
	}
	_, _ = io.WriteString(out, l.Message) // there is no other stream for the error
}

// WriteLog prints a progress message of a plugin, at least one line.
func WriteLog(w io.Writer, l adapters.Log) {
	fmt.Fprintln(w, Indent(Printable(l.Message)))
}
