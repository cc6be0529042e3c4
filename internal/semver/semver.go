// Package semver reads semantic versions and ranges of them. It is a layer over
// deps.dev/util/semver, which knows the grammars of the ecosystems and costs nothing at the
// start of a program.
package semver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	lib "deps.dev/util/semver"
)

// maxText is the size limit of a version or a range, in bytes.
const maxText = 256

// Version is a semantic version (https://semver.org).
type Version struct {
	release [3]int64
	all     *lib.Version
}

// Parse reads a version. It may begin with "v" and lack its last parts, which are 0.
func Parse(text string) (Version, error) {
	core, _, _ := strings.Cut(text, "+")
	core, _, _ = strings.Cut(core, "-")
	rest := text[len(core):]
	numbers := strings.Split(strings.TrimPrefix(core, "v"), ".")
	if len(text) > maxText || len(numbers) > 3 {
		return Version{}, bad(text)
	}
	var v Version
	for i, number := range numbers {
		n, err := strconv.ParseUint(number, 10, 63)
		if err != nil {
			return Version{}, bad(text)
		}
		v.release[i] = int64(n)
	}
	var err error
	if v.all, err = lib.NPM.Parse(v.core() + rest); err != nil {
		return Version{}, bad(text)
	}
	return v, nil
}

// ParseWhole reads a version of three parts without "v", as https://semver.org defines it.
func ParseWhole(text string) (Version, error) {
	v, err := Parse(text)
	if err == nil && v.String() != text {
		err = bad(text)
	}
	return v, err
}

func bad(text string) error { return fmt.Errorf("%.100q is not a semantic version", text) }

func (v Version) core() string {
	return fmt.Sprintf("%d.%d.%d", v.release[0], v.release[1], v.release[2])
}

// Major returns the first number.
func (v Version) Major() int64 { return v.release[0] }

// Release returns the three numbers as a version: without the pre-release and the build.
func (v Version) Release() Version {
	v.all, _ = lib.NPM.Parse(v.core()) // three numbers are a version
	return v
}

// Prerelease returns the part between "-" and "+", or "".
func (v Version) Prerelease() string { return strings.TrimPrefix(v.all.Prerelease(), "-") }

// Compare returns the order of v and o, -1, 0 or 1. The build is ignored.
func (v Version) Compare(o Version) int { return v.all.Compare(o.all) }

// String returns the version with all three numbers, and without "v".
func (v Version) String() string { return v.all.String() }

// Range is a set of versions. The zero value has all versions.
type Range struct{ all *lib.Constraint }

// ParseRange reads a range as npm writes it: "^1.2 || >=2.3 <3". Commas between comparators may
// stand for spaces. A pre-release is in it only when a comparator names one of the same release.
func ParseRange(text string) (Range, error) {
	return parse(lib.NPM, strings.ReplaceAll(text, ",", " "))
}

// ParseCargo reads a requirement as Cargo writes it: "1.2, <1.5".
func ParseCargo(text string) (Range, error) { return parse(lib.Cargo, text) }

var errRange = errors.New("not a version or a range")

func parse(system lib.System, text string) (Range, error) {
	if len(text) > maxText {
		return Range{}, fmt.Errorf("a range of %d bytes, expected at most %d", len(text), maxText)
	}
	c, err := system.ParseConstraint(text)
	if err != nil {
		return Range{}, fmt.Errorf("%.100q is %w", text, errRange)
	}
	return Range{c}, nil
}

// Has reports whether v is in the range.
func (r Range) Has(v Version) bool { return r.all == nil || r.all.Match(v.all.String()) }

// Satisfies reports whether a version satisfies a range of npm. If one of them has another form, why
// is the reason.
func Satisfies(found, want string) (ok bool, why string) {
	version, err := Parse(found)
	if err != nil {
		return false, fmt.Sprintf("%q is not a version such as 3.25.1", found)
	}
	wanted, err := ParseRange(want)
	if err != nil {
		return false, fmt.Sprintf("%v, such as \"3.25\", \"^3.25\" or \">=3.20 <4\"", err)
	}
	return wanted.Has(version), ""
}
