// Package codeowners reads the text of a CODEOWNERS file by the rules of GitHub: who owns a path. It reads no file.
package codeowners

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
)

// Bounds of a file. GitHub ignores a larger one, too.
const (
	MaxSize  = 3 << 20 // bytes
	maxRules = 20_000
	maxSteps = 10_000_000 // comparisons of bytes and elements for one path
)

// Names returns the places of the file relative to the root of a repository. The first one that exists counts.
func Names() []string {
	return []string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}
}

// ErrCostly is the error of a file whose patterns take too long to match against a path.
var ErrCostly = errors.New("its patterns take more than 10,000,000 steps to match against a path; write fewer wildcards")

// Rule is a line that names the owners of the paths that match its pattern.
type Rule struct {
	Pattern string   // as written
	Owners  []string // "@name", "@org/team" or an address; none for paths without an owner
	Line    int

	parts []string // elements of the pattern, relative to the root; see match
}

// Rules are the rules of a file. They are safe for concurrent use.
type Rules struct {
	list   []Rule
	costly atomic.Bool
}

// Parse returns the rules of a text of at most MaxSize bytes. Like GitHub it skips a line with a pattern that starts
// with "!" or has brackets, or with a word that is no owner. The error is about too many rules.
func Parse(text []byte) (*Rules, error) {
	r := new(Rules)
	line := 0
	for text := range strings.Lines(string(text)) {
		line++
		rule, ok := parseLine(text)
		if !ok {
			continue
		}
		if len(r.list) == maxRules {
			return nil, fmt.Errorf("it has more than %d rules", maxRules)
		}
		rule.Line = line
		r.list = append(r.list, rule)
	}
	return r, nil
}

// Of returns the rule that decides about a path, nil for none. The path is relative to the root of the repository.
// With "/" at the end it is a directory, about whose new files the rule decides; "/" is the root. The error is
// ErrCostly: then each later call returns it, too.
func (r *Rules) Of(path string) (*Rule, error) {
	m := matcher{steps: maxSteps}
	names := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i := len(r.list) - 1; i >= 0 && !r.costly.Load(); i-- {
		matched := m.match(r.list[i].parts, names)
		switch {
		case m.steps < 0:
			r.costly.Store(true)
		case matched:
			return &r.list[i], nil
		}
	}
	if r.costly.Load() {
		return nil, ErrCostly
	}
	return nil, nil
}

// parseLine returns the rule of a line; ok is false if it has none.
func parseLine(line string) (rule Rule, ok bool) {
	pattern, rest := cutPattern(strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")))
	if pattern == "" || strings.ContainsAny(pattern[:1], "#!") || strings.ContainsAny(pattern, "[]\x00") {
		return rule, false
	}
	for _, word := range strings.Fields(rest) {
		if strings.HasPrefix(word, "#") {
			break
		}
		if !strings.Contains(word, "@") {
			return rule, false
		}
		rule.Owners = append(rule.Owners, word)
	}
	rule.Pattern, rule.parts = pattern, partsOf(pattern)
	return rule, rule.parts != nil
}

// cutPattern divides a line at the first space or tab that no backslash quotes.
func cutPattern(line string) (pattern, rest string) {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case ' ', '\t':
			return line[:i], line[i:]
		}
	}
	return line, ""
}

// partsOf returns the elements of a pattern for match, nil for a pattern without any.
func partsOf(pattern string) (parts []string) {
	inner := strings.TrimSuffix(pattern, "/")
	if !strings.Contains(inner, "/") {
		parts = append(parts, "**") // at any depth
	}
	for part := range strings.SplitSeq(inner, "/") {
		if part == "" || part == "**" && len(parts) > 0 && parts[len(parts)-1] == "**" {
			continue
		}
		parts = append(parts, part)
	}
	switch {
	case len(parts) == 0, inner == "":
		return nil
	case strings.HasSuffix(pattern, "/"), parts[len(parts)-1] == "**":
		return append(parts, "*", "**") // what is inside, not the path itself
	case pattern == "*", parts[len(parts)-1] != "*": // "docs/*" leaves out what is deeper
		return append(parts, "**")
	}
	return parts
}
