package adapters

import (
	"path"
	"slices"
	"strings"
)

// Finder describes the programs of a family that look at all members of a workspace, to find the project that they
// work in and the members that it uses. Keys have these by Links and LockDigest, and so what such a program looks at
// of any other member, its manifest among it, is no discovered input. A program that runs code of the project in its
// own process is none.
type Finder struct {
	// Programs are names, or patterns of names, of the executed file, or of the first argument of an interpreter:
	// "npm", "yarn-*.cjs".
	Programs []string
	// Classes are whole arguments of another program that make it one: the main class of a JVM.
	Classes []string
	// Calls are the first arguments with which the program is one: "task". Nil: any.
	Calls []string
	// Looks are names, or patterns of names, of the files and directories of other members that the program looks for and
	// does not read, there or not: "lib.rs". Besides, it reads manifests and lists directories.
	Looks []string
	// Elsewhere are patterns of arguments that lead to another member, which then is no other one: "-w" stands for
	// "-w=x", too.
	Elsewhere []string
}

// Runs reports whether the execution of a file with these words is one of the programs. The first word is the name of the
// program.
func (f *Finder) Runs(file string, words []string) bool {
	rest := words[min(1, len(words)):]
	switch {
	case matches(f.Programs, path.Base(file)):
	case len(rest) > 0 && matches(f.Programs, path.Base(rest[0])):
		rest = rest[1:]
	case !slices.ContainsFunc(rest, func(w string) bool { return slices.Contains(f.Classes, w) }):
		return false
	}
	if f.Calls != nil && (len(rest) == 0 || !slices.Contains(f.Calls, rest[0])) {
		return false
	}
	return !slices.ContainsFunc(rest, func(word string) bool {
		option, _, _ := strings.Cut(word, "=")
		return matches(f.Elsewhere, strings.ReplaceAll(option, "/", "-"))
	})
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}
