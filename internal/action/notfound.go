package action

import (
	"strings"

	"github.com/bentobuild/bento/internal/pattern"
)

// notFound matches the message of a shell about a missing command: "sh: 1: x: not found" and "bash:
// line 1: x: command not found".
var notFound = pattern.New(`(?:^|: )([^:\s]+): (?:command )?not found$`)

// maxLast is the number of bytes at the end of a log that NotFound searches.
const maxLast = 4 << 10

// NotFound returns the last command that a shell did not find, according to the end of the log; "" if
// the log has no such message.
func (l *Log) NotFound() string {
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
