package report

import (
	"errors"
	"fmt"
	"io"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// WriteProblems prints problems for people, one or two lines each.
func WriteProblems(w io.Writer, style Style, problems []diagnostics.Diagnostic) {
	for _, p := range problems {
		writeProblem(w, style, p)
	}
}

// writeProblem writes one diagnostic, and its hint on a line of its own.
func writeProblem(w io.Writer, style Style, d diagnostics.Diagnostic) {
	d.File = PrintableLine(d.File) // a message may have more lines, a place has one
	severity := string(d.Severity) + ": "
	if d.Severity == diagnostics.Error {
		severity = style.Red(severity)
	} else {
		severity = style.Yellow(severity)
	}
	fmt.Fprintf(w, "bento: %s%s\n", severity, Indent(Printable(d.String())))
	if d.Hint != "" {
		fmt.Fprintf(w, "bento:   %s\n", Indent(Printable(d.Hint)))
	}
}

// WriteError prints an error for people.
func WriteError(w io.Writer, style Style, err error) {
	var problems diagnostics.Problems
	if errors.As(err, &problems) {
		WriteProblems(w, style, problems)
		return
	}
	fmt.Fprintf(w, "bento: %s%s\n", style.Red("error: "), Indent(Printable(err.Error())))
	var failure *adapters.Failure
	var install *adapters.InstallError
	switch {
	case errors.As(err, &failure):
		WriteFailure(w, failure)
	case errors.As(err, &install) && install.Plugin != "":
		fmt.Fprintf(w, "bento:   %s\n", afterPlugin)
	}
}

// afterPlugin is what to do about a tool that a plugin says has failed.
const afterPlugin = "bento plugin trace shows what was said, bento plugin call asks the plugin by hand"

// WriteFailure prints what is known of a plugin's failure beside its message.
func WriteFailure(w io.Writer, f *adapters.Failure) {
	if f.Stderr != "" {
		fmt.Fprintf(w, "bento:   its last words: %s\n", Indent(Printable(f.Stderr)))
	}
	if f.Hint != "" {
		fmt.Fprintf(w, "bento:   %s\n", Indent(Printable(f.Hint)))
	}
}
