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
	l := &Lines{Max: 8, To: func(line []byte) { got = append(got, string(line)) }}
	for _, text := range []string{"one\ntw", "o\n", "\n", "12345678\n", strings.Repeat("x", 20) + "\nhalf", " a"} {
		_, _ = io.WriteString(l, text)
	}
	l.Flush()
	l.Flush()
	if want := []string{"one", "two", "", "12345678", "xxxxxxxx", "xxxxxxxx", "xxxx", "half a"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
