package cargo

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/cargo/cargotoml"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// insideRule is Manifest.Inside.
const insideRule = "Cargo, started there, takes it for a workspace root (a `[workspace]` of its own, no workspace above, or excluded by it) or for a member of the workspace above; below `tests/`, `benches/` and `fuzz/` of a package only for a member of a workspace whose root lies outside"

// Nested implements adapters.Nester: dir is a dish if cargo, started in dir, treats it as the root of
// a workspace or as a member of one.
func (a *Adapter) Nested(_ context.Context, dir, _ string) (adapters.NestedAnswer, error) {
	return snapshot.JudgeNested(a.Files(dir), a.nested)
}

func (a *Adapter) nested(f *snapshot.Files) (answer adapters.NestedAnswer, err error) {
	around, err := a.testsAround(f)
	if err != nil {
		return answer, err
	}
	m, err := a.manifests.Read(f, "Cargo.toml")
	if err != nil && around == "" {
		return answer, err
	}
	if err != nil { // no manifest names it, so it is a test of the package around it
		return inSources(around), nil
	}
	root, err := a.workspaceRoot(f, m)
	if err != nil {
		return answer, err
	}
	member, err := a.isMember(f, root, m)
	if err != nil || member && (around == "" || !adapters.Within(around, root.Dir())) {
		return answer, err
	}
	switch {
	case around != "":
		return inSources(around), nil
	case root != nil && root.Path != m.Path:
		answer.Reason, answer.Why = adapters.NotAMember, "cargo refuses it: the workspace of "+root.Path+" neither names it nor excludes it"
	}
	return answer, nil
}

// inSources is the answer about a directory in the tests of a package.
func inSources(around string) adapters.NestedAnswer {
	return adapters.NestedAnswer{Reason: adapters.InSources, Why: "it lies in " + filepath.Base(around) + "/ of a package and is no member of a workspace outside of it"}
}

// isMember reports whether m is a member of the workspace with this root, and not the root
// itself. root may be nil.
func (a *Adapter) isMember(f *snapshot.Files, root, m *cargotoml.Manifest) (bool, error) {
	if root == nil || root.Path == m.Path {
		return false, nil
	}
	members, err := a.members(f, root)
	return slices.Contains(members, m.Dir()), err
}

// testsAround returns the directory around f's that holds the tests, benchmarks or fuzz
// targets of a package, "" for none.
func (a *Adapter) testsAround(f *snapshot.Files) (around string, err error) {
	for dir := range f.Ancestors() {
		if !slices.Contains([]string{"tests", "benches", "fuzz"}, filepath.Base(dir)) {
			continue
		}
		m, err := a.optional(f, filepath.Dir(dir))
		if err != nil || m != nil && m.Package != nil {
			return dir, err
		}
	}
	return "", nil
}
