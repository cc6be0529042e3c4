package action

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/plan"
)

// shellWords are the reserved words and the built-ins of sh by POSIX.1-2024: 2.4 Reserved
// Words, 2.15 Special Built-In Utilities, and the intrinsic utilities of 1.7.
var shellWords = strings.Fields(`
	case do done elif else esac fi for if in then until while
	. : break continue eval exec exit export readonly return set shift times trap unset
	alias bg cd command fc fg getopts hash jobs kill read type ulimit umask unalias wait`)

// builtins are commands that common shells run themselves, so that PATH may lack them.
var builtins = strings.Fields(`
	[ builtin compgen complete declare dirs disown echo enable false hash help history let local logout
	mapfile popd printf print pushd pwd readarray shopt source suspend test true typeset whence`)

// Lacks returns the program that t starts by name and that PATH lacks, "" for none. It returns "" for
// a line that needs a shell, and for a task that changes PATH.
func (c *Commands) Lacks(t *plan.Task) string {
	_, setsPath := t.SetEnv["PATH"]
	if t.Tool != nil || t.Container != nil || setsPath || len(t.Path) > 0 || len(t.EnvFiles) > 0 || c.Inherit || runtime.GOOS == "windows" {
		return ""
	}
	words := t.Argv
	if len(words) == 0 {
		plain, ok := plainWords(t.Run)
		if !ok || slices.Contains(builtins, plain[0]) {
			return ""
		}
		words = plain
	}
	program := words[0]
	if strings.ContainsRune(program, filepath.Separator) || !c.absent(program) {
		return ""
	}
	return program
}

// absent reports whether no directory of PATH has a program. It returns false if PATH has a relative
// directory, which may have it.
func (c *Commands) absent(program string) bool {
	if _, known := c.found.Load(program); known {
		return false
	}
	env := c.base(nil)
	relative := func(entry string) bool { return !filepath.IsAbs(entry) }
	if _, err := env.LookPath(program); err != nil {
		return !slices.ContainsFunc(filepath.SplitList(env.Get("PATH")), relative)
	}
	c.found.Store(program, true)
	return false
}

// direct returns the program and the words of a command that needs no shell; a shell takes a millisecond to start.
// Such a command has only plain words, and the first is a file on PATH and no word of the shell. ok is false for all
// others.
func (c *Commands) direct(env adapters.Environ, run string) (program string, words []string, ok bool) {
	words, ok = plainWords(run)
	if !ok || c.Inherit || runtime.GOOS == "windows" { // the inherited environment may define functions
		return "", nil, false
	}
	for _, entry := range filepath.SplitList(env.Get("PATH")) {
		if !filepath.IsAbs(entry) {
			return "", nil, false // a shell looks in the task's directory
		}
	}
	var err error
	if words[0] == "sh" {
		program, err = c.shell(env)
	} else {
		program, err = env.LookPath(words[0])
	}
	return program, words, err == nil
}

// plainWords splits one line of words that a shell would not change. It ignores blanks and ends of
// lines around the line.
func plainWords(run string) (words []string, ok bool) {
	run = strings.Trim(run, " \t\n")
	for _, r := range run {
		plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(" \t-_./,:@%+=", r)
		if !plain {
			return nil, false
		}
	}
	words = strings.Fields(run)
	if len(words) == 0 || strings.ContainsAny(words[0], "=/") || slices.Contains(shellWords, words[0]) {
		return nil, false
	}
	return words, true
}
