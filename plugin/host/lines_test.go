package host

import (
	"io"
	"slices"
	"strings"
	"testing"
)

// TestLines: a line arrives in pieces, a long one is cut, and the last one may have no end.
func TestLines(t *testing.T) {
	var got []string
	l := &Lines{Max: 8, To: func(line string) { got = append(got, line) }}
	for _, text := range []string{"one\ntw", "o\n", "\r\n", "12345678\n", "\xff\n", strings.Repeat("x", 20) + "\nhalf", " a"} {
		_, _ = io.WriteString(l, text)
	}
	l.Flush()
	l.Close()
	_, _ = io.WriteString(l, "late\n")
	if want := []string{"one", "two", "", "12345678", "\uFFFD", "xxxxxxxx", "xxxxxxxx", "xxxx", "half a"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
