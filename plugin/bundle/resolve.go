package bundle

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
)

// Pin is the digest of an installed package that the user has locked.
type Pin struct {
	SHA256 string // Found.Digest
	Where  string // such as "bento.plugins.lock:3"
}

// Query asks for the package of a reference.
type Query struct {
	Ref   string // "acme-fmt", "acme-fmt@1.2"
	Tiers []Tier
	Pins  map[string]Pin // by id; they apply to the tier "global"
	// Keys and RequireSigned are the user's requirements of signatures.
	Keys          manifest.Keys
	RequireSigned bool
}

// Resolved is the package to use. The digest of its module or program is verified when that is
// opened.
type Resolved struct {
	Found
	Wasm       string   // the path of a module
	WasmSHA256 string   // the required digest of it; "" if the manifest states none
	Argv       []string // of a program; the first may be a bare name on PATH
	ArgvSHA256 string   // the required digest of the program; "" if it is outside of the package
	WorkDir    string   // of a program, absolute
	// Manifest is the path of its manifest.
	Manifest  string
	Installed bool // by bento, not a part of a workspace
	// Requires are the packages that this one depends on, each once, in the order of their ids.
	Requires []Found
}

// Resolve returns the package that a reference selects, from the last tier that has the id. It takes the
// pinned version, else the active one if that fulfils the requirement, else the highest that does. It
// reads manifests and no other content.
func Resolve(q Query) (*Resolved, []diagnostics.Diagnostic, error) {
	id, want, err := manifest.ParseReference(q.Ref)
	if err != nil {
		return nil, nil, diagnostics.Refuse(manifest.RuleInvalid, `write the id and a version, such as "acme-fmt@1.2"`, "%v", err)
	}
	r := &resolver{query: q, known: make(map[string][]Found)}
	f, err := r.pick(id, want)
	if err != nil {
		return nil, r.problems, err
	}
	if err := r.require(*f, []string{f.ID}); err != nil {
		return nil, r.problems, err
	}
	return r.resolved(f), r.problems, nil
}

// resolver resolves one reference and its dependencies.
type resolver struct {
	query    Query
	known    map[string][]Found // the versions of an id
	chosen   []Found            // dependencies
	problems []diagnostics.Diagnostic
}

// versions returns the packages of an id in the last tier that has it.
func (r *resolver) versions(id string) []Found {
	if list, ok := r.known[id]; ok {
		return list
	}
	var list []Found
	for _, t := range slices.Backward(r.query.Tiers) {
		found, problems := t.discover(id)
		r.problems = append(r.problems, problems...)
		if list = found[id]; len(list) > 0 {
			break
		}
	}
	r.known[id] = list
	return list
}

// pick chooses one version and checks its signature.
func (r *resolver) pick(id string, want manifest.Requirement) (*Found, error) {
	f, err := r.choose(id, want)
	if err != nil {
		return nil, err
	}
	_, err = signature(f.ID+" "+f.Version, f.Module, AddOptions{Keys: r.query.Keys, RequireSigned: r.query.RequireSigned})
	return f, err
}

// choose chooses one version.
func (r *resolver) choose(id string, want manifest.Requirement) (*Found, error) {
	list := r.versions(id)
	if len(list) == 0 {
		return nil, diagnostics.Refuse(RuleNotFound, "install it with: bento tool add "+want.Of(id)+" --from DIR|URL", "the package %s is not installed", want.Of(id))
	}
	if !list[0].Enabled {
		return nil, diagnostics.Refuse(RuleNotFound, "enable it with: bento tool enable "+id, "the package %s is disabled", id)
	}
	if pin, ok := r.query.Pins[id]; ok && list[0].Tier == globalTier {
		return pinned(list, id, want, pin)
	}
	i := slices.IndexFunc(list, func(f Found) bool { return f.Active && want.Accepts(f.Version) })
	if i < 0 {
		i = slices.IndexFunc(list, func(f Found) bool { return want.Accepts(f.Version) })
	}
	if i < 0 {
		return nil, diagnostics.Refuse(RuleNotFound, "install it with: bento tool add "+want.Of(id)+" --from DIR|URL",
			"no installed version of the package %s fulfils %q, found %s", id, want, versionsOf(list))
	}
	return &list[i], nil
}

// pinned returns the version with the locked digest.
func pinned(list []Found, id string, want manifest.Requirement, pin Pin) (*Found, error) {
	i := slices.IndexFunc(list, func(f Found) bool { return f.Digest == pin.SHA256 })
	switch {
	case i < 0:
		j := max(0, slices.IndexFunc(list, func(f Found) bool { return f.Active }))
		return nil, diagnostics.Refuse(RuleDigest, "install the locked one with bento tool add, or if you trust the installed one: bento plugin lock",
			"the package %s %s: its digest is %s, expected %s at %s", id, list[j].Version, list[j].Digest, pin.SHA256, pin.Where)
	case !want.Accepts(list[i].Version):
		return nil, diagnostics.Refuse(RuleConflict, "change the requirement, or activate another version and lock it with bento plugin lock",
			"the package %s: %q is required, and %s locks %s", id, want, pin.Where, list[i].Version)
	}
	return &list[i], nil
}

func versionsOf(list []Found) string {
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.Version
	}
	return diagnostics.Few(names)
}

// require finds the dependencies of a package. way has the ids that led to it, its own last.
func (r *resolver) require(f Found, way []string) error {
	if f.Module == nil {
		return nil
	}
	for _, d := range f.Module.Dependencies {
		if slices.Contains(way, d.ID) {
			return diagnostics.Refuse(RuleDependency, "", "packages depend on each other in a circle: %s", strings.Join(append(way, d.ID), " -> "))
		}
		want, err := manifest.ParseRequirement(d.VersionReq)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(r.chosen, func(o Found) bool { return o.ID == d.ID }); i >= 0 {
			if got := r.chosen[i].Version; !want.Accepts(got) {
				return diagnostics.Refuse(RuleDependency, "", "%s depends on %s %q, and another package on its version %s", f.ID, d.ID, want, got)
			}
			continue
		}
		next, err := r.pick(d.ID, want)
		if err != nil {
			return From(fmt.Sprintf("%s %s depends on %s", f.ID, f.Version, d.ID), err)
		}
		if err := r.require(*next, append(slices.Clone(way), d.ID)); err != nil {
			return err
		}
		r.chosen = append(r.chosen, *next)
	}
	return nil
}

func (r *resolver) resolved(f *Found) *Resolved {
	slices.SortFunc(r.chosen, func(a, b Found) int { return strings.Compare(a.ID, b.ID) })
	res := &Resolved{Found: *f, Requires: r.chosen, Installed: f.Tier == globalTier}
	if f.Module != nil {
		res.Manifest = filepath.Join(f.Dir, manifest.ModuleFile)
		res.Wasm = filepath.Join(f.Dir, f.Module.WasmFile)
		if !f.Module.Unset() {
			res.WasmSHA256 = f.Module.WasmSHA256
		}
		return res
	}
	res.Manifest = filepath.Join(f.Dir, manifest.ProcessFile)
	command := f.Process.Command
	if strings.Contains(command, "/") && !filepath.IsAbs(command) {
		res.ArgvSHA256 = f.stated(filepath.ToSlash(filepath.Clean(command)))
		command = filepath.Join(f.Dir, command)
	}
	res.Argv = append([]string{command}, f.Process.Args...)
	if res.WorkDir = f.Process.Dir; !filepath.IsAbs(res.WorkDir) {
		res.WorkDir = filepath.Join(f.Dir, res.WorkDir)
	}
	return res
}
