package adapters_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/google/go-cmp/cmp"
)

func TestTranscriptTellsWholeLinesOfBothStreams(t *testing.T) {
	var got []adapters.Log
	tr := adapters.NewTranscript(func(l adapters.Log) { got = append(got, l) })
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
	tr := adapters.NewTranscript(func(l adapters.Log) { longest = max(longest, len(l.Message)) })
	fmt.Fprint(tr.Stdout(), strings.Repeat("x", 1<<20))
	for i := range 100 {
		fmt.Fprintf(tr.Stderr(), "line %d\n", i)
	}
	tr.Close()
	if longest > 16<<10 {
		t.Errorf("a line of %d bytes", longest)
	}
	lines := strings.Split(tr.Tail(), "\n")
	if len(lines) > 20 || lines[len(lines)-2] != "line 99" {
		t.Errorf("tail of %d lines ends with %.40q", len(lines), lines[len(lines)-1])
	}
}
