package jvm

import (
	"bytes"
	"strings"
)

// Property is one entry of a properties file.
type Property struct {
	Value string
	Line  int
}

// ParseProperties reads a properties file of Java: comments, continued lines and the escapes that names and paths
// need (https://docs.oracle.com/javase/8/docs/api/java/util/Properties.html#load-java.io.Reader-). Of a name
// that occurs twice, the last wins.
func ParseProperties(data []byte) map[string]Property {
	data, _ = bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	m := make(map[string]Property)
	var before []string // of a continued line
	begun := 0
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimLeft(strings.TrimSuffix(line, "\r"), " \t\f")
		if begun == 0 {
			if line == "" || line[0] == '#' || line[0] == '!' {
				continue
			}
			begun = i + 1
		}
		if rest, more := strings.CutSuffix(line, `\`); more && !strings.HasSuffix(rest, `\`) {
			before = append(before, rest)
			continue
		}
		name, value := splitProperty(strings.Join(append(before, line), ""))
		m[name] = Property{value, begun}
		before, begun = nil, 0
	}
	return m
}

// splitProperty cuts a line at the first "=", ":" or blank that is not escaped.
func splitProperty(line string) (name, value string) {
	end := len(line)
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
			continue
		}
		if strings.IndexByte("=: \t", line[i]) >= 0 {
			end = i
			break
		}
	}
	rest := strings.TrimLeft(line[end:], " \t")
	if rest != "" && (rest[0] == '=' || rest[0] == ':') {
		rest = rest[1:]
	}
	return unescape(line[:end]), unescape(strings.TrimSpace(rest))
}

func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
