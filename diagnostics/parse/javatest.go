package parse

import (
	"iter"
	"path"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/internal/pattern"
)

// javaFailure is a test that failed.
type javaFailure struct {
	Name, Message string
	// Dir is the project of the test, absolute, "" when it is unknown.
	Dir string
	// File is its source, relative to the project; Line is where it failed.
	File string
	Line int
}

var (
	surefire    = pattern.New(`^\[ERROR\] ([\w.$]+)\.([\w$]+)(?:\(.*?\))?(?:\[.*\])?(?: --)?\s+Time elapsed: .*<<< (?:FAILURE|ERROR)!`)
	surefireOld = pattern.New(`^\[ERROR\] ([\w$]+)(?:\[.*\])?\(([\w.$]+)\)\s+Time elapsed: .*<<< (?:FAILURE|ERROR)!`)
	gradle      = pattern.New(`^([\w.$]+) > (?:.+ > )?(.+?) FAILED$`)
	gradleAt    = pattern.New(`^\s+([\w.$]+) at ([\w$]+\.(?:java|kt|groovy|scala)):(\d+)$`)
	reports     = pattern.New(`(?:refer to |See the report at: file://)(/.*?)/(?:target/surefire-reports|build/reports/tests)\b`)
	frame       = pattern.New(`\bat (?:[\w.@-]*/)*((?:[\w$]+\.)+)[\w$<>]+\(([\w$]+\.(?:java|kt|groovy|scala)):(\d+)\)`)
)

// javaFailures returns the failed tests in the lines of an output, without those whose
// source is unknown.
func javaFailures(lines iter.Seq[string]) []javaFailure {
	var list []javaFailure
	var open *test
	closed := 0 // failures that have their directory
	for line := range lines {
		if t := begin(line); t != nil {
			list = open.end(list)
			open = t
			continue
		}
		if m := reports.FindStringSubmatch(line); m != nil {
			list = open.end(list)
			open = nil
			for ; closed < len(list); closed++ {
				list[closed].Dir = m[1]
			}
		}
		if open != nil && !open.take(line) {
			list = open.end(list)
			open = nil
		}
	}
	return open.end(list)
}

// test is a failure that is being read.
type test struct {
	class, name, message string
	file                 string
	line                 int
}

func begin(line string) *test {
	if m := surefire.FindStringSubmatch(line); m != nil {
		return &test{class: m[1], name: m[2]}
	}
	if m := surefireOld.FindStringSubmatch(line); m != nil {
		return &test{class: m[2], name: m[1]}
	}
	if m := gradle.FindStringSubmatch(line); m != nil {
		return &test{class: m[1], name: m[2]}
	}
	return nil
}

// take reads a line of the test's stack, and returns false at its end.
func (t *test) take(line string) bool {
	if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "[") {
		return false
	}
	if m := gradleAt.FindStringSubmatch(line); m != nil && t.message == "" {
		t.message = m[1]
		if outer, _, _ := strings.Cut(t.class, "$"); strings.Contains(outer, ".") {
			t.file, t.line = source(outer, m[2]), lineNumber(m[3])
		}
		return true
	}
	if t.message == "" {
		t.message = strings.TrimSpace(line)
	}
	if t.file == "" {
		t.file, t.line = sourceOfStack(t.class, line)
	}
	return true
}

func (t *test) end(list []javaFailure) []javaFailure {
	if t == nil || t.file == "" {
		return list
	}
	return append(list, javaFailure{Name: t.name, Message: t.message, File: t.file, Line: t.line})
}

// sourceOfStack returns the line of a test's class in a stack, and its source where Maven
// and Gradle have it; file is "" when the class is not in the stack.
func sourceOfStack(class, stack string) (file string, line int) {
	outer, _, _ := strings.Cut(class, "$")
	for _, m := range frame.FindAllStringSubmatch(stack, 100) {
		if at, _, _ := strings.Cut(strings.TrimSuffix(m[1], "."), "$"); at == outer {
			return source(outer, m[2]), lineNumber(m[3])
		}
	}
	return "", 0
}

// source returns the usual path of the file of a test.
func source(class, file string) string {
	language := strings.TrimPrefix(path.Ext(file), ".")
	if language == "kt" {
		language = "kotlin"
	}
	return path.Join("src/test", language, path.Dir(strings.ReplaceAll(class, ".", "/")), file)
}

func lineNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1
	}
	return n
}
