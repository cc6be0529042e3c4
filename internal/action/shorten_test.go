package action

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/state"
)

// TestLogShortened: a log with a limit keeps whole lines of its end, each in its stream, and the
// right number of missing bytes, even if it was shortened several times.
func TestLogShortened(t *testing.T) {
	for _, width := range []int{1, 7, 100, 900} {
		l := CreateLog(state.Open(t.TempDir()), "a.log", LogOptions{Most: 1000})
		var printed bytes.Buffer
		for i := range 500 {
			s, line := Stdout, fmt.Sprintf("out %d %s\n", i, strings.Repeat("x", width))
			if i%3 == 0 {
				s, line = Stderr, fmt.Sprintf("err %d %s\n", i, strings.Repeat("x", width))
			}
			printed.WriteString(line)
			if _, err := l.Writer(s).Write([]byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		l.Close()
		var got bytes.Buffer
		if err := l.Replay(func(s Stream, p []byte) {
			for line := range bytes.Lines(p) {
				if want := Stream(Stdout); bytes.HasPrefix(line, []byte("err")) {
					if want = Stderr; s != want {
						t.Errorf("%q is of stream %d", line, s)
					}
				} else if s != want {
					t.Errorf("%q is of stream %d", line, s)
				}
			}
			got.Write(p)
		}); err != nil {
			t.Fatal(err)
		}
		head, rest, _ := strings.Cut(got.String(), "\n")
		if want := fmt.Sprintf("[bento left out %d bytes before this line]", printed.Len()-len(rest)); head != want || !strings.HasSuffix(printed.String(), rest) || got.Len() > 1000+len(head) {
			t.Errorf("lines of %d bytes: %d bytes are left behind %q, want %q", width, len(rest), head, want)
		}
		if !strings.HasPrefix(rest, "out ") && !strings.HasPrefix(rest, "err ") {
			t.Errorf("the rest begins within a line: %.20q", rest)
		}
	}
}
