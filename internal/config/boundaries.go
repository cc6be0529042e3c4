package config

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Boundary is a rule of [boundaries]: a dish with the tag may link only to dishes with one of the tags May.
type Boundary struct {
	Tag dish.Text
	May []dish.Text
}

// boundaryTable is the schema of a rule.
type boundaryTable struct {
	May *[]tomlfile.At[string] `toml:"may" doc:"the tags of the dishes that a dish with this tag may link to. Its own tag counts only if the list has it, and an empty list allows no link"`
}

// maxTag bounds the length of a tag in bytes, maxTags the number of tags of a dish, and of those of a rule.
const (
	maxTag  = 100
	maxTags = 100
)

// badTag returns why text cannot be a tag, "" if it can.
func badTag(text string) string {
	odd := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`,"'*?[]{}\`, r) }
	switch {
	case text == "":
		return "it is empty"
	case len(text) > maxTag:
		return "it is longer than 100 bytes"
	case !utf8.ValidString(text) || strings.ContainsFunc(text, odd):
		return "it holds a space, a comma, a quote or a wildcard"
	case text[0] == '-' || text[0] == '#' || text[0] == '!' || strings.Contains(text, "..."):
		return "commands would misread it"
	}
	return ""
}

// tagsOf returns the valid tags of a list, each once. key is the name of the list.
func tagsOf(key string, list []tomlfile.At[string]) (tags []dish.Text, problems []diagnostics.Diagnostic) {
	for i, t := range list {
		switch why := badTag(t.Value); {
		case !t.Given:
		case i >= maxTags:
			return tags, append(problems, t.Pos.Error(diagnostics.RuleInvalid, "%s lists %d tags, expected at most %d", key, len(list), maxTags))
		case why != "":
			problems = append(problems, t.Pos.Error(RuleName, "%q cannot be a tag: %s", t.Value, why))
		case slices.ContainsFunc(tags, func(have dish.Text) bool { return have.Text == t.Value }):
			problems = append(problems, t.Pos.Warning(RuleDuplicate, "%s lists %q twice", key, t.Value))
		default:
			tags = append(tags, textOf(t))
		}
	}
	return tags, problems
}

// fillBoundaries applies [boundaries].
func (w *Workspace) fillBoundaries(rules tomlfile.Map[boundaryTable]) (problems []diagnostics.Diagnostic) {
	for _, r := range rules {
		if why := badTag(r.Name); why != "" {
			problems = append(problems, r.Pos.Error(RuleName, "%q cannot be a tag: %s", r.Name, why))
			continue
		}
		if r.Value.May == nil {
			problems = append(problems, r.Pos.Error(ruleMissing, "boundaries.%s has no may, expected may = [\"TAG\"]", r.Name))
			continue
		}
		may, more := tagsOf("boundaries."+r.Name+".may", *r.Value.May)
		problems = append(problems, more...)
		w.Boundaries = append(w.Boundaries, Boundary{Tag: dish.Text{Text: r.Name, Pos: r.Pos}, May: may})
	}
	return problems
}

// checkVisibility reports globs that are not relative to the root, and empties them.
func checkVisibility(globs []dish.Glob) (problems []diagnostics.Diagnostic) {
	for i, g := range globs {
		if g.Text != "" && !strings.HasPrefix(strings.TrimPrefix(g.Text, "!"), "//") {
			problems = append(problems, g.Pos.Error(RuleGlob, "visibility %q is not relative to the workspace", g.Text).
				WithHint(`start it with "//", as in "//apps/*"`))
			globs[i].Text = ""
		}
	}
	return append(problems, tooMuch(".", globs)...)
}
