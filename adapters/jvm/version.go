// Package jvm has what the adapters of Maven and Gradle share: the installed versions of Java, the one that the
// tools of a directory start and the one that a project requires, wrappers, properties files, and the files of
// a new project.
package jvm

import (
	"strconv"
	"strings"

	"github.com/bentobuild/bento/internal/pattern"
)

// Version is the version of a tool as numbers: 17.0.15 is {17, 0, 15}, and so is
// 1.8.0_402 {8, 0, 402}.
type Version []int

var number = pattern.New(`\d+`)

// ParseVersion returns the first version in a text: "17", "17.0.9+9", "1.8.0_402",
// "temurin-17.0.9+9", "21.0.1-tem", "openjdk64-17.0.2". For a text without numbers it
// returns the zero Version.
func ParseVersion(text string) Version {
	var v Version
	text = withoutName(text)
	for i, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '.' || r == '_' }) {
		digits := number.FindString(part)
		n, err := strconv.Atoi(digits)
		if err != nil || !strings.HasPrefix(part, digits) || i > 5 {
			break
		}
		v = append(v, n)
		if len(part) > len(digits) {
			break // "9+9", "15-ea", "1-tem"
		}
	}
	if len(v) > 1 && v[0] == 1 { // 8 was called 1.8
		v = v[1:]
	}
	return v
}

// withoutName drops the name of a distribution in front of a version.
func withoutName(text string) string {
	text = strings.TrimSpace(text)
	parts := strings.Split(text, "-")
	for i, part := range parts {
		if part != "" && part[0] >= '0' && part[0] <= '9' {
			return strings.Join(parts[i:], "-")
		}
	}
	return text
}

// Major returns the feature release, 0 for the zero Version.
func (v Version) Major() int {
	if len(v) == 0 {
		return 0
	}
	return v[0]
}

// Compare returns -1, 0 or 1. A missing number is 0.
func (v Version) Compare(w Version) int {
	for i := range max(len(v), len(w)) {
		switch a, b := v.part(i), w.part(i); {
		case a < b:
			return -1
		case a > b:
			return 1
		}
	}
	return 0
}

func (v Version) part(i int) int {
	if i < len(v) {
		return v[i]
	}
	return 0
}

// startsWith reports whether w is a prefix of v, or v an update of the release that w
// names.
func (v Version) startsWith(w Version) bool {
	if len(w) == 0 || len(v) < len(w) && v.Compare(w) != 0 {
		return false
	}
	for i := range w {
		if v.part(i) != w[i] {
			return false
		}
	}
	return true
}

// Satisfies reports whether v is a version that a project requires: "17" and "17.0.9" are
// prefixes of versions, ">=17" is a minimum, "[11,18)" a range of Maven. ok is false when
// want is none of these.
func (v Version) Satisfies(want string) (yes, ok bool) {
	want = strings.TrimSpace(want)
	if minimum, is := strings.CutPrefix(want, ">="); is {
		w := ParseVersion(minimum)
		return v.Compare(w) >= 0, len(w) > 0
	}
	if strings.HasPrefix(want, "[") || strings.HasPrefix(want, "(") {
		return v.inRanges(want)
	}
	w := ParseVersion(want)
	return v.startsWith(w), len(w) > 0
}

var ranges = pattern.New(`([\[(])\s*([^,\[\]()]*?)\s*(,\s*([^,\[\]()]*?)\s*)?([\])])`)

// inRanges reads https://maven.apache.org/enforcer/enforcer-rules/versionRanges.html.
func (v Version) inRanges(text string) (yes, ok bool) {
	for _, m := range ranges.FindAllStringSubmatch(text, 32) {
		ok = true
		low, high := ParseVersion(m[2]), ParseVersion(m[4])
		if m[3] == "" {
			yes = yes || v.Compare(low) == 0 || v.startsWith(low)
			continue
		}
		above := len(low) == 0 || v.Compare(low) > 0 || m[1] == "[" && v.Compare(low) == 0
		below := len(high) == 0 || v.Compare(high) < 0 || m[5] == "]" && v.Compare(high) == 0
		yes = yes || above && below
	}
	return yes, ok
}

// Minimum returns the least feature release that want allows, 0 when it has none.
func Minimum(want string) int {
	want = strings.TrimLeft(strings.TrimSpace(want), ">=[(")
	low, _, _ := strings.Cut(want, ",")
	return ParseVersion(low).Major()
}

var versionLine = pattern.New(`(?m)^.* version "([^"]+)".*$`)

// Tell returns the version in the output of "java -version", and the output from the line
// with the version on. Variables of the environment may cause lines before it.
func Tell(printed string) (text string, v Version) {
	m := versionLine.FindStringSubmatchIndex(printed)
	if m == nil {
		return "", nil
	}
	return strings.TrimSpace(printed[m[0]:]), ParseVersion(printed[m[2]:m[3]])
}
