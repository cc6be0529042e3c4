package parse

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFailures(t *testing.T) {
	at := func(name, message, dir, file string, line int) javaFailure {
		return javaFailure{Name: name, Message: message, Dir: dir, File: file, Line: line}
	}
	for name, c := range map[string]struct {
		text string
		want []javaFailure
	}{
		"surefire 3": {
			"[ERROR] Tests run: 1, Failures: 1 <<< FAILURE! -- in ex.ATest\n" +
				"[ERROR] ex.ATest.f -- Time elapsed: 0.1 s <<< FAILURE!\njava.lang.AssertionError: no\n\tat org.junit.Assert.fail(Assert.java:1)\n\tat app//ex.ATest.f(ATest.java:7)\n\n" +
				"[ERROR] Please refer to /w/lib/target/surefire-reports for the individual test results.\n",
			[]javaFailure{at("f", "java.lang.AssertionError: no", "/w/lib", "src/test/java/ex/ATest.java", 7)},
		},
		"surefire 2": {
			"[ERROR] f(ex.ATest)  Time elapsed: 0.005 s  <<< ERROR!\njava.lang.IllegalStateException\n\tat ex.ATest$Inner.f(ATest.java:9)\n",
			[]javaFailure{at("f", "java.lang.IllegalStateException", "", "src/test/java/ex/ATest.java", 9)},
		},
		"parameters": {
			"[ERROR] ex.KTest.f(int)[2] -- Time elapsed: 0 s <<< FAILURE!\nx: y\n\tat ex.KTest.f(KTest.kt:3)\n",
			[]javaFailure{at("f", "x: y", "", "src/test/kotlin/ex/KTest.kt", 3)},
		},
		"two modules": {
			"[ERROR] a.T.f -- Time elapsed: 0 s <<< FAILURE!\nx\n\tat a.T.f(T.java:1)\n[INFO] \n[ERROR] Please refer to /w/a/target/surefire-reports for\n" +
				"[ERROR] b.T.g -- Time elapsed: 0 s <<< FAILURE!\nx\n\tat b.T.g(T.java:2)\n[ERROR] Please refer to /w/b/target/surefire-reports for\n",
			[]javaFailure{at("f", "x", "/w/a", "src/test/java/a/T.java", 1), at("g", "x", "/w/b", "src/test/java/b/T.java", 2)},
		},
		"gradle": {
			":lib:testWARNING: x\n\nex.ATest > f FAILED\n    org.junit.ComparisonFailure at ATest.java:10\n\n1 test completed, 1 failed\n" +
				"> There were failing tests. See the report at: file:///w/lib/build/reports/tests/test/index.html\n",
			[]javaFailure{at("f", "org.junit.ComparisonFailure", "/w/lib", "src/test/java/ex/ATest.java", 10)},
		},
		"gradle, nested, in full": {
			"ex.ATest > Inner > f() FAILED\n    x.E: no\n        at x.y(Z.java:1)\n        at ex.ATest$Inner.f(ATest.java:4)\n",
			[]javaFailure{at("f()", "x.E: no", "", "src/test/java/ex/ATest.java", 4)},
		},
		// Without the package the source file is unknown.
		"gradle, a simple name": {"ATest > f() FAILED\n    x.E at ATest.java:10\n", nil},
		"elsewhere":             {"[ERROR] ex.ATest.f -- Time elapsed: 0 s <<< ERROR!\nx\n\tat x.B.g(B.java:1)\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, javaFailures(strings.SplitSeq(c.text, "\n"))); d != "" {
				t.Error(d)
			}
		})
	}
}
