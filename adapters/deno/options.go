package deno

import (
	"slices"
	"strings"
)

// testCommand returns the command that runs the tests of a package. A member of a workspace
// takes over the options of the root's task "test" that decide whether a test passes, such as
// -A: what the root runs for all members passes for one alone.
func (p *project) testCommand() string {
	const own = "deno test --allow-read"
	if !p.isMember() {
		return own
	}
	for command := range strings.SplitSeq(p.root.Task("test").Value, "&&") {
		words := strings.Fields(command)
		if len(words) < 3 || words[0] != "deno" || words[1] != "test" || strings.ContainsAny(command, "|;<>$`'\"\\(){}[]*?~#") {
			continue
		}
		options, ok := memberOptions(words[2:])
		switch {
		case !ok || len(options) == 0:
		case slices.ContainsFunc(options, isPermission):
			return "deno test " + strings.Join(options, " ")
		default:
			return own + " " + strings.Join(options, " ")
		}
		break
	}
	return own
}

// memberOptions returns the options that mean the same in the directory of a member. There are
// none if one grants access to a path, which is relative to the root.
func memberOptions(words []string) (options []string, ok bool) {
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case isPermission(word) && (strings.Contains(value, "/") || value != "" && namesPaths(name)):
			return nil, false
		case isPermission(word), strings.HasPrefix(word, "--unstable-"),
			slices.Contains([]string{"--doc", "--no-check", "--check", "--trace-leaks", "--no-prompt"}, name):
			options = append(options, word)
		}
	}
	return options, true
}

// isPermission reports whether an option grants or denies access,
// https://docs.deno.com/runtime/fundamentals/security.
func isPermission(word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return strings.HasPrefix(name, "--allow-") || strings.HasPrefix(name, "--deny-") ||
		slices.Contains([]string{"-A", "-R", "-W", "-N", "-E", "-S", "-I"}, name)
}

// namesPaths reports whether the values of a permission are paths.
func namesPaths(name string) bool {
	return name == "-R" || name == "-W" || slices.ContainsFunc([]string{"-read", "-write", "-ffi"}, func(end string) bool {
		return strings.HasSuffix(name, end)
	})
}
