package main

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A passed package is one line, the output of failed and unfinished tests is printed completely, and
// a line of the go command is printed unchanged.
func TestRead(t *testing.T) {
	in := `go: downloading x
{"Action":"run","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"said by a good one\n"}
{"Action":"pass","Package":"p","Test":"TestGood","Elapsed":0.5}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.600s\n"}
{"Action":"pass","Package":"p","Elapsed":0.6}
{"Action":"run","Package":"q","Test":"TestBad"}
{"Action":"run","Package":"q","Test":"TestBad/one"}
{"Action":"output","Package":"q","Test":"TestBad/one","Output":"    q_test.go:3: got 1, want <2>\n"}
{"Action":"fail","Package":"q","Test":"TestBad/one","Elapsed":1.25}
{"Action":"fail","Package":"q","Test":"TestBad","Elapsed":1.25}
{"Action":"run","Package":"q","Test":"TestHangs"}
{"Action":"output","Package":"q","Test":"TestHangs","Output":"panic: test timed out\n"}
{"Action":"output","Package":"q","Output":"FAIL\tq\t2.000s\n"}
{"Action":"fail","Package":"q","Elapsed":2}
{"Action":"output","Package":"r","Output":"?   \tr\t[no test files]\n"}
{"Action":"skip","Package":"r","Elapsed":0}
{"ImportPath":"s","Action":"build-output","Output":"s.go:1: syntax error\n"}
`
	var out, times strings.Builder
	if err := newReader(&out, &times).read(strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	want := `go: downloading x
ok  	p	0.600s
    q_test.go:3: got 1, want <2>
panic: test timed out
FAIL	q	2.000s
s.go:1: syntax error
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff("0.50\tp\tTestGood\n1.25\tq\tTestBad/one\n", times.String()); d != "" {
		t.Errorf("times, -want +got:\n%s", d)
	}
}

// A test that was skipped for want of a tool is listed with the tool; any other skip is not.
func TestLacks(t *testing.T) {
	in := `{"Action":"output","Package":"p","Test":"TestPage","Output":"=== RUN   TestPage\n"}
{"Action":"output","Package":"p","Test":"TestPage","Output":"    page_test.go:138: chromium is not installed\n"}
{"Action":"skip","Package":"p","Test":"TestPage","Elapsed":0}
{"Action":"output","Package":"p","Test":"TestLong","Output":"    a_test.go:1: it takes minutes\n"}
{"Action":"skip","Package":"p","Test":"TestLong","Elapsed":0}
{"Action":"output","Package":"p","Test":"TestMessage","Output":"    a_test.go:1: c++ is not installed\n"}
{"Action":"pass","Package":"p","Test":"TestMessage","Elapsed":0}
{"Action":"skip","Package":"p","Test":"TestSilent","Elapsed":0}
{"Action":"skip","Package":"q","Elapsed":0}
`
	var lacks strings.Builder
	r := newReader(io.Discard, io.Discard)
	r.lacks = &lacks
	if err := r.read(strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("chromium\tp\tTestPage\n", lacks.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A test that prints without end does not fill the memory.
func TestReadIsBounded(t *testing.T) {
	line := `{"Action":"output","Package":"p","Test":"TestLoud","Output":"` + strings.Repeat("x", 1000) + "\\n\"}\n"
	in := strings.Repeat(line, 3000) + `{"Action":"fail","Package":"p","Elapsed":2}` + "\n"
	var out, times strings.Builder
	if err := newReader(&out, &times).read(strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	if out.Len() > maxOutput+2000 || !strings.HasSuffix(out.String(), "… (cut)\n") {
		t.Errorf("%d bytes that end in %q", out.Len(), out.String()[out.Len()-20:])
	}
}
