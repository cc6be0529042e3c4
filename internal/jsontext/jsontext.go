// Package jsontext finds the scalars of JSON text (strings, numbers, true, false and null) and
// checks their grammar.
package jsontext

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
)

// Scalar returns the offset after the scalar that begins at a byte of text. If text breaks the
// grammar, it returns that offset and, in want, the token that the grammar requires there; otherwise
// want is "".
func Scalar(text []byte, at int) (end int, want string) {
	if at >= len(text) {
		return at, "a value"
	}
	switch c := text[at]; {
	case c == '"':
		return quoted(text, at)
	case c == '-' || '0' <= c && c <= '9':
		return number(text, at)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(text[at:], []byte(word)) {
			return at + len(word), ""
		}
	}
	return at, "a value"
}

// Unquote returns the text of a quoted string that Scalar has accepted. The result may share memory
// with it. It replaces invalid UTF-8 only in a string with an escape.
func Unquote(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return nil // impossible: it is valid
	}
	return []byte(text)
}

func quoted(text []byte, at int) (end int, want string) {
	for at++; ; at++ {
		at += plain(text[at:])
		if at >= len(text) {
			return at, `'"'`
		}
		switch c := text[at]; {
		case c == '"':
			return at + 1, ""
		case c == '\\':
			if at, want = escape(text, at+1); want != "" {
				return at, want
			}
		case c < ' ':
			return at, "an escape for a control character"
		}
	}
}

// plain returns the number of bytes of a string that are certainly plain. It checks eight at a time.
func plain(text []byte) (n int) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; len(text)-n >= 8; n += 8 {
		x := binary.LittleEndian.Uint64(text[n:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		// The top bit of a byte is set where it is below ' ', '"' or '\\', and maybe above
		// such a byte; the caller then checks each byte.
		if ((x-ones*' ')&^x|(quote-ones)&^quote|(slash-ones)&^slash)&tops != 0 {
			return n
		}
	}
	return n
}

// escape returns the offset of the last byte of an escape; at is the offset after its backslash.
func escape(text []byte, at int) (last int, want string) {
	if at >= len(text) || strings.IndexByte(`"\/bfnrtu`, text[at]) < 0 {
		return at, "an escape"
	}
	if text[at] != 'u' {
		return at, ""
	}
	for range 4 {
		if at++; at >= len(text) || strings.IndexByte("0123456789abcdefABCDEF", text[at]) < 0 {
			return at, "four hexadecimal digits"
		}
	}
	return at, ""
}

func number(text []byte, at int) (end int, want string) {
	skip := func(set string) bool {
		if at < len(text) && strings.IndexByte(set, text[at]) >= 0 {
			at++
			return true
		}
		return false
	}
	digits := func() bool {
		start := at
		for at < len(text) && '0' <= text[at] && text[at] <= '9' {
			at++
		}
		return at > start
	}
	skip("-")
	ok := skip("0") || digits()
	if ok && skip(".") {
		ok = digits()
	}
	if ok && skip("eE") {
		skip("+-")
		ok = digits()
	}
	if !ok {
		return at, "a digit"
	}
	return at, ""
}
