package host

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	kept := NewTail(16, nil)
	for i := range 1000 {
		fmt.Fprintf(kept, "line %d\n", i)
	}
	if got := kept.String(); got != "line 999\n" {
		t.Errorf("got %q", got)
	}
	if n := len(kept.kept); n > 2*16+1 {
		t.Errorf("holds %d bytes of a long log", n)
	}
	kept.Reset()
	kept.Write(bytes.Repeat([]byte("\xff"), 100))
	if got := kept.String(); len(got) > 3*16 || strings.Trim(got, "\uFFFD") != "" {
		t.Errorf("got %q", got)
	}
}

// The kept text does not depend on how the bytes were split: it is the last bytes, without the rest of a
// cut line.
func TestTailOfPieces(t *testing.T) {
	const size = 20
	var all strings.Builder
	for i := range 30 {
		fmt.Fprintf(&all, "l%d%s\n", i, strings.Repeat("x", i%7))
	}
	text := all.String()
	for piece := 1; piece <= 3*size; piece++ {
		kept := NewTail(size, nil)
		for from := 0; from < len(text); from += piece {
			end := min(from+piece, len(text))
			fmt.Fprint(kept, text[from:end])
			want := text[max(0, end-size):end]
			if _, rest, ok := strings.Cut(want, "\n"); ok && end > size {
				want = rest
			}
			if got := kept.String(); got != want {
				t.Fatalf("pieces of %d, after %d bytes: got %q, want %q", piece, end, got, want)
			}
		}
	}
}
