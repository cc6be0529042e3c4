// Package pep440 reads and compares the versions of Python packages and
// interpreters, and the specifiers that select them
// (https://peps.python.org/pep-0440/).
package pep440

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/internal/pattern"
)

// maxText is the size limit of a version or a list of specifiers, in bytes.
const maxText = 512

// The words of a pre-release in the order of the releases; dev comes before an alpha.
const (
	dev = iota
	alpha
	beta
	candidate
	final
)

// Version is one version. The zero value is invalid.
type Version struct {
	epoch   int
	release []int
	phase   int // of the pre-release; final otherwise
	pre     int
	post    int // -1 unless it is a post-release
	dev     int // -1 unless it is a development release
	local   string
}

var form = pattern.New(`^v?(?:([0-9]+)!)?([0-9]+(?:\.[0-9]+)*)` +
	`(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?([0-9]*))?` +
	`(?:(?:-([0-9]+))|(?:[-_.]?(post|rev|r)[-_.]?([0-9]*)))?` +
	`(?:[-_.]?(dev)[-_.]?([0-9]*))?` +
	`(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`)

// Parse reads a version.
func Parse(text string) (Version, error) {
	bad := fmt.Errorf("%.80q is not a version", text)
	if len(text) > maxText {
		return Version{}, bad
	}
	m := form.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if m == nil {
		return Version{}, bad
	}
	p := numbers{}
	v := Version{epoch: p.number(m[1], 0), phase: final, post: -1, dev: -1, local: m[10]}
	for part := range strings.SplitSeq(m[2], ".") {
		v.release = append(v.release, p.number(part, 0))
	}
	if m[3] != "" {
		v.phase, v.pre = phaseOf(m[3]), p.number(m[4], 0)
	}
	if m[5] != "" || m[6] != "" {
		v.post = p.number(cmp.Or(m[5], m[7]), 0)
	}
	if m[8] != "" {
		v.dev = p.number(m[9], 0)
	}
	if p.err != nil {
		return Version{}, bad
	}
	return v, nil
}

func phaseOf(word string) int {
	switch word {
	case "alpha", "a":
		return alpha
	case "beta", "b":
		return beta
	}
	return candidate
}

// numbers reads numbers and keeps the first error.
type numbers struct{ err error }

func (n *numbers) number(text string, absent int) int {
	if text == "" {
		return absent
	}
	i, err := strconv.ParseInt(text, 10, 32)
	if err != nil && n.err == nil {
		n.err = err
	}
	return int(i)
}

// Release returns v without its pre-, post-, development and local parts.
func (v Version) Release() Version {
	return Version{epoch: v.epoch, release: v.release, phase: final, post: -1, dev: -1}
}

// ReleaseText returns the release of v as three numbers, such as "3.12.0".
func (v Version) ReleaseText() string { return fmt.Sprintf("%d.%d.%d", v.at(0), v.at(1), v.at(2)) }

// Starts reports whether the release of v begins with that of p.
func (v Version) Starts(p Version) bool {
	for i, n := range p.release {
		if v.at(i) != n {
			return false
		}
	}
	return v.epoch == p.epoch
}

// at returns a number of the release, 0 after its end.
func (v Version) at(i int) int {
	if i < len(v.release) {
		return v.release[i]
	}
	return 0
}

// Compare orders versions as PEP 440 does, without local labels.
func Compare(a, b Version) int {
	if c := cmp.Compare(a.epoch, b.epoch); c != 0 {
		return c
	}
	for i := range max(len(a.release), len(b.release)) {
		if c := cmp.Compare(a.at(i), b.at(i)); c != 0 {
			return c
		}
	}
	return slices.Compare(a.rank(), b.rank())
}

// rank returns the parts after the release by precedence.
func (v Version) rank() []int {
	phase := v.phase
	if v.dev >= 0 && v.post < 0 && phase == final {
		phase = dev // 1.0.dev1 comes before 1.0a1
	}
	// Among equals a development release comes first.
	develop := v.dev
	if v.dev < 0 {
		develop = math.MaxInt
	}
	return []int{phase, v.pre, v.post, develop}
}
