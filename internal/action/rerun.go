package action

import (
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/plan"
)

// Again returns t with the command of its hook in place of its own. ok is false if the hook has no
// command or the same one, if the task must not run a second time, or if arguments cannot be added to
// its command.
func Again(t *plan.Task) (again *plan.Task, ok bool) {
	if t.Hook == nil || t.SideEffects || t.Persistent {
		return nil, false
	}
	changed := *t
	switch how := t.Hook.Rerun; {
	case how.Kind == adapters.RerunReplace && how.Command != "":
		changed.Run, changed.Argv, changed.Args, changed.Tool = how.Command, nil, nil, nil
		return &changed, true
	case how.Kind != adapters.RerunAppend || len(how.Args) == 0:
		return nil, false
	case len(t.Argv) > 0:
		changed.Argv = insert(t.Argv, how.Args)
		return &changed, true
	default:
		changed.Run, ok = appendArgs(t.Run, how.Args)
		return &changed, ok
	}
}

// insert puts args in front of a "--", else at the end.
func insert(argv, args []string) []string {
	at := slices.Index(argv, "--")
	if at < 0 {
		at = len(argv)
	}
	return slices.Insert(slices.Clone(argv), at, args...)
}

// appendArgs adds arguments to a shell command: to the first command of its last pipeline, in front
// of a "--" if it has one. It returns false for anything but simple commands joined by operators:
// loops, conditions, subshells, background jobs, here-documents, comments.
func appendArgs(command string, args []string) (string, bool) {
	at, ok := place(command)
	if !ok {
		return "", false
	}
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = quote(arg)
	}
	head, tail := strings.TrimRight(command[:at], " \t"), strings.TrimLeft(command[at:], " \t")
	parts := append([]string{head}, quoted...)
	if tail != "" {
		parts = append(parts, tail)
	}
	return strings.Join(parts, " "), true
}

// quote writes a word for the shell.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=./:,@%+", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
