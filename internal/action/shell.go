package action

import (
	"errors"
	"strings"
)

// errComment is the error of a command that ends in a comment: arguments after it would be ignored
// silently.
var errComment = errors.New(`its command ends in a comment, behind which the arguments after "--" would be lost: put the comment on a line of its own above`)

// withArguments returns a command for the shell that ends in the arguments of the
// shell.
func withArguments(run string) (string, error) {
	run = strings.TrimRight(run, " \t\r\n")
	if endsInComment(run) {
		return "", errComment
	}
	return run + ` "$@"`, nil
}

// endsInComment reports whether the end of a command is a comment.
func endsInComment(run string) bool {
	var quote rune // of the word around, 0 for none
	word, comment, escaped := false, false, false
	for _, r := range run {
		switch {
		case comment:
			comment = r != '\n'
			word = false
		case escaped:
			escaped, word = false, true
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote, word = r, true
		case r == '#' && !word:
			comment = true
		default:
			word = !strings.ContainsRune(" \t\n;&|()", r)
		}
	}
	return comment
}
