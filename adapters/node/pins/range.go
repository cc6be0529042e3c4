package pins

import (
	"fmt"
	"strings"

	"github.com/bentobuild/bento/internal/semver"
)

// maxText is the size limit of a range, in bytes.
const maxText = 256

// alias resolves the names of version managers; pins is false for names of the newest
// version.
func alias(text string) (version string, pins bool) {
	switch low := strings.ToLower(text); low {
	case "", "node", "latest", "stable", "current", "system", "default":
		return "", false
	case "lts", "lts/*", "lts-latest":
		return "lts/*", true
	default:
		name, isLTS := strings.CutPrefix(low, "lts/")
		if !isLTS {
			return text, true
		}
		major, known := codenames()[name]
		return major, known
	}
}

// codenames returns those of https://github.com/nodejs/Release/blob/main/CODENAMES.md.
func codenames() map[string]string {
	return map[string]string{
		"argon": "4", "boron": "6", "carbon": "8", "dubnium": "10", "erbium": "12",
		"fermium": "14", "gallium": "16", "hydrogen": "18", "iron": "20", "jod": "22",
		"krypton": "24", "lithium": "26",
	}
}

// Range is a set of versions of Node.js. The zero value holds all.
type Range struct {
	lts  bool // any line with long-term support
	semv semver.Range
}

// ParseRange reads a version, a range as npm writes it, or a name.
func ParseRange(text string) (Range, error) {
	version, pins := alias(strings.TrimSpace(text))
	if !pins {
		return Range{}, nil
	}
	if version == "lts/*" {
		return Range{lts: true}, nil
	}
	if len(version) > maxText {
		return Range{}, fmt.Errorf("a version of %d bytes, expected at most %d", len(version), maxText)
	}
	c, err := semver.ParseRange(version)
	if err != nil {
		return Range{}, fmt.Errorf("%q is not a version or a range", text)
	}
	return Range{semv: c}, nil
}

// Has reports whether v is in the range. A pre-release is compared as its release, as in
// npm's own check of engines.
func (r Range) Has(v semver.Version) bool {
	if r.lts { // up to 26 only even lines had long-term support, from 27 on all have
		return v.Major() >= 4 && (v.Major()%2 == 0 || v.Major() >= 27)
	}
	return r.semv.Has(v) || r.semv.Has(v.Release())
}

// firstVersion returns the first version that a range names, or "".
func firstVersion(text string) string {
	start := strings.IndexAny(text, "0123456789")
	if start < 0 {
		return ""
	}
	rest := text[start:]
	if end := strings.IndexFunc(rest, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); end >= 0 {
		rest = rest[:end]
	}
	return strings.Trim(rest, ".")
}
