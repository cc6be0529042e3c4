package sandbox

import "fmt"

// Rules confine a program to some files of one directory. It may read and execute everything outside of the directory.
// What files are called, and that they exist, is no secret: Landlock does not control that, and listing is allowed.
type Rules struct {
	Root string // the directory: absolute, without links
	// Read are absolute paths in Root that may be read and executed: a file, or a directory with its content. Missing
	// paths and links are skipped.
	Read []string
	// Full are absolute paths in Root that may be changed too. Missing paths are skipped.
	Full []string
	// Write are absolute paths outside of Root that may be changed. Missing paths are skipped, and so is one that
	// contains Root.
	Write []string
	// Network allows sockets of every family. Without it only local ones can be made: Unix sockets, and those that
	// ask the kernel itself.
	Network bool
}

// RulesCommand is the first argument of a program that must call EnterRules.
const RulesCommand = "__sandbox"

// renames is the first version of Landlock that allows to rename files from one directory to another.
const renames = 2

// LacksRules returns the reason why the kernel cannot enforce Rules, "" if it can.
func (o Offer) LacksRules(network bool) string {
	switch {
	case o.Landlock == 0:
		return "the kernel cannot keep a program from reading files (no Landlock, required Linux 5.19 or newer)"
	case o.Landlock < renames:
		return fmt.Sprintf("the kernel would keep a program from renaming files (Landlock %d, required %d, of Linux 5.19 or newer)", o.Landlock, renames)
	case !network && !o.Seccomp:
		return "the kernel cannot keep a program from the network (no seccomp filters)"
	}
	return ""
}
