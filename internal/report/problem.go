package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// WriteProblems prints problems for people, one or two lines each. It joins equal problems of several dishes.
func WriteProblems(w io.Writer, style Style, problems []diagnostics.Diagnostic) {
	for _, p := range joinAlike(joinUnserved(problems)) {
		style.fold(w, func(w io.Writer) { writeProblem(w, style, p) })
	}
}

// ruleUnserved is the rule of the warnings of keys that have no effect, which start with the key.
const ruleUnserved = "unsupported_key"

// joinUnserved joins the warnings about keys of a file that have no effect, at the place of the first.
func joinUnserved(problems []diagnostics.Diagnostic) []diagnostics.Diagnostic {
	is := func(p diagnostics.Diagnostic) bool {
		return p.Rule == ruleUnserved && p.Severity == diagnostics.Warning
	}
	files := make(map[string][]diagnostics.Diagnostic)
	for _, p := range problems {
		if is(p) {
			files[p.File] = append(files[p.File], p)
		}
	}
	var list []diagnostics.Diagnostic
	for _, p := range problems {
		group, ok := files[p.File]
		switch {
		case !is(p) || len(group) == 1:
			list = append(list, p)
		case ok:
			list = append(list, oneOfKeys(group))
			delete(files, p.File)
		}
	}
	return list
}

// oneOfKeys returns one problem for several keys of a file, with the hint of each.
func oneOfKeys(group []diagnostics.Diagnostic) diagnostics.Diagnostic {
	p := group[0]
	var keys, hints []string
	for _, d := range group {
		key, _, _ := strings.Cut(d.Message, " ")
		keys = append(keys, key)
		hints = append(hints, key+": "+d.Hint)
	}
	last := len(keys) - 1
	p.Message = strings.Join(keys[:last], ", ") + " and " + keys[last] + " have no effect in bento"
	p.Hint = strings.Join(hints, "\n")
	return p
}

// maxNamed is the number of dishes that a joined problem names.
const maxNamed = 3

// joinAlike joins problems that differ only in their dish, at the place of the first. It keeps the hint of the
// first.
func joinAlike(problems []diagnostics.Diagnostic) []diagnostics.Diagnostic {
	type kind struct {
		severity    diagnostics.Severity
		rule, alike string
	}
	groups := make(map[kind][]diagnostics.Diagnostic)
	of := func(p diagnostics.Diagnostic) kind { return kind{p.Severity, p.Rule, p.Alike} }
	for _, p := range problems {
		if p.Alike != "" {
			groups[of(p)] = append(groups[of(p)], p)
		}
	}
	var list []diagnostics.Diagnostic
	for _, p := range problems {
		group, ok := groups[of(p)]
		switch {
		case p.Alike == "":
			list = append(list, p)
		case ok:
			list = append(list, joined(group)...)
			delete(groups, of(p))
		}
	}
	return list
}

// joined returns one problem for a group of several dishes, and the group itself for one dish.
func joined(group []diagnostics.Diagnostic) []diagnostics.Diagnostic {
	p := group[0]
	var dishes []string
	for _, other := range group {
		dishes = append(dishes, other.Dish)
		if other.Where() != p.Where() {
			p.File, p.Line, p.Col, p.EndLine, p.EndCol = "", 0, 0, 0, 0
		}
	}
	slices.Sort(dishes)
	if dishes = slices.Compact(dishes); len(dishes) == 1 {
		return group
	}
	named := strings.Join(dishes[:min(maxNamed, len(dishes))], ", ")
	if more := len(dishes) - maxNamed; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	p.Message = fmt.Sprintf("%s %s: %s", Count(len(dishes), "dish"), p.Alike, named)
	return []diagnostics.Diagnostic{p}
}

// writeProblem writes one diagnostic, and its hint on a separate line.
func writeProblem(w io.Writer, style Style, d diagnostics.Diagnostic) {
	lines := style.excerptOf(d)
	d.File = style.place(d.File) // a message may have more lines, a place has one
	severity := string(d.Severity) + ": "
	if d.Severity == diagnostics.Error {
		severity = style.Red(severity)
	} else {
		severity = style.Yellow(severity)
	}
	fmt.Fprintf(w, "bento: %s%s\n", severity, Indent(Printable(d.String())))
	for line := range strings.Lines(lines) {
		fmt.Fprintf(w, "bento:   %s\n", strings.TrimRight(line, "\n"))
	}
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
	style.fold(w, func(w io.Writer) { writeError(w, style, err) })
}

func writeError(w io.Writer, style Style, err error) {
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

// afterPlugin is the hint for a failed tool of a plugin.
const afterPlugin = "bento plugin trace shows what was said, bento plugin call asks the plugin by hand"

// WriteFailure prints the details of a plugin's failure, without its message.
func WriteFailure(w io.Writer, f *adapters.Failure) {
	if f.Stderr != "" {
		fmt.Fprintf(w, "bento:   its last words: %s\n", Indent(Printable(f.Stderr)))
	}
	if f.Hint != "" {
		fmt.Fprintf(w, "bento:   %s\n", Indent(Printable(f.Hint)))
	}
}
