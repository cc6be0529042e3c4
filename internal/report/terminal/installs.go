package terminal

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

// installLog prints the log of an install, and the output of its tools: by the contract with
// plugins, forwarded output is always shown.
func (l *Lines) installLog(ev run.InstallLog) {
	if ev.Log.Verbatim {
		if l.Mode != Quiet {
			l.forward(ev.Log)
		}
		return
	}
	message := strings.TrimRight(ev.Log.Message, "\r\n")
	if message == "" || !l.hears(ev.Log) {
		return
	}
	l.endLines()
	switch {
	case ev.Log.Stream == "":
		fmt.Fprintf(l.Err, "bento: %s: %s\n", ev.Install.Dish, report.Indent(report.Printable(message)))
	case ev.Log.Stream == "stdout" && l.Mode == Stream:
		fmt.Fprintln(l.Out, message)
	default:
		fmt.Fprintln(l.Err, message)
	}
}

// hears reports whether a log line of an install is shown.
func (l *Lines) hears(line adapters.Log) bool {
	if line.Stream == "" {
		return l.Verbose || line.Level == "warn" || line.Level == "error"
	}
	return l.Verbose || l.Mode == Stream || l.Tools
}

// forward writes a piece of a tool's output, which may end anywhere.
func (l *Lines) forward(piece adapters.Log) {
	report.WriteForwarded(l.Out, l.Err, piece)
	if piece.Message == "" {
		return
	}
	i := 0
	if piece.Stream == "stderr" {
		i = 1
	}
	l.open[i] = !strings.HasSuffix(piece.Message, "\n")
}

// endLines ends unfinished lines of tools, so that the next output of bento starts a line.
func (l *Lines) endLines() {
	for i, w := range [2]io.Writer{l.Out, l.Err} {
		if l.open[i] {
			io.WriteString(w, "\n") //nolint:errcheck // there is no other stream for the error
		}
	}
	l.open = [2]bool{}
}

// speaks reports whether an event prints something other than the log of an install, which may
// continue in the same line.
func (l *Lines) speaks(ev run.Event) bool {
	switch ev := ev.(type) {
	case run.InstallLog:
		return false
	case run.TaskOutput:
		return l.streams(ev.Task) && !l.isRaw(ev.Task)
	case run.TaskStarted:
		return ev.Terminal
	case run.TaskFinished:
		return ev.Result.Outcome != run.CacheHit || l.Mode != Grouped || l.Verbose
	}
	return true
}

func (l *Lines) installed(i *run.Install) {
	if i.Err != nil {
		l.status("FAILED", l.Style.Red, i.Dish, "install "+report.Seconds(i.Duration))
		return
	}
	if l.Mode != Quiet {
		l.status("installed", l.Style.Green, i.Dish, report.Seconds(i.Duration))
	}
}

// installFailure prints the error of a failed install once, even if several tasks needed it.
func (l *Lines) installFailure(i *run.Install) {
	fmt.Fprintf(l.Err, "bento: %s the dependencies of %s: %s\n", l.Style.Red("cannot install"), i.Dish, report.Indent(report.Printable(i.Err.Error())))
	var failure *adapters.Failure
	if errors.As(i.Err, &failure) {
		report.WriteFailure(l.Err, failure)
	}
	if i.LogPath != "" {
		fmt.Fprintf(l.Err, "bento:   log: %s\n", report.Printable(i.LogPath))
	}
}
