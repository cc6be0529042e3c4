package manifest

import (
	"fmt"
	"strings"

	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/semver"
)

const (
	idWanted      = `lower-case letters, digits, ".", "_" and "-", beginning with a letter or digit, without "..", at most 100 bytes`
	versionWanted = `letters, digits, ".", "_", "+" and "-", beginning with a letter or digit, without "..", at most 100 bytes`
)

var (
	idForm      = pattern.New(`^[a-z0-9][a-z0-9._-]{0,99}$`)
	versionForm = pattern.New(`^[0-9A-Za-z][0-9A-Za-z._+-]{0,99}$`)
)

// ValidID reports whether id may name a tool, and a directory.
func ValidID(id string) bool { return idForm.MatchString(id) && !strings.Contains(id, "..") }

// ValidVersion reports whether version may name a version, and a directory.
func ValidVersion(version string) bool {
	return versionForm.MatchString(version) && !strings.Contains(version, "..")
}

// Compare orders two versions: semantic versions by their rules. Other versions are lower, and are
// compared by bytes.
func Compare(a, b string) int {
	x, xErr := semver.ParseWhole(a)
	y, yErr := semver.ParseWhole(b)
	switch {
	case xErr == nil && yErr == nil:
		if c := x.Compare(y); c != 0 {
			return c
		}
	case xErr == nil:
		return 1
	case yErr == nil:
		return -1
	}
	return strings.Compare(a, b) // also of versions that differ in build metadata only
}

// Requirement selects versions. The zero value accepts every version.
type Requirement struct {
	text string
	all  *semver.Range // nil for one version, and for every version
}

// comparator is one comparator of a Cargo requirement: an operator, and a version that may lack its
// last parts or have wildcards for them.
var comparator = pattern.New(`^(\^|~|=|>=|<=|>|<)?[ ]*(\*|[0-9]{1,9}(\.(\*|[0-9]{1,9}(\.(\*|[0-9]{1,9}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?))?))?)$`)

// ParseRequirement reads a requirement in the syntax of Cargo: comparators separated by commas, which must
// all hold. A comparator without an operator means "^".
func ParseRequirement(text string) (Requirement, error) {
	if len(text) > 200 {
		return Requirement{}, fmt.Errorf("version requirement of %d bytes, expected at most 200", len(text))
	}
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		m := comparator.FindStringSubmatch(strings.TrimSpace(part))
		if m == nil {
			return Requirement{}, fmt.Errorf(`version requirement %q is not valid, expected one such as "1.2", "^1.2.3", "~1.2", "=1.2.3", "1.*" or ">=1.2, <2"`, text)
		}
		op := m[1]
		if op == "" && !strings.Contains(m[2], "*") {
			op = "^"
		}
		parts = append(parts, op+m[2])
	}
	all, err := semver.ParseCargo(strings.Join(parts, ", "))
	if err != nil {
		return Requirement{}, fmt.Errorf("version requirement %q: %w", text, err)
	}
	return Requirement{text: text, all: &all}, nil
}

// exactly returns the requirement of one version.
func exactly(version string) Requirement { return Requirement{text: version} }

// Accepts reports whether a version fulfils the requirement. Of versions that are not semantic it
// accepts only its own text.
func (r Requirement) Accepts(version string) bool {
	if r.text == "" || r.text == "*" || r.text == version {
		return true
	}
	v, err := semver.ParseWhole(version)
	return err == nil && r.all != nil && r.all.Has(v)
}

// String returns the text of the requirement, "" for any version.
func (r Requirement) String() string { return r.text }

// Of returns the reference of a package in the syntax of ParseReference: its id, and the requirement unless that is empty.
func (r Requirement) Of(id string) string {
	if r.text == "" {
		return id
	}
	return id + "@" + r.text
}

// ParseReference reads the name of a package as a user writes it: "acme-fmt", "acme-fmt@1.2" or
// "acme-fmt@=1.2.3".
func ParseReference(text string) (id string, want Requirement, err error) {
	id, version, given := strings.Cut(text, "@")
	if !ValidID(id) {
		return "", Requirement{}, fmt.Errorf("package %.120q: its id is not valid, expected "+idWanted, text)
	}
	if !given {
		return id, Requirement{}, nil
	}
	if want, err = ParseRequirement(version); err == nil {
		return id, want, nil
	}
	if ValidVersion(version) {
		return id, exactly(version), nil
	}
	return "", Requirement{}, fmt.Errorf("package %.120q: %w", text, err)
}
