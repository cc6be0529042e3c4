package snapshot

import (
	"path"
	"slices"
	"strings"
)

// Scripts are names of scripts by lifecycle task, as the workspace declares them.
type Scripts map[string][]string

// Aliases returns the names under which projects keep the script of a lifecycle task, in the order in which
// they count. A script of the task's own name comes before them.
func (s Scripts) Aliases(lifecycle string) []string {
	return slices.Concat(s[lifecycle], usualAliases(lifecycle))
}

// usualAliases returns the names that count in every package.json.
func usualAliases(lifecycle string) []string {
	switch lifecycle {
	case "check":
		return []string{
			"typecheck", "type-check", "types:check", "type:check", "check:types", "check-types", "check:type", "check:ts", "types", "tsc",
		}
	case "lint":
		return []string{"lint:check", "eslint"}
	case "test":
		return []string{"test:unit", "test-unit", "unit", "test:ci", "vitest", "jest"}
	}
	return nil
}

// Stands reports whether a script of another name can be a lifecycle task. One that a workspace names is; a
// check or lint of a usual name that rewrites sources is not.
func (s Scripts) Stands(lifecycle, name, body string) bool {
	return slices.Contains(s[lifecycle], name) || lifecycle != "check" && lifecycle != "lint" || !rewrites(body)
}

// rewrites reports whether a command has a tool correct what it finds.
func rewrites(body string) bool {
	words := strings.Fields(body)
	for i, word := range words {
		words[i] = path.Base(word) // vendor/bin/pint
	}
	has := func(word string) bool { return slices.Contains(words, word) }
	return has("--fix") || has("--write") || has("--apply") || has("phpcbf") ||
		has("php-cs-fixer") && has("fix") && !has("--dry-run") || has("pint") && !has("--test") || has("rector") && !has("--dry-run")
}

// IsServer reports whether scripts of that name run until their user ends them.
func IsServer(name string) bool { return name == "dev" || name == "start" || name == "serve" }

// IsStubTest reports whether a script of package.json is the test that "npm init" writes: it only
// prints that there are no tests, and fails.
func IsStubTest(name, script string) bool {
	return name == "test" && strings.Contains(script, "no test specified") && strings.Contains(script, "exit 1")
}
