package packagejson

import (
	"bytes"
	"slices"
)

// strict blanks comments and commas before a closing bracket, so that what is
// left is plain JSON whose offsets are those of data.
func strict(data []byte) []byte {
	out := slices.Clone(data)
	comma := -1 // offset of a comma that nothing but space has followed
	for i := 0; i < len(out); {
		switch c := out[i]; {
		case c == '"':
			comma = -1
			i = stringEnd(out, i)
		case c == '/' && commentEnd(out, i) > i:
			end := commentEnd(out, i)
			blank(out[i:end])
			i = end
		default:
			comma = lastComma(out, i, comma)
			i++
		}
	}
	return out
}

// lastComma blanks a comma that a closing bracket at i follows, and gives the
// offset of the one that may be next.
func lastComma(out []byte, i, comma int) int {
	switch out[i] {
	case ' ', '\t', '\r', '\n':
		return comma
	case ',':
		return i
	case ']', '}':
		if comma >= 0 {
			out[comma] = ' '
		}
	}
	return -1
}

// stringEnd gives the offset behind the string that begins at i.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"', '\n':
			return i + 1
		}
	}
	return len(data)
}

// commentEnd gives the offset behind the comment that begins at i, i when none
// does. A comment without an end reaches to the end of the file.
func commentEnd(data []byte, i int) int {
	switch {
	case bytes.HasPrefix(data[i:], []byte("//")):
		if n := bytes.IndexByte(data[i:], '\n'); n >= 0 {
			return i + n
		}
		return len(data)
	case bytes.HasPrefix(data[i:], []byte("/*")):
		if n := bytes.Index(data[i+2:], []byte("*/")); n >= 0 {
			return i + 2 + n + 2
		}
		return len(data)
	}
	return i
}

// blank leaves line ends alone, for the sake of line numbers.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}
