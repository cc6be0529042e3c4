package bundle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/owner"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
)

// Tier is a directory with packages. In a list of tiers a later one overrides an earlier one, by id.
type Tier struct {
	Name string // "global", "project" or "dev", for messages
	// Base is an absolute path that the user has named, and Rel the directory below it, with "/";
	// "" is Base. bento follows no link from Base on.
	Base, Rel string
	// Programs are read only if this is set: a clone of a repository must not install programs.
	Programs bool
	Plugins  bool // only packages of adapters
}

const globalTier = "global"

// Global returns the tier of the packages in a Store.
func Global(dir string) Tier { return Tier{Name: globalTier, Base: dir, Programs: true} }

// Adapters returns the adapters in a Store, sorted by id, then from the highest version to the lowest.
func (s *Store) Adapters() ([]Found, []diagnostics.Diagnostic) {
	return Discover([]Tier{{Name: "global", Base: s.Dir, Plugins: true}})
}

// Program returns the path of an adapter's executable or module.
func (f *Found) Program() string { return filepath.Join(f.Dir, f.Adapter.Program) }

// Found is a package in a tier.
type Found struct {
	Kind, ID, Version string
	Digest            string // of the package, as far as its small files state it
	Dir               string // absolute
	Tier              string
	Source            string // its source; "" if unknown
	Active            bool   // a reference without a version selects it
	Enabled           bool
	InstalledAt       string // RFC 3339; "" if unknown
	Module            *manifest.Module
	Process           *manifest.Process
	Adapter           *manifest.Adapter
	Key               string       // the fingerprint of the key that has signed it, "" for none
	files             []fileRecord // that bento has noted at the installation; nil without
}

// Discover returns the packages in the tiers, sorted by id, then from the highest version to the
// lowest. It skips invalid ones with a warning. It reads manifests and no other content.
func Discover(tiers []Tier) ([]Found, []diagnostics.Diagnostic) {
	byID := make(map[string][]Found)
	var problems []diagnostics.Diagnostic
	for _, t := range tiers {
		list, more := t.discover("")
		problems = append(problems, more...)
		maps.Copy(byID, list)
	}
	var all []Found
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		all = append(all, byID[id]...)
	}
	return all, problems
}

// discover returns the packages of a tier by id, or only those of one id.
func (t Tier) discover(only string) (map[string][]Found, []diagnostics.Diagnostic) {
	s := &scan{tier: t, byID: make(map[string][]Found)}
	root, err := t.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		s.skip(filepath.Join(t.Base, t.Rel), err)
		return nil, s.problems
	}
	defer root.Close()
	list, warning := readState(root)
	if warning != "" {
		s.warn(warning)
	}
	if only != "" {
		s.id(root, only)
	} else {
		s.ids(root)
	}
	for id, found := range s.byID {
		rank(found, list[id], hasEntry(list, id))
	}
	return s.byID, s.problems
}

func hasEntry(list states, id string) bool { _, ok := list[id]; return ok }

func (t Tier) open() (*owndir.Dir, error) {
	if t.Rel == "" {
		return owndir.OpenOwn(t.Base)
	}
	trusted := owner.Of(t.Base)
	base, err := owndir.Open(t.Base, &trusted)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	return base.Below(t.Rel, false)
}

// rank sorts the versions of a tool, the highest first, and marks the active one.
func rank(found []Found, e entry, known bool) {
	slices.SortFunc(found, func(a, b Found) int { return manifest.Compare(b.Version, a.Version) })
	active := 0
	if i := slices.IndexFunc(found, func(f Found) bool { return f.Version == e.Version }); i > 0 {
		active = i
	}
	for i := range found {
		found[i].Active, found[i].Enabled = i == active, !known || e.Enabled
		if known && found[i].Version == e.Version {
			found[i].InstalledAt, found[i].Source = e.InstalledAt, cmp.Or(found[i].Source, e.Source)
		}
	}
}

// maxVersions is the largest number of directories that bento looks at in one directory of a tier.
const maxVersions = 10000

// scan is a walk over one tier.
type scan struct {
	tier     Tier
	byID     map[string][]Found
	problems []diagnostics.Diagnostic
}

func (s *scan) warn(message string) {
	s.problems = append(s.problems, diagnostics.Pos{}.Warning(RuleSkipped, "%s", message))
}

// skip reports a package that is left out.
func (s *scan) skip(dir string, err error) {
	var problems diagnostics.Problems
	if !errors.As(err, &problems) {
		s.warn(fmt.Sprintf("%s: skipped: %v", dir, err))
		return
	}
	for _, d := range problems {
		d.Severity, d.Message = diagnostics.Warning, "skipped: "+d.Message
		if d.File = filepath.Join(dir, d.File); d.Rule == manifest.RuleIncompatible {
			d.File = ""
		}
		s.problems = append(s.problems, d)
	}
}

func (s *scan) ids(root *owndir.Dir) {
	for _, name := range s.names(root) {
		s.id(root, name)
	}
}

// names lists the possible ids or versions in a directory, sorted.
func (s *scan) names(dir *owndir.Dir) []string {
	entries, err := dir.Names()
	if err == nil && len(entries) > maxVersions {
		err = fmt.Errorf("%d entries, expected at most %d", len(entries), maxVersions)
	}
	if err != nil {
		s.skip(dir.Path(), err)
		return nil
	}
	var names []string
	for _, e := range entries {
		if name := e.Name(); name != stateName && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// id reads the packages in the directory of an id: a flat one, else its versions.
func (s *scan) id(root *owndir.Dir, id string) {
	dir, err := root.Enter(id, false)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		s.skip(filepath.Join(root.Path(), id), err)
		return
	}
	defer dir.Close()
	if _, err := dir.Stat(manifest.ModuleFile); err == nil {
		s.add(dir, id, "")
		return
	}
	for _, version := range s.names(dir) {
		below, err := dir.Enter(version, false)
		if err != nil {
			s.skip(filepath.Join(dir.Path(), version), err)
			continue
		}
		s.add(below, id, version)
		below.Close()
	}
}

// add reads one package, whose directory names the id and, unless it is "", the version.
func (s *scan) add(dir *owndir.Dir, id, version string) {
	f, err := readPackage(dir)
	switch {
	case err == nil && f.Kind == KindAdapter != s.tier.Plugins:
		err = fmt.Errorf("a package of the kind %q does not belong here", f.Kind)
	case err == nil && f.Kind == KindProcess && !s.tier.Programs:
		err = fmt.Errorf("a program, expected a module; install it with bento tool add")
	case err == nil && f.ID != id:
		err = fmt.Errorf("its id is %q, expected that of the directory, %q", f.ID, id)
	case err == nil && version != "" && f.Version != version:
		err = fmt.Errorf("its version is %q, expected that of the directory, %q", f.Version, version)
	}
	if err != nil {
		s.skip(dir.Path(), err)
		return
	}
	f.Tier = s.tier.Name
	s.byID[id] = append(s.byID[id], *f)
}

// readPackage reads the manifest of the package in a directory, and bento's record of it.
func readPackage(dir *owndir.Dir) (*Found, error) {
	f := &Found{Dir: dir.Path()}
	name := manifest.ProcessFile
	data, err := readSmall(dir, name, manifest.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		name = manifest.AdapterFile
		data, err = readSmall(dir, name, manifest.MaxSize)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return f, f.module(dir)
	}
	if err == nil {
		err = f.program(name, data)
	}
	if err == nil {
		err = f.record(dir)
	}
	if err != nil {
		return nil, err
	}
	if f.stated(name) != sum(data) {
		return nil, fmt.Errorf("%s is not the one that was installed", name)
	}
	f.Digest = digestOf(f.files)
	return f, nil
}

// program reads the manifest of a program or an adapter.
func (f *Found) program(name string, data []byte) (err error) {
	if name == manifest.AdapterFile {
		if f.Adapter, err = manifest.ReadAdapter(name, data); err != nil {
			return err
		}
		f.Kind, f.ID, f.Version = KindAdapter, f.Adapter.ID, f.Adapter.Version
		return f.Adapter.Compatible()
	}
	if f.Process, err = manifest.ReadProcess(name, data); err == nil {
		f.Kind, f.ID, f.Version = KindProcess, f.Process.ID, f.Process.Version
	}
	return err
}

// module reads the package of a module. One that bento has not installed has no record.
func (f *Found) module(dir *owndir.Dir) error {
	data, err := readSmall(dir, manifest.ModuleFile, manifest.MaxSize)
	if err != nil {
		return err
	}
	m, err := manifest.ReadModule(manifest.ModuleFile, data)
	if err != nil {
		return err
	}
	if err := m.Compatible(); err != nil {
		return err
	}
	info, err := dir.Stat(m.WasmFile)
	if err == nil {
		err = dir.CheckFile(m.WasmFile)
	}
	if err != nil {
		return err
	}
	f.Kind, f.ID, f.Version, f.Module = KindModule, m.ID, m.Version, m
	if err := f.record(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	wasm := m.WasmSHA256
	if m.Unset() {
		// The manifest states no digest of the module, so the package has the one of its file.
		if wasm, err = digestFile(dir, m.WasmFile, info.Size); err != nil {
			return err
		}
	}
	f.Digest = moduleDigest(m, sum(data), wasm)
	return nil
}

// record reads the record of the installation.
func (f *Found) record(dir *owndir.Dir) error {
	data, err := readSmall(dir, recordName, maxRecord)
	if err != nil {
		return err
	}
	var rec record
	if err := json.Unmarshal(data, &rec); err != nil {
		return fmt.Errorf("%s: %w", recordName, err)
	}
	if rec.Kind != f.Kind || rec.Digest != digestOf(rec.Files) {
		return fmt.Errorf("%s is not what bento has written", recordName)
	}
	f.files, f.Source, f.Key = rec.Files, rec.Source, rec.Key
	return nil
}

// stated returns the noted digest of a file, "" for none.
func (f *Found) stated(name string) string {
	for _, r := range f.files {
		if r.Path == name {
			return r.SHA256
		}
	}
	return ""
}

// digestFile returns the SHA-256 of a file that had size bytes a moment ago.
func digestFile(dir *owndir.Dir, name string, size int64) (string, error) {
	f, _, err := dir.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, size+1))
	if err == nil && n != size {
		err = fmt.Errorf("%q has changed while it was read", f.Name())
	}
	return hex.EncodeToString(h.Sum(nil)), err
}
