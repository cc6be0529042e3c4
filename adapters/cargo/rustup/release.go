package rustup

import (
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/semver"
)

// Release is a compiler's answer to `rustc -vV`.
type Release struct {
	Text    string // 1.97.0-nightly
	version semver.Version
	date    time.Time // of the last commit
}

// ParseRelease finds the release in a text that holds the lines of `rustc -vV`.
func ParseRelease(text string) Release {
	var r Release
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch name {
		case "release":
			if v, err := semver.Parse(value); err == nil {
				r.Text, r.version = value, v
			}
		case "commit-date":
			r.date, _ = time.Parse(time.DateOnly, value)
		}
	}
	return r
}

// plain returns the version without the suffix of a nightly or beta.
func (r Release) plain() semver.Version { return r.version.Release() }

// AtLeast reports whether r is this or a later version, as rust-version requires it: a
// nightly is compared as its release.
func (r Release) AtLeast(version string) bool {
	minimum, err := semver.Parse(version)
	return err != nil || r.plain().Compare(minimum) >= 0
}

// channelName matches the names of https://rust-lang.github.io/rustup/concepts/toolchains.html:
// channel or version, beta, date, host.
var channelName = pattern.New(`^(?:(stable|beta|nightly)|(\d+\.\d+(?:\.\d+)?)(-beta(?:\.\d+)?)?)` +
	`(?:-(\d{4}-\d{2}-\d{2}))?(?:-[a-z0-9_]+(?:-[a-z0-9_]+)+)?$`)

// Satisfies reports whether r may be the toolchain of a name, or is in a range such as
// ">=1.80". Any other name is a linked toolchain, which requires no version.
func (r Release) Satisfies(want string) bool {
	m := channelName.FindStringSubmatch(want)
	if m == nil {
		c, err := semver.ParseRange(want)
		return err != nil || c.Has(r.plain())
	}
	channel, version, beta, date := m[1], m[2], m[3], m[4]
	return r.inChannel(channel) && r.begins(version, beta) && (channel != "nightly" || r.isFrom(date))
}

// inChannel reports whether r is of a channel; "" is any channel.
func (r Release) inChannel(channel string) bool {
	kind, _, _ := strings.Cut(r.version.Prerelease(), ".")
	return channel == "" || channel == kind || channel == "stable" && kind == ""
}

// begins reports whether r is a version such as 1.85, 1.85.1 or 1.86.0-beta.3.
func (r Release) begins(version, beta string) bool {
	if version == "" {
		return true
	}
	have, want := strings.Split(r.plain().String(), "."), strings.Split(version, ".")
	if !slices.Equal(have[:len(want)], want) {
		return false
	}
	pre := r.version.Prerelease()
	return pre == "" && beta == "" || beta != "" && strings.HasPrefix("-"+pre, beta)
}

// isFrom reports whether r may be the nightly of a date: its last commit is of the day
// before, or a few days earlier when there were no commits.
func (r Release) isFrom(date string) bool {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil || r.date.IsZero() {
		return true
	}
	age := day.Sub(r.date)
	return age >= 0 && age <= 4*24*time.Hour
}
