package action

import (
	"strings"

	"github.com/bentobuild/bento/internal/pattern"
)

// notFound matches what a shell prints of a command that it does not find: "sh: 1: x: not found"
// and "bash: line 1: x: command not found".
var notFound = pattern.New(`(?:^|: )([^:\s]+): (?:command )?not found$`)

// maxLast bounds the end of a log in which NotFound looks, in bytes.
const maxLast = 4 << 10

// NotFound returns the command that a shell has not found last, by the end of its log; "" when the
// log says nothing about it.
func NotFound(l *Log) string {
	var last []byte
	err := l.Replay(func(_ Stream, p []byte) {
		last = append(last, p...)
		if over := len(last) - maxLast; over > 0 {
			last = append(last[:0], last[over:]...)
		}
	})
	if err != nil {
		return ""
	}
	name := ""
	for line := range strings.Lines(string(last)) {
		if found := notFound.FindStringSubmatch(strings.TrimRight(line, "\r\n")); found != nil {
			name = found[1]
		}
	}
	return name
}
