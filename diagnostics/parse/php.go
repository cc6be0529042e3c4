package parse

import (
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

var (
	phpSyntax  = pattern.New(`^(?:PHP )?(?:Parse|Fatal) error: +(.+) in (.+?)(?: on line |:)(\d+)$`)
	phpFailure = pattern.New(`^\d+\) (\S.*)$`)
	phpPlace   = pattern.New(`^(\S.*\.(?:php|phpt)):(\d+)$`)
)

// parsePHPUnit reads the list of failures at the end of PHPUnit's text, and PHP's own
// errors about a file that it cannot run. https://docs.phpunit.de/en/11.5/textui.html
func parsePHPUnit(f *finder) {
	f.tool = "phpunit"
	var at diagnostics.Diagnostic
	for line := range linesOf(f.out.Stdout, f.out.Stderr) {
		switch m := phpFailure.FindStringSubmatch(line); {
		case m != nil:
			at = diagnostics.Diagnostic{Severity: diagnostics.Error, Message: m[1] + ":"}
		case f.phpSyntax(line):
		case at.Message == "" || line == "" || len(at.Message) > maxMessage:
		case phpPlace.MatchString(line):
			if m := phpPlace.FindStringSubmatch(line); f.ours(m[1]) {
				at.File, at.Line = m[1], number(m[2])
				f.add(at)
				at = diagnostics.Diagnostic{}
			}
		default:
			at.Message += separator(at.Message) + line
		}
	}
}

// parsePHPStan reads the JSON of PHPStan, and that of PHP_CodeSniffer, which has the same
// frame. https://phpstan.org/user-guide/output-format
func parsePHPStan(f *finder) {
	type report struct {
		Files map[string]struct {
			Messages []struct {
				Message, Identifier, Source, Type, Tip string
				Line, Column                           int
			}
		}
	}
	for doc := range documents(`{"totals"`, f.out.Stdout, f.out.Stderr) {
		for _, r := range eachOf[report](doc) {
			for name, file := range r.Files {
				name, _, _ = strings.Cut(name, " (in context of ") // a trait
				for _, m := range file.Messages {
					f.add(diagnostics.Diagnostic{File: name, Line: m.Line, Col: m.Column, Severity: severityOf(m.Type, diagnostics.Error),
						Message: m.Message, Rule: m.Identifier + m.Source, Hint: m.Tip})
				}
			}
		}
	}
	for line := range linesOf(f.out.Stdout, f.out.Stderr) { // a script of "php -l" may be the check or the lint
		f.phpSyntax(line)
	}
	f.gnuLines(gnuStyle{severity: diagnostics.Error})
}

// phpSyntax adds the error of PHP itself in a line, and reports whether it is one.
func (f *finder) phpSyntax(line string) bool {
	m := phpSyntax.FindStringSubmatch(line)
	if m != nil {
		f.add(diagnostics.Diagnostic{File: m[2], Line: number(m[3]), Severity: diagnostics.Error, Message: m[1], Source: "php"})
	}
	return m != nil
}
