package parse

import (
	"strings"
	"testing"

	"github.com/bentobuild/bento/diagnostics"
)

const goVerbose = `=== RUN   TestA
    a_test.go:3: only a log
--- PASS: TestA (0.00s)
=== RUN   TestB
=== RUN   TestB/sub
    a_test.go:9: first
        second
        	Error Trace:	x
=== NAME  TestB
    a_test.go:12: after
--- FAIL: TestB (0.00s)
    --- FAIL: TestB/sub (0.00s)
FAIL
FAIL	example.test/m/pkg	0.009s
ok  	example.test/m	0.1s
?   	example.test/m/cmd	[no test files]
`

func TestGoTest(t *testing.T) {
	want := []string{
		`svc/api/pkg/a_test.go:9: go error [] "TestB/sub: first\nsecond\n\tError Trace:\tx"`,
		`svc/api/pkg/a_test.go:12: go error [] "TestB: after"`,
	}
	check(t, "go-test", lint(goVerbose), want...)
	alone := lint("--- FAIL: TestB (0.00s)\n    a_test.go:12: after\nFAIL\nFAIL\texample.test/m/pkg\t0.009s\nFAIL\n")
	check(t, "go-test", alone, `svc/api/a_test.go:12: go error [] "TestB: after"`) // nothing says where the module ends
	alone.Module = "example.test/m"
	check(t, "go-test", alone, want[1])
}

// TestCgo: the compiler of C names files relative to the package that go compiles with it.
func TestCgo(t *testing.T) {
	for _, sample := range []string{"go-build.cgo", "go-build.cgo-vet", "go-build.cgo-json", "go-test.cgo", "go-test.cgo-json"} {
		parser, _, _ := strings.Cut(sample, ".")
		o := lint(string(read(t, "testdata/"+sample+".txt")))
		o.Module = "example.com/c"
		got := show(run(t, parser, o))
		for _, want := range []string{
			`svc/api/a.go:4:11: go error [] "nosuch.h: No such file or directory"`,
			`svc/api/c/add.c:4:19: go warning [-Wint-conversion]`, `svc/api/c/add.c:5:20: go error [] "‘c’ undeclared`,
			`svc/api/d/d.go:6:42: go error`, `svc/api/e/e.go:4:30: go error`, `svc/api/sub/b.go:8:20: go error`,
			`svc/api/h/in/h.h:1:23: go error`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %s in\n%s", sample, want, got)
			}
		}
	}
}

func TestGoTestPanic(t *testing.T) {
	check(t, "go-test", lint(`--- FAIL: TestP (0.00s)
panic: boom [recovered, repanicked]

goroutine 7 [running]:
testing.tRunner.func1.2({0x1, 0x2})
	/usr/local/go/src/testing/testing.go:1872 +0x190
example.test/m.TestP(0x1)
	/repo/svc/api/p_test.go:6 +0x25
created by testing.(*T).Run in goroutine 1
	/usr/local/go/src/testing/testing.go:1997 +0x4c5
FAIL	example.test/m	0.005s
FAIL
`), `svc/api/p_test.go:6: go error [] "TestP: panic: boom"`)
}

func TestGoTestBuild(t *testing.T) {
	check(t, "go-test", diagnostics.Output{
		Stderr: []byte("# example.test/m [example.test/m.test]\n./a_test.go:5:10: not enough arguments in call to f\n\thave ()\n\twant (int)\n"),
		Stdout: []byte("FAIL\texample.test/m [build failed]\nlog.go:3: said by a program\n"), Dir: "/repo/svc/api", Root: "/repo"},
		`svc/api/a_test.go:5:10: go error [] "not enough arguments in call to f\n\thave ()\n\twant (int)"`)
}

func TestPytestTracebacks(t *testing.T) {
	for style, c := range map[string]struct{ text, want string }{
		"long": {"=== FAILURES ===\n___ T.test_a ___\n\n    def test_a():\n>       f()\n\nt_a.py:9: \n_ _ _ _\n\n    def f():\n>       raise ValueError(1)\nE       ValueError: 1\n\n/usr/lib/python3/x.py:3: ValueError\n=== short test summary info ===\nFAILED t_a.py::T::test_a - ValueError: 1\n",
			`svc/api/t_a.py:9: pytest error [] "T.test_a: ValueError: 1"`},
		"short": {"=== FAILURES ===\n___ test_a ___\nt_a.py:9: in test_a\n    f()\nE   ValueError: 1\n",
			`svc/api/t_a.py:9: pytest error [] "test_a: ValueError: 1"`},
		"line": {"=== FAILURES ===\n/repo/svc/api/t_a.py:9: ValueError: 1\n=== short test summary info ===\n",
			`svc/api/t_a.py:9: pytest error [] "ValueError: 1"`},
		"native": {"=== FAILURES ===\n___ test_a ___\nTraceback (most recent call last):\n  File \"/repo/svc/api/t_a.py\", line 9, in test_a\n    f()\nValueError: 1\n",
			`svc/api/t_a.py:9: pytest error [] "test_a: failed"`},
		"no": {"F\n=== short test summary info ===\nFAILED t_a.py::test_a - ValueError: 1\n1 failed\n",
			`svc/api/t_a.py:1: pytest error [] "test_a: ValueError: 1"`},
		"syntax": {"=== ERRORS ===\n___ ERROR collecting t_a.py ___\nE     File \"/repo/svc/api/t_a.py\", line 9\nE       def\nE   SyntaxError: invalid syntax\n",
			`svc/api/t_a.py:9: pytest error [] "t_a.py: File \"/repo/svc/api/t_a.py\", line 9\n    def\nSyntaxError: invalid syntax"`},
	} {
		t.Run(style, func(t *testing.T) { check(t, "pytest", lint(c.text), c.want) })
	}
}

func TestJUnitPlaces(t *testing.T) {
	for body, want := range map[string]string{
		"E  ValueError\n\ntest_a.py:3: ValueError":                           `svc/api/test_a.py:3: junit error [] "t: m"`,
		"\tat x.OtherTest.f(OtherTest.java:1)\n\tat x.CTest.t(CTest.java:7)": `svc/api/src/test/java/x/CTest.java:7: junit error [] "t: m"`,
		"\tat x.CTest$Inner.t(CTest.kt:7)":                                   `svc/api/src/test/kotlin/x/CTest.kt:7: junit error [] "t: m"`,
	} {
		check(t, "junit", lint(`noise <testsuite><testcase name="t" classname="x.CTest"><failure message="m">`+body+`</failure></testcase>`), want)
	}
	check(t, "junit", lint(`<testsuite><testcase name="t" file="spec/a.rb"><error message="m"/></testcase><testcase name="u"><failure>none</failure></testcase></testsuite>`),
		`svc/api/spec/a.rb:1: junit error [] "t: m"`)
}
