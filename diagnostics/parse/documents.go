package parse

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
)

// documents yields the JSON objects and arrays at the end of each text, regardless of the text around
// them. A document starts at the start of a line, or with mark. An array may be incomplete, because the
// stream was cut or the tool was killed. Then documents yields its elements that start in one of these
// ways.
func documents(mark string, texts ...[]byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, text := range texts {
			tail, _ := tailOf(text)
			if !eachDocument(tail, mark, yield) {
				return
			}
		}
	}
}

func eachDocument(text []byte, mark string, yield func([]byte) bool) bool {
	budget := 16*len(text) + 1<<20 // of bytes read: hostile text may start many documents and end none
	for at := nextDocument(text, 0, mark); at >= 0 && budget > 0; {
		rest := bytes.NewReader(text[at:])
		var doc json.RawMessage
		err := json.NewDecoder(rest).Decode(&doc)
		budget -= len(text) - at - rest.Len()
		if err == nil && !yield(doc) {
			return false
		}
		at = nextDocument(text, at+max(1, len(doc)), mark)
	}
	return true
}

func nextDocument(text []byte, from int, mark string) int {
	for i := from; i < len(text); i++ {
		if c := text[i]; c != '{' && c != '[' {
			continue
		}
		if (startsLine(text, i) || bytes.HasPrefix(text[i:], []byte(mark))) && opens(text[i:]) {
			return i
		}
	}
	return -1
}

func startsLine(text []byte, i int) bool {
	for i > 0 && (text[i-1] == ' ' || text[i-1] == '\t') {
		i--
	}
	return i == 0 || text[i-1] == '\n' || text[i-1] == '\r'
}

// opens reports whether text can be a document of the tools: "[INFO]" cannot.
func opens(text []byte) bool {
	next := bytes.TrimLeft(text[1:min(len(text), 256)], " \t\r\n")
	if len(next) == 0 {
		return false
	}
	if text[0] == '{' {
		return next[0] == '"' || next[0] == '}'
	}
	return next[0] == '{' || next[0] == ']'
}

// eachOf decodes a document that is a T, or an array of them. It leaves out values of a
// wrong type.
func eachOf[T any](doc []byte) []T {
	if doc[0] == '[' {
		list, _ := decode[[]T](doc)
		return list
	}
	if one, ok := decode[T](doc); ok {
		return []T{one}
	}
	return nil
}

// decode is eachOf for a document that is one T. ok is false if doc is not JSON.
func decode[T any](doc []byte) (value T, ok bool) {
	err := json.Unmarshal(doc, &value)
	var wrong *json.UnmarshalTypeError
	return value, err == nil || errors.As(err, &wrong)
}
