package adapters

import "strings"

// ScriptAliases returns the names under which projects keep the script of a lifecycle task in
// package.json, in the order in which they count. A script of the task's own name comes before
// them.
func ScriptAliases(lifecycle string) []string {
	switch lifecycle {
	case "check":
		return []string{"typecheck", "type-check", "types:check", "check:types", "check-types", "types", "tsc"}
	case "lint":
		return []string{"lint:check", "eslint"}
	case "test":
		return []string{"test:unit", "unit", "vitest", "jest"}
	}
	return nil
}

// IsServer reports whether scripts of that name run until their user ends them.
func IsServer(name string) bool { return name == "dev" || name == "start" || name == "serve" }

// IsStubTest reports whether a script of package.json is the test that "npm init" writes: it only
// prints that there are no tests, and fails.
func IsStubTest(name, script string) bool {
	return name == "test" && strings.Contains(script, "no test specified") && strings.Contains(script, "exit 1")
}

// Quote returns word quoted for the shell.
func Quote(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-.:/@+,=%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// IsTaskName reports whether a project's name of a script can be the name of a task.
func IsTaskName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r < ' ' || r == 0x7f || r == '\uFFFD'
	}) < 0
}
