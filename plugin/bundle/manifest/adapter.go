package manifest

import (
	"runtime"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/semver"
)

// AdapterFile is the name of the manifest of an adapter's package.
const AdapterFile = "bento-plugin.json"

// Adapter is the manifest of an adapter's package.
type Adapter struct {
	ID, Version string
	Program     string // its executable or module, at the root of the package
	Platform    string // such as "linux/amd64"; "" for every platform
	Description string
	License     string
	Homepage    string
	Unknown     []string // keys that bento ignores, sorted
}

var (
	adapterKeys  = []string{"id", "version", "protocol_version", "program", "platform", "description", "license", "homepage"}
	adapterID    = pattern.New(`^[a-z0-9][a-z0-9_-]{0,99}$`)
	platformForm = pattern.New(`^[a-z0-9]{1,20}/[a-z0-9]{1,20}$`)
)

// Platform returns the platform of this process, such as "linux/amd64".
func Platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

// ReadAdapter reads a bento-plugin.json. path is its name in messages. The error is a
// diagnostics.Problems with every problem.
func ReadAdapter(path string, data []byte) (*Adapter, error) {
	r, err := newReader(path, data)
	if err != nil {
		return nil, err
	}
	a := &Adapter{
		ID: r.text("id"), Version: r.text("version"), Program: r.text("program"), Platform: r.text("platform"),
		Description: r.text("description"), License: r.text("license"), Homepage: r.text("homepage"), Unknown: r.unknown(adapterKeys),
	}
	if !adapterID.MatchString(a.ID) {
		r.fail("id", `id %.120q is not valid, expected that of an adapter: lower-case letters, digits, "_" and "-"`, a.ID)
	}
	if !ValidVersion(a.Version) {
		r.fail("version", "version %.120q is not valid, expected "+versionWanted, a.Version)
	}
	if want := "bento-adapter-" + a.ID; a.Program != want && a.Program != want+".wasm" {
		r.fail("program", "program %.200q: expected %q or %q", a.Program, want, want+".wasm")
	}
	if a.Platform != "" && !platformForm.MatchString(a.Platform) {
		r.fail("platform", "platform %.60q is not valid, expected one such as %q, or none", a.Platform, Platform())
	}
	switch v := r.root.Get("protocol_version"); {
	case v == nil:
		r.fail("protocol_version", "protocol_version is missing, expected 1")
	case v.Kind() != jsonfile.Number || v.Literal() != "1":
		r.fail("protocol_version", "protocol_version: expected 1, the version that this bento speaks")
	}
	return a, r.err()
}

// Compatible returns an error if the package is one for another platform.
func (a *Adapter) Compatible() error {
	if a.Platform == "" || a.Platform == Platform() {
		return nil
	}
	return diagnostics.Refuse(RuleIncompatible, "get the package of this platform, whose name ends with -"+platformSuffix(),
		"%s %s is built for %s, expected %s", a.ID, a.Version, a.Platform, Platform())
}

func platformSuffix() string { return runtime.GOOS + "-" + runtime.GOARCH }

// platforms are the systems whose names may end the name of a package, behind its version.
var platforms = pattern.New(`-(aix|android|darwin|dragonfly|freebsd|illumos|linux|netbsd|openbsd|plan9|solaris|windows)-[a-z0-9]+$`)

// PackageName returns the name of the packed form of a version, without its suffix.
func (a *Adapter) PackageName() string { return a.ID + "-" + a.Tag() }

// Tag returns the version, and behind it the platform unless the package is for all.
func (a *Adapter) Tag() string {
	if a.Platform == "" {
		return a.Version
	}
	return a.Version + "-" + strings.ReplaceAll(a.Platform, "/", "-")
}

// Choose returns the tag of the highest version that fulfils the requirement, "" for none. It skips tags
// of other platforms, and prefers a tag for this platform.
func (r Requirement) Choose(tags []string) string {
	best, bestVersion, bestOwn := "", "", false
	for _, tag := range tags {
		version, own := strings.CutSuffix(tag, "-"+platformSuffix())
		if !ValidVersion(version) || !own && platforms.MatchString(tag) || !r.Accepts(version) {
			continue
		}
		c := Compare(version, bestVersion)
		if a, b := isPrerelease(version), isPrerelease(bestVersion); r.text == "" && best != "" && a != b {
			c = 1 // any release goes before a version that is not finished
			if a {
				c = -1
			}
		}
		if best == "" || c > 0 || c == 0 && own && !bestOwn {
			best, bestVersion, bestOwn = tag, version, own
		}
	}
	return best
}

func isPrerelease(version string) bool {
	v, err := semver.ParseWhole(version)
	return err == nil && v.Prerelease() != ""
}
