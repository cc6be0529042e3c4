package terminal

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSafe(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\r\n":                        "plain\ttext\r\n",
		"\x1b[1;31mred\x1b[0m\n":                 "\x1b[1;31mred\x1b[0m\n\x1b[0m",
		"a\x00b\x07\x08\x7f":                     "ab",
		"\x1b[2J\x1b[10;5Hx\x1b[?25l":            "x",
		"\x1b]0;title\x07x\x1b]8;;u\x1b\\y":      "xy",
		"\x1bPq;payload\x1b\\z\x1bc\x1b(0":       "z0",
		"bad \xff\xfe utf8 \xe6\xa7":             "bad \ufffd\ufffd utf8 \ufffd\ufffd",
		"構築 \u0090c1\u009b31m":                   "構築 c131m",
		"\x1b[31":                                "",
		"\x1b[3\n1m":                             "\n1m",
		"\x1b]" + strings.Repeat("x", maxEscape): "]" + strings.Repeat("x", maxEscape),
	} {
		for _, size := range []int{1, 3, len(in)} {
			var b bytes.Buffer
			s := &Safe{W: &b}
			for rest := in; rest != ""; {
				n := min(size, len(rest))
				s.Write([]byte(rest[:n])) //nolint:errcheck // a buffer
				rest = rest[n:]
			}
			s.Close()
			if got := b.String(); got != want {
				t.Errorf("%q in pieces of %d: %q, want %q", in, size, got, want)
			}
		}
	}
}

// FuzzSafe: for any text in any pieces, the output has no control characters except line ends, tabs and colours.
func FuzzSafe(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\x1b]0;t\x07\x00\xff"), 3)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		if size < 1 || size > 64 {
			return
		}
		var b bytes.Buffer
		s := &Safe{W: &b}
		for rest := in; len(rest) > 0; {
			n := min(size, len(rest))
			s.Write(rest[:n]) //nolint:errcheck // a buffer
			rest = rest[n:]
		}
		s.Close()
		for rest := b.String(); rest != ""; {
			r, n := utf8.DecodeRuneInString(rest)
			if r == '\x1b' {
				end := strings.IndexByte(rest, 'm')
				if end < 0 || strings.Trim(rest[2:end], "0123456789:;<=>? !\"#$%&'()*+,-./") != "" || rest[1] != '[' {
					t.Fatalf("%q gave the sequence %q", in, rest)
				}
				n = end
			} else if r < ' ' && !strings.ContainsRune("\n\r\t", r) || r >= 0x7f && r <= 0x9f || r == utf8.RuneError && n == 1 {
				t.Fatalf("%q gave %q", in, rest)
			}
			rest = rest[n:]
		}
	})
}
