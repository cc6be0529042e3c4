// Package report reads the output of Ruby's test runners, and of Ruby itself when a program
// fails: RSpec, minitest, test-unit, backtraces and syntax errors.
package report

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/pattern"
)

// Bounds of a report.
const (
	maxFindings = 1000
	maxMessage  = 8 << 10
	maxSaid     = 500 // of one line of a message
	maxLine     = 1<<31 - 1
)

// Where holds the directories of the paths in a report.
type Where struct {
	Dir  string // absolute, of the task: relative paths begin here
	Root string // absolute, of the workspace
}

var (
	// "  1) Failure:" of minitest, "  1) Group does it" of RSpec.
	numbered = pattern.New(`^ {1,4}(\d+)\) (.*)$`)
	// "HelloTest#test_greet [test/hello_test.rb:8]:"
	minitest = pattern.New(`^(\S+#.+?) \[(.+?):(\d+)\]:$`)
	// "NameTest#test_x:" of an error
	minitestError = pattern.New(`^(\S+#.+):$`)
	// "    test/x_test.rb:5:in `test_x'", "# ./spec/x_spec.rb:4:in `block'"
	frame = pattern.New("^\\s*(?:# |from )?([^\\s:'\"`][^:'\"`]*\\.(?:rb|rake|gemspec|ru)|[^\\s:'\"`]*/?(?:Rakefile|Gemfile)):(\\d+)(?::in [`'].*)?$")
	// "lib/x.rb:3: syntax error, unexpected end", "lib/x.rb:3:in `f': message (NameError)"
	ruby = pattern.New("(?:^|\\s)((?:\\./|/)?[^\\s:'\"`\\[\\]]+\\.(?:rb|rake|gemspec|ru)):(\\d+):(?:in [`'].*?':)? (.+)$")
	// "Failure: test_greet(HelloTest)" of test-unit
	testUnit = pattern.New(`^(Failure|Error): (\S+\([^()]+\))(?::\s*(.*))?$`)
	// the lines after the failures
	ends = pattern.New(`^(?:\d+ (?:runs|tests|examples)\b|Finished in |Failed examples:|Failures:|Randomized with seed|Coverage )`)
	// "  => 4:     assert_equal", the source that test-unit shows
	listing = pattern.New(`^\s*(?:=> )?\s*\d+: `)
	// "rspec ./spec/a_spec.rb:3 # Hello greets"
	rspecAgain = pattern.New(`^rspec (\S+?\.rb):(\d+) # (.*)$`)
)

// Parse returns the diagnostics of a report for files of the workspace, with paths relative
// to it.
func Parse(w Where, texts ...string) []diagnostics.Diagnostic {
	r := &reader{where: w}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			r.line(strings.TrimRight(line, "\r\n"))
		}
		r.flush()
	}
	return diagnostics.Sorted(r.found)
}

// reader reads lines one after the other.
type reader struct {
	where Where
	found []diagnostics.Diagnostic
	seen  map[string]bool // places with a diagnostic

	open    bool // inside the block of a failure
	title   string
	at      diagnostics.Diagnostic // the first place in the workspace
	message []string
	size    int
}

func (r *reader) line(text string) {
	switch {
	case ends.MatchString(text):
		r.flush()
	case r.begins(text):
	case rspecAgain.MatchString(text):
		m := rspecAgain.FindStringSubmatch(text)
		r.flush()
		if !r.has(m[1]) {
			r.add(m[1], m[2], m[3]+": failed")
		}
	case r.open && r.place(text):
	case r.broken(text):
	case r.open:
		r.say(text)
	}
}

// begins reads the first line of a failure.
func (r *reader) begins(text string) bool {
	if m := numbered.FindStringSubmatch(text); m != nil {
		r.flush()
		r.open = true
		if title := strings.TrimSpace(m[2]); title != "Failure:" && title != "Error:" && title != "Skipped:" {
			r.title = title
		}
		return true
	}
	if m := testUnit.FindStringSubmatch(text); m != nil {
		r.flush()
		r.open, r.title = true, m[2]
		if m[3] != "" {
			r.say(m[3])
		}
		return true
	}
	if !r.open {
		return false
	}
	if m := minitest.FindStringSubmatch(text); m != nil {
		r.title = m[1]
		r.take(m[2], m[3])
		return true
	}
	if m := minitestError.FindStringSubmatch(text); m != nil && r.title == "" {
		r.title = m[1]
		return true
	}
	return false
}

// place reads a line of a backtrace.
func (r *reader) place(text string) bool {
	m := frame.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	r.take(m[1], m[2])
	return true
}

// take keeps a place if it is the first one in the workspace.
func (r *reader) take(file, number string) {
	if name, ok := r.ours(file); ok && r.at.File == "" {
		r.at = diagnostics.Diagnostic{File: name, Line: lineOf(number)}
	}
}

// broken reads Ruby's message about a program that it cannot run, also inside of a failure.
func (r *reader) broken(text string) bool {
	m := ruby.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	// "a.rb:2:in `require': b.rb:3: syntax error"
	if inner := ruby.FindStringSubmatch(m[3]); inner != nil && strings.HasPrefix(m[3], inner[1]) {
		m = inner
	}
	isError := strings.Contains(m[3], "error") || strings.HasSuffix(m[3], "Error)") || strings.HasSuffix(m[3], "Exception)")
	if !isError || strings.HasPrefix(m[3], "warning:") {
		return false
	}
	r.add(m[1], m[2], m[3])
	return true
}

func (r *reader) say(text string) {
	text = strings.TrimSpace(text)
	if r.size > maxMessage || strings.Trim(text, "=-.FESPN") == "" || listing.MatchString(text) || strings.HasPrefix(text, "# ") {
		return
	}
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "…"
	}
	r.size += len(text)
	r.message = append(r.message, text)
}

// flush ends the block of a failure.
func (r *reader) flush() {
	if r.open && r.at.File != "" {
		message := strings.Join(r.message, "\n")
		r.note(r.at.File, r.at.Line, strings.TrimPrefix(strings.TrimSuffix(r.title+": "+message, ": "), ": "))
	}
	r.open, r.title, r.at, r.message, r.size = false, "", diagnostics.Diagnostic{}, nil, 0
}

func (r *reader) add(file, number, message string) {
	if name, ok := r.ours(file); ok {
		r.note(name, lineOf(number), message)
	}
}

// note adds a diagnostic at a place relative to the workspace.
func (r *reader) note(name string, line int, message string) {
	if len(r.found) >= maxFindings {
		return
	}
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "")
	}
	if r.seen == nil {
		r.seen = make(map[string]bool)
	}
	r.seen[name] = true
	r.found = append(r.found, diagnostics.Diagnostic{File: name, Line: line, Severity: diagnostics.Error, Message: message, Source: "ruby"})
}

// has reports whether a file has a diagnostic already.
func (r *reader) has(file string) bool {
	name, ok := r.ours(file)
	return ok && r.seen[name]
}

// ours returns the path of a file relative to the workspace, or false for one outside or in
// an installed gem.
func (r *reader) ours(file string) (string, bool) {
	path := filepath.FromSlash(file)
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.where.Dir, path)
	}
	rel, err := filepath.Rel(r.where.Root, path)
	if err != nil || !filepath.IsLocal(rel) || strings.Contains("/"+filepath.ToSlash(rel)+"/", "/vendor/bundle/") {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

func lineOf(number string) int {
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > maxLine {
		return 1
	}
	return n
}
