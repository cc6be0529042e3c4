package manifest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
)

// The rules of the diagnostics of a manifest that is valid by its schema.
const (
	RuleConflict = "sep_manifest_conflict" // its parts contradict each other
	RuleRefused  = "sep_extension_refused" // this host does not execute it
)

// Conflicts returns the faults that no schema finds.
func (m *Manifest) Conflicts() diagnostics.Problems {
	r := &reader{file: m.path, rule: RuleConflict}
	root := value{m.root, ""}
	if !strings.HasPrefix(m.SchemaVersion, "1.") {
		r.fail(root.member("schemaVersion"), "", "is %.40q, required a version 1", m.SchemaVersion)
	}
	r.declared(m, root.member("events").member("subscribe"), Subscribe, len(m.Subscribed()))
	panels := root.member("ui").member("toolPanels")
	r.declared(m, panels, RegisterTools, len(m.Panels()))
	seen := make(map[string]bool)
	for i, item := range panels.Items() {
		id := value{item, fmt.Sprintf("%s[%d]", panels.path, i)}.member("id")
		if seen[id.Text()] {
			r.fail(id, "", "is %.140q, which is the id of a panel before", id.Text())
		}
		seen[id.Text()] = true
	}
	return r.problems
}

// declared checks that a list that is not empty has its permission.
func (r *reader) declared(m *Manifest, v value, permission string, n int) {
	if n > 0 && !slices.Contains(m.Permissions, permission) {
		r.fail(v, "add it to \"permissions\"", "has %d elements, which requires the permission %q", n, permission)
	}
}

// Refusals returns why this host does not execute the extension; none if it does. platform is a
// name of the contract, such as "linux-x64".
func (m *Manifest) Refusals(platform string) diagnostics.Problems {
	r := &reader{file: m.path, rule: RuleRefused}
	root := value{m.root, ""}
	if m.Profile == "android" {
		r.fail(root.member("platformProfile"), "", `is "android": bento executes extensions of the profile "desktop" only`)
	}
	if !strings.HasPrefix(m.APIVersion, "1.") {
		r.fail(root.member("apiVersion"), "install a version of the extension for API 1", "is %.40q, required a version 1 (version_unsupported)", m.APIVersion)
	}
	if c := m.Compatibility; c != nil && c.Platforms != nil && !slices.Contains(c.Platforms, platform) {
		r.fail(root.member("compatibility").member("platforms"), "", "has not %q, which is this platform", platform)
	}
	if m.Signing != nil && m.Signing.Required {
		r.fail(root.member("signing").member("required"), "", "is true, and bento has no key that verifies the signature of %.60q", m.Signing.KeyID)
	}
	return r.problems
}

// Platform returns the contract's name of this platform.
func Platform() string {
	os, arch := runtime.GOOS, runtime.GOARCH
	if os == "darwin" {
		os = "macos"
	}
	if arch == "amd64" {
		arch = "x64"
	}
	return os + "-" + arch
}
