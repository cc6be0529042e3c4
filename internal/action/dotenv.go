package action

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// badLine is the error of a line of a .env file. It quotes nothing of the file, whose values are secrets.
type badLine struct {
	line int // from 1
	want string
}

func (e *badLine) Error() string { return fmt.Sprintf("required %s in line %d", e.want, e.line) }

// parseDotenv reads the lines NAME=value of a .env file. "export" may stand before a name, and ":" in
// place of "=". A value may be in quotes and then has several lines; single quotes take it as it is,
// else $NAME and ${NAME} stand for variables of earlier lines. " #" begins a comment. The error is a
// *badLine.
func parseDotenv(data []byte) (map[string]string, error) {
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return nil, &badLine{1 + bytes.Count(data[:at], []byte("\n")), "text without NUL bytes"}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // which editors on Windows write
	rest := strings.ReplaceAll(strings.ReplaceAll(string(data), "\r\n", "\n"), "\r", "\n")
	set := make(map[string]string)
	for line := 1; rest != ""; {
		statement, after, _ := strings.Cut(rest, "\n")
		if text := strings.TrimSpace(statement); text == "" || text[0] == '#' { // also behind a value
			line, rest = line+1, after
			continue
		}
		name, at := dotenvName(statement)
		if at < 0 {
			return nil, &badLine{line, "NAME=value"}
		}
		value, size, closed := dotenvValue(rest[at:], set)
		if !closed {
			return nil, &badLine{line, "a closing quote"}
		}
		set[name] = value
		line += strings.Count(rest[:at+size], "\n")
		rest = rest[at+size:]
	}
	return set, nil
}

// dotenvName returns the name that a line sets, and where its value begins, -1 for a line without one.
func dotenvName(line string) (name string, value int) {
	end := strings.IndexAny(line, "=:")
	if end < 0 {
		return "", -1
	}
	name = strings.TrimSpace(line[:end])
	if rest, ok := strings.CutPrefix(name, "export"); ok && strings.TrimLeftFunc(rest, unicode.IsSpace) != rest {
		name = strings.TrimSpace(rest)
	}
	odd := func(r rune) bool {
		return r != '_' && r != '.' && r != '-' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}
	if name == "" || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return "", -1
	}
	value = end + 1
	return name, value + len(line[value:]) - len(strings.TrimLeftFunc(line[value:], unicode.IsSpace))
}

// dotenvValue returns the value at the start of text and the length of its source. closed is false if
// its quote does not end.
func dotenvValue(text string, set map[string]string) (value string, size int, closed bool) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		value, _, _ = strings.Cut(text, "\n")
		size = len(value)
		for i := len(value) - 1; i > 0; i-- {
			if value[i] == '#' && (value[i-1] == ' ' || value[i-1] == '\t') {
				value = value[:i]
			}
		}
		return expandDotenv(strings.TrimSpace(value), set), size, true
	}
	for i := 1; i < len(text); i++ {
		if text[i] == '\\' {
			i++ // the escaped character ends nothing
			continue
		} else if text[i] != text[0] {
			continue
		}
		if value = text[1:i]; text[0] == '"' {
			value = expandDotenv(unescapeDotenv(value), set)
		}
		return value, i + 1, true
	}
	return "", 0, false
}

// unescapeDotenv replaces the escapes of a value in double quotes. \$ stays, for expandDotenv.
func unescapeDotenv(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || s[i+1] == '$' {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

var dotenvVariable = regexp.MustCompile(`(\\)?(\$)(\()?\{?([A-Z0-9_]+)?\}?`)

// expandDotenv replaces $NAME and ${NAME} by values of set; \$ and $( are text.
func expandDotenv(value string, set map[string]string) string {
	if !strings.Contains(value, "$") {
		return value
	}
	return dotenvVariable.ReplaceAllStringFunc(value, func(s string) string {
		found := dotenvVariable.FindStringSubmatch(s)
		switch {
		case found[1] == `\` || found[2] == "(":
			return found[0][1:]
		case found[4] != "":
			return set[found[4]]
		}
		return s
	})
}
