package node

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/bentobuild/bento/adapters"
)

// maxRange bounds the text of a range, in bytes.
const maxRange = 256

// alias resolves the names that version managers know; pins is false for those
// that mean whatever is newest.
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

// codenames are those of https://github.com/nodejs/Release/blob/main/CODENAMES.md.
func codenames() map[string]string {
	return map[string]string{
		"argon": "4", "boron": "6", "carbon": "8", "dubnium": "10", "erbium": "12",
		"fermium": "14", "gallium": "16", "hydrogen": "18", "iron": "20", "jod": "22",
		"krypton": "24", "lithium": "26",
	}
}

// versionRange is a set of versions.
type versionRange struct {
	lts  bool // any line with long-term support
	semv *semver.Constraints
}

// parseRange reads a version, a range as npm writes it, or an alias.
func parseRange(text string) (versionRange, error) {
	version, pins := alias(strings.TrimSpace(text))
	if !pins {
		return versionRange{}, nil
	}
	if version == "lts/*" {
		return versionRange{lts: true}, nil
	}
	if len(version) > maxRange {
		return versionRange{}, fmt.Errorf("a version of %d bytes, expected at most %d", len(version), maxRange)
	}
	c, err := semver.NewConstraint(version)
	if err != nil {
		return versionRange{}, fmt.Errorf("%q is not a version or a range", text)
	}
	return versionRange{semv: c}, nil
}

// has tells whether v is in the range. A pre-release counts as its release, as
// in npm's own check of engines.
func (r versionRange) has(v *semver.Version) bool {
	switch {
	case r.lts:
		// Up to 26 only even lines were supported for long, from 27 on all are.
		return v.Major() >= 4 && (v.Major()%2 == 0 || v.Major() >= 27)
	case r.semv == nil:
		return true
	}
	release := semver.New(v.Major(), v.Minor(), v.Patch(), "", "")
	return r.semv.Check(v) || r.semv.Check(release)
}

// CheckPin tells whether the toolchain with this fingerprint satisfies want.
func (a *Adapter) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	found := fingerprintField(fingerprint, want.Tool)
	v, err := semver.NewVersion(found)
	if err != nil {
		return adapters.Verdict{OK: true, Found: found}
	}
	verdict := adapters.Verdict{Found: v.String()}
	r, err := parseRange(want.Version)
	if err != nil {
		verdict.Hint = err.Error()
		return verdict
	}
	if verdict.OK = r.has(v); !verdict.OK {
		verdict.Hint = howToGet(want)
	}
	return verdict
}

func howToGet(want adapters.Toolchain) string {
	if want.Tool == string(npm) {
		return fmt.Sprintf("install it with %q, or change the pin", "npm install -g npm@"+want.Version)
	}
	install := "nvm install --lts"
	if first := strings.IndexAny(want.Version, "0123456789"); first >= 0 {
		rest := want.Version[first:]
		if end := strings.IndexFunc(rest, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }); end >= 0 {
			rest = rest[:end]
		}
		install = "nvm install " + strings.Trim(rest, ".")
	}
	return fmt.Sprintf("get it with a version manager, such as %q, or change the pin", install)
}

// fingerprintField gives the value of name in "node=v20.1.0 npm=10.2.0".
func fingerprintField(fingerprint, name string) string {
	for field := range strings.FieldsSeq(fingerprint) {
		if value, ok := strings.CutPrefix(field, name+"="); ok {
			return value
		}
	}
	return ""
}
