package adapters

import (
	"slices"
	"strings"
)

// Lifecycle returns the names of the four lifecycle tasks in the order in which they run in a dish.
func Lifecycle() []string { return []string{"build", "check", "lint", "test"} }

// IsLifecycle reports whether name is that of a lifecycle task.
func IsLifecycle(name string) bool { return slices.Contains(Lifecycle(), name) }

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
