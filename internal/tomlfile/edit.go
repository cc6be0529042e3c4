package tomlfile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Set returns the document with value, a string, bool, int or []string, under key. Comments and
// order stay: it replaces an existing value in place, adds a new one at the end of its table, and a
// new table at the end. f itself does not change.
func (f *File) Set(value any, key ...string) ([]byte, error) {
	text, err := literal(value)
	if err != nil || len(key) == 0 {
		return nil, errors.Join(err, noKey(key))
	}
	if v := f.Lookup(key...); v != nil {
		if v.origin != byValue || v.parent.kind != Table {
			return nil, fmt.Errorf("%q is not the value of a key", v.Path())
		}
		return f.splice(v.start, v.end, text), nil
	}
	table, last := key[:len(key)-1], key[len(key)-1]
	line := Key(last) + " = " + text + "\n"
	parent := f.Lookup(table...)
	switch {
	case parent == nil || parent.origin == byLonger:
		return f.splice(len(f.data), len(f.data), f.newTable(table)+line), nil
	case parent.kind == Table && parent.origin == byHeader:
		if parent.tail > 0 && f.data[parent.tail-1] != '\n' {
			line = "\n" + line
		}
		return f.splice(parent.tail, parent.tail, line), nil
	default:
		return nil, fmt.Errorf("%q is no [table], so no key can be added to it", parent.Path())
	}
}

func noKey(key []string) error {
	if len(key) == 0 {
		return errors.New("no key to set")
	}
	return nil
}

// newTable returns the header of a table that is added at the end.
func (f *File) newTable(key []string) string {
	quoted := make([]string, len(key))
	for i, k := range key {
		quoted[i] = Key(k)
	}
	header := "[" + strings.Join(quoted, ".") + "]\n"
	switch {
	case len(f.data) == 0:
		return header
	case f.data[len(f.data)-1] != '\n':
		return "\n\n" + header
	default:
		return "\n" + header
	}
}

// splice replaces the bytes from start to end. A file with CRLF keeps its line ends.
func (f *File) splice(start, end int, text string) []byte {
	if bytes.Contains(f.data, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	out := slices.Concat(f.data[:start], []byte(text), f.data[end:])
	if f.bom {
		out = append([]byte("\xef\xbb\xbf"), out...)
	}
	return out
}

func literal(value any) (string, error) {
	switch v := value.(type) {
	case string:
		return literalString(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case []string:
		parts := make([]string, len(v))
		for i, s := range v {
			parts[i] = literalString(s)
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	default:
		return "", fmt.Errorf("%T has no TOML form here", value)
	}
}

// Quote returns s as a basic string.
func Quote(s string) string { return literalString(s) }

// literalString returns s as a literal string if possible, else as a basic string.
func literalString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
