package probe

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
)

func TestTranscriptTellsWholeLinesOfBothStreams(t *testing.T) {
	var got []adapters.Log
	tr := NewTranscript(func(l adapters.Log) { got = append(got, l) })
	fmt.Fprint(tr.Stdout(), "one\ntw")
	fmt.Fprint(tr.Stderr(), "warn\xff\r\n\n 10%\r 20%\r")
	fmt.Fprint(tr.Stdout(), "o\nthree")
	tr.Close()
	want := []adapters.Log{
		{Level: "info", Stream: "stdout", Message: "one"},
		{Level: "info", Stream: "stderr", Message: "warn\uFFFD"},
		{Level: "info", Stream: "stderr", Message: " 10%"},
		{Level: "info", Stream: "stderr", Message: " 20%"},
		{Level: "info", Stream: "stdout", Message: "two"},
		{Level: "info", Stream: "stdout", Message: "three"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestTranscriptIsBounded(t *testing.T) {
	longest := 0
	tr := NewTranscript(func(l adapters.Log) { longest = max(longest, len(l.Message)) })
	fmt.Fprint(tr.Stdout(), strings.Repeat("x", 1<<20))
	for i := range 100 {
		fmt.Fprintf(tr.Stderr(), "line %d\n", i)
	}
	tr.Close()
	if longest > 16<<10 {
		t.Errorf("a line of %d bytes", longest)
	}
	lines := strings.Split(tr.Errors(), "\n")
	if len(lines) > 10 || lines[len(lines)-2] != "line 99" {
		t.Errorf("tail of %d lines ends with %.40q", len(lines), lines[len(lines)-1])
	}
}

// TestTranscriptErrors: of the output of a tool that failed, the lines about the error are kept, and no
// progress.
func TestTranscriptErrors(t *testing.T) {
	for _, c := range []struct{ name, said, want string }{
		{"pip", `Looking in links: /opt/wheels
Obtaining file:///p
  Installing build dependencies: started
  Preparing editable metadata (pyproject.toml): finished with status 'done'
Collecting pytest
  Downloading pytest-9.2.0-py3-none-any.whl (411 kB)
     ━━━━━━━━━━━━━━━━━━━━ 411.8/411.8 kB 11.4 MB/s eta 0:00:00
INFO: pip is looking at multiple versions of p.
ERROR: Could not find a version that satisfies the requirement none==99 (from p)
ERROR: No matching distribution found for none==99
`, "ERROR: Could not find a version that satisfies the requirement none==99 (from p)\nERROR: No matching distribution found for none==99"},
		{"progress after the error", "error: broken\nFetching b\nProgress: resolved 1\n", "error: broken"},
		{"progress with an error", "Downloading x failed\n", "Downloading x failed"},
		{"a long end", "error: stale\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n", "error: stale\n3\n4\n5\n6\n7\n8\n9\n10\n11"},
		{"no word", "a\nb\nc\nd\ne\nf\n", "b\nc\nd\ne\nf"},
	} {
		tr := NewTranscript(nil)
		fmt.Fprint(tr.Stderr(), c.said)
		tr.Close()
		if got := tr.Errors(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
