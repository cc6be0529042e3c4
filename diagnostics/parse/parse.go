// Package parse holds the built-in parsers of the output of compilers, linters and test
// runners. A diagnostics hook of an adapter names its parser.
package parse

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
)

// Bounds of a parse. Diagnostics beyond maxFindings are dropped, the mildest first.
const (
	maxFindings = 1000
	maxMessage  = 8 << 10
	maxPath     = 4 << 10
	maxName     = 200 // of a rule or a tool
	maxNumber   = 1<<31 - 1
)

// ErrUnknownParser is the error of an unknown parser.
var ErrUnknownParser = errors.New("no such diagnostics parser")

// Parsers returns the names of the built-in parsers, sorted.
func Parsers() []string { return slices.Sorted(maps.Keys(parsers())) }

func parsers() map[string]func(*finder) {
	return map[string]func(*finder){
		"cargo-message": parseCargo,
		"deno-lint":     parseDenoLint,
		"eslint":        parseESLint,
		"gnu":           parseGNU,
		"go-build":      parseGoBuild,
		"go-test":       parseGoTest,
		"golangci-lint": parseGolangci,
		"gradle":        parseJava,
		"javac":         parseJava,
		"js-test":       parseJSTest,
		"junit":         parseJUnit,
		"maven":         parseJava,
		"mypy":          parseMypy,
		"phpstan":       parsePHPStan,
		"phpunit":       parsePHPUnit,
		"pytest":        parsePytest,
		"rubocop":       parseRuboCop,
		"ruff":          parseRuff,
		"sarif":         parseSARIF,
		"tsc":           parseTSC,
	}
}

// Parse reads the output of a tool. It opens no file: it resolves a path by its text alone.
// A path inside Root becomes relative to it with forward slashes; others stay absolute.
// Each diagnostic has a file and a line. The result is sorted, without duplicates, and has
// at most 1,000 diagnostics. Only the last 4 MiB of a stream are read. Parse ignores text
// that the parser does not know; its only error is ErrUnknownParser.
func Parse(parser string, o diagnostics.Output) ([]diagnostics.Diagnostic, error) {
	parse := parsers()[parser]
	if parse == nil {
		return nil, fmt.Errorf("%q: %w", parser, ErrUnknownParser)
	}
	f := &finder{out: o, tool: cmp.Or(o.Tool, parser)}
	parse(f)
	return worst(f.list), nil
}

// worst sorts list, drops duplicates and, of too many, keeps the gravest.
func worst(list []diagnostics.Diagnostic) []diagnostics.Diagnostic {
	list = diagnostics.Sorted(list)
	if len(list) <= maxFindings {
		return list
	}
	slices.SortStableFunc(list, func(a, b diagnostics.Diagnostic) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	return diagnostics.Sorted(list[:maxFindings])
}

func rank(s diagnostics.Severity) int {
	return slices.Index([]diagnostics.Severity{diagnostics.Error, diagnostics.Warning, diagnostics.Info, diagnostics.Hint}, s)
}
