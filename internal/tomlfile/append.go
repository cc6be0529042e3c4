package tomlfile

import (
	"bytes"
	"fmt"
	"slices"
)

// Append returns the document with a string appended to the array under key, and creates a missing array. It keeps
// comments, order, and the form of an array with one element per line. f itself does not change.
func (f *File) Append(text string, key ...string) ([]byte, error) {
	v := f.Lookup(key...)
	if v == nil {
		return f.Set([]string{text}, key...)
	}
	if v.kind != Array || v.origin != byValue {
		return nil, fmt.Errorf("%q is %s, expected an array", v.Path(), v.kind)
	}
	if len(v.list) == 0 {
		return f.splice(v.start+1, v.start+1, literalString(text)), nil
	}
	last := v.list[len(v.list)-1]
	end, comma, multiline := f.afterElement(last.end)
	switch {
	case !multiline && comma:
		return f.splice(end, end, " "+literalString(text)+","), nil
	case !multiline:
		return f.splice(last.end, last.end, ", "+literalString(text)), nil
	}
	out := f.splice(end, end, "\n"+f.indent(last.start)+literalString(text)+",")
	if !comma {
		// Text between the element and the end of its line stays there.
		out = slices.Insert(out, len(f.splice(last.end, len(f.data), "")), ',')
	}
	return out, nil
}

// afterElement returns the offset for a further element after the one that ends at offset. It reports whether there
// is a comma, and whether the line ends there.
func (f *File) afterElement(offset int) (at int, comma, multiline bool) {
	at = offset
	if next := f.skipBlank(offset, true); f.data[next] == ',' {
		at, comma = next+1, true
	}
	end := f.skipBlank(at, false)
	if f.data[end] != '\n' {
		return at, comma, false
	}
	if f.data[end-1] == '\r' {
		end--
	}
	return end, comma, true
}

// skipBlank returns the offset after blanks and comments, and after line ends if lines is set.
// Inside an array, at least one byte always follows.
func (f *File) skipBlank(offset int, lines bool) int {
	for ; offset < len(f.data)-1; offset++ {
		switch c := f.data[offset]; {
		case c == '#':
			if end := bytes.IndexByte(f.data[offset:], '\n'); end > 0 {
				offset += end - 1
			}
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' && lines:
		default:
			return offset
		}
	}
	return offset
}

// indent returns the blanks at the start of the line of offset.
func (f *File) indent(offset int) string {
	start := bytes.LastIndexByte(f.data[:offset], '\n') + 1
	end := start
	for end < len(f.data) && (f.data[end] == ' ' || f.data[end] == '\t') {
		end++
	}
	if start == 0 || bytes.IndexByte(f.data[start:offset], '[') >= 0 {
		return "    " // the element is on the line of the key
	}
	return string(f.data[start:end])
}
