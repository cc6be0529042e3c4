package main

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/plan"
)

// filter sorts the values of --filter into targets and exclusions. It returns an error that names bento's way for
// a form that only other tools have.
func (sel *selection) filter() error {
	if sel.affected && sel.since != "" {
		return usageError("--affected and --since exclude each other", "--affected compares with the default branch, --since REF with another commit")
	}
	for _, text := range sel.filters {
		if hint := foreignFilter(text); hint != "" {
			return usageError("--filter "+text+" is not a target", hint)
		}
		if rest, not := strings.CutPrefix(text, "!"); not {
			sel.Exclude = append(slices.Clip(sel.Exclude), rest)
		} else {
			sel.Targets = append(slices.Clip(sel.Targets), text)
		}
	}
	sel.filters = nil
	return nil
}

// foreignFilter returns a hint for a filter of turbo or pnpm that bento writes in another way, "" for any other.
func foreignFilter(text string) string {
	center := plan.Center(strings.TrimPrefix(text, "!"))
	switch name := strings.Trim(center, "^"); {
	case name != center:
		return "write --filter " + strings.ReplaceAll(text, "^", "") + " --exclude " + name
	case strings.HasPrefix(center, "[") && strings.HasSuffix(center, "]"):
		return "--since " + strings.Trim(center, "[]") + " selects what changes concern, --affected since the default branch"
	case strings.HasPrefix(center, "{") && strings.HasSuffix(center, "}") && !strings.Contains(center, ","):
		return "write the path without braces: --filter " + strings.Trim(center, "{}")
	case strings.Contains(center, "#"):
		return "a filter selects dishes; name the task, as in bento run " + strings.Replace(center, "#", ":", 1)
	}
	return ""
}
