package parse

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

// cargoMessage is a line of cargo's --message-format=json.
// https://doc.rust-lang.org/cargo/reference/external-tools.html#json-messages
type cargoMessage struct {
	Reason       string
	ManifestPath string `json:"manifest_path"`
	Target       struct {
		SrcPath string `json:"src_path"`
	}
	Message rustMessage
}

// rustMessage is https://doc.rust-lang.org/rustc/json.html#diagnostics.
type rustMessage struct {
	Message, Level string
	Code           struct{ Code string }
	Spans          []rustSpan
	Children       []rustMessage
}

type rustSpan struct {
	FileName    string `json:"file_name"`
	LineStart   int    `json:"line_start"`
	LineEnd     int    `json:"line_end"`
	ColumnStart int    `json:"column_start"`
	ColumnEnd   int    `json:"column_end"`
	IsPrimary   bool   `json:"is_primary"`
	Expansion   *struct{ Span rustSpan }
}

// parseCargo reads cargo's JSON messages, the text that rustc writes without
// them, and the panics of tests.
func parseCargo(f *finder) {
	f.tool = "cargo"
	for doc := range documents(`{"reason"`, f.out.Stdout, f.out.Stderr) {
		for _, m := range eachOf[cargoMessage](doc) {
			if m.Reason == "compiler-message" {
				f.addRust(m)
			}
		}
	}
	f.arrows(func(level, _, _ string) diagnostics.Severity { return severityOf(level, diagnostics.Error) })
	f.panics()
}

func (f *finder) addRust(m cargoMessage) {
	for _, s := range m.Message.Spans {
		if !s.IsPrimary {
			continue
		}
		s = f.callSite(s)
		f.addAt(f.rustBase(m.ManifestPath, m.Target.SrcPath, s.FileName), diagnostics.Diagnostic{
			File: s.FileName, Line: s.LineStart, Col: s.ColumnStart, EndLine: s.LineEnd, EndCol: s.ColumnEnd,
			Severity: severityOf(m.Message.Level, diagnostics.Warning), Message: m.Message.Message,
			Rule: m.Message.Code.Code, Hint: m.Message.help(),
		})
	}
}

// callSite returns the place that calls a macro of another workspace.
func (f *finder) callSite(s rustSpan) rustSpan {
	for s.Expansion != nil && (strings.HasPrefix(s.FileName, "<") || !f.ours(s.FileName)) {
		s = s.Expansion.Span
	}
	return s
}

// help returns rustc's first advice for a place in the code.
func (m rustMessage) help() string {
	for _, c := range m.Children {
		if c.Level == "help" && len(c.Spans) > 0 {
			return c.Message
		}
	}
	return ""
}

// rustBase returns the directory that a path of rustc is relative to. That is the root of the cargo
// workspace. If that is unknown, it is the package's own directory, or one above it from which the path
// leads back into the package. If several are possible, the source of the target decides. A path without a
// manifest may also be that of another package, which cargo names when it compiles it.
func (f *finder) rustBase(manifest, source, file string) string {
	if f.out.Base != "" {
		return f.out.Base
	}
	member, source, file := slashed(f.out.Dir), slashed(source), slashed(file)
	if manifest != "" {
		member = path.Dir(slashed(manifest))
	}
	above := basesAbove(member, file)
	if manifest == "" && len(above) == 0 {
		above = f.basesOfCrates(file)
	}
	best, score := member, -1
	for _, base := range append(above, member) {
		if s := agreement(path.Join(base, file), source); s > score {
			best, score = base, s
		}
	}
	return best
}

var crateLine = pattern.New(`^ *(?:Compiling|Checking|Documenting) [^ ]+ v[^ ]+ \((/.+)\)$`)

// maxCrates bounds how many packages are looked at for one path.
const maxCrates = 500

// basesOfCrates returns the directories from which file leads into a package that cargo compiled.
// A file in src may be of any package.
func (f *finder) basesOfCrates(file string) []string {
	if first, _, _ := strings.Cut(file, "/"); slices.Contains([]string{"src", "tests", "benches", "examples"}, first) {
		return nil
	}
	if f.crates == nil {
		f.crates = []string{}
		for line := range linesOf(f.out.Stderr) {
			if m := crateLine.FindStringSubmatch(line); m != nil && len(f.crates) < maxCrates {
				f.crates = append(f.crates, m[1])
			}
		}
	}
	for _, dir := range f.crates {
		if bases := basesAbove(dir, file); len(bases) > 0 {
			return bases
		}
	}
	return nil
}

func agreement(name, source string) int {
	if source == "" {
		return 0
	}
	if name == source {
		return 2
	}
	if _, beside := insideDir(path.Dir(source), name); beside {
		return 1
	}
	return 0
}

var panicLine = pattern.New(`^thread '([^']+)'(?: \(\d+\))? panicked at (.+?):(\d+):(\d+):$`)

// panics reads the output of the standard library for a failed test.
func (f *finder) panics() {
	var at diagnostics.Diagnostic
	for line := range linesOf(f.out.Stdout, f.out.Stderr) {
		if m := panicLine.FindStringSubmatch(line); m != nil {
			f.addPanic(at)
			at = diagnostics.Diagnostic{File: m[2], Line: number(m[3]), Col: number(m[4]), Severity: diagnostics.Error, Message: m[1] + ":"}
			continue
		}
		if at.File == "" {
			continue
		}
		if line == "" || strings.HasPrefix(line, "stack backtrace:") || strings.HasPrefix(line, "note: ") || len(at.Message) > maxMessage {
			f.addPanic(at)
			at = diagnostics.Diagnostic{}
			continue
		}
		at.Message += separator(at.Message) + line
	}
	f.addPanic(at)
}

// separator puts the first line of a text behind its title.
func separator(message string) string {
	if strings.HasSuffix(message, ":") {
		return " "
	}
	return "\n"
}

func (f *finder) addPanic(d diagnostics.Diagnostic) {
	if d.File != "" && f.ours(d.File) {
		f.addAt(f.rustBase("", "", d.File), d)
	}
}
