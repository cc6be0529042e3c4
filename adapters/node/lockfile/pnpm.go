package lockfile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters/node/yamldoc"
	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/lockgraph"
)

// pnpmReader builds a lock from one document.
type pnpmReader struct {
	lock     *Lock
	packages map[string]lockgraph.Node // by key
	format   format
}

// format holds the differences between versions of the
type format struct {
	prefix string // of the keys of packages
	joint  string // between name and version in a key
	at     string // the key of a package's dependencies
}

func formatOf(version string) (format, bool) {
	switch major, _, _ := strings.Cut(version, "."); major {
	case "5":
		return format{"/", "/", "packages"}, true
	case "6":
		return format{"/", "@", "packages"}, true
	case "9":
		return format{"", "@", "snapshots"}, true
	}
	return format{}, false
}

// ParsePNPM reads pnpm-lock.yaml (https://github.com/pnpm/spec/tree/master/lockfile). The error says why it
// cannot be read.
func ParsePNPM(name string, data []byte) (*Lock, error) {
	docs, err := yamldoc.Parse(name, data)
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, fmt.Errorf("%s is empty", path.Base(name))
	}
	lock := &Lock{}
	for i, doc := range docs {
		version := doc.Get("lockfileVersion").Text()
		f, ok := formatOf(version)
		if !ok {
			return nil, fmt.Errorf("pnpm lockfile version %q is not known", version)
		}
		r := &pnpmReader{lock: lock, packages: make(map[string]lockgraph.Node), format: f}
		r.addPackages(doc)
		if i == len(docs)-1 {
			r.addImporters(doc)
		} else {
			r.addTools(doc)
		}
	}
	lock.Seal()
	return lock, nil
}

func (r *pnpmReader) addPackages(doc *jsonfile.Value) {
	packages := doc.Get("packages")
	resolved := make(map[string]string, len(packages.Members()))
	for _, p := range packages.Members() {
		resolved[p.Name] = resolution(p.Value.Get("resolution"))
	}
	snapshots := doc.Get(r.format.at).Members()
	for _, p := range snapshots {
		r.packages[p.Name] = r.lock.Graph.Add("package", p.Name, resolved[withoutPeers(p.Name)])
	}
	for _, p := range snapshots {
		r.link(r.packages[p.Name], Root, p.Value)
	}
}

// withoutPeers removes the peers from a key; older versions list a package once for each
// set of peers.
func withoutPeers(key string) string {
	if i := strings.IndexByte(key, '('); i > 0 && !strings.HasPrefix(key, "/") {
		return key[:i]
	}
	return key
}

// resolution returns the identity of the fetched package. The origin is not hashed if the digest is
// known.
func resolution(n *jsonfile.Value) string {
	if integrity := n.Get("integrity").Text(); integrity != "" {
		return integrity
	}
	var parts []string
	for _, p := range n.Members() {
		parts = append(parts, p.Name+"="+p.Value.Text())
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}

func (r *pnpmReader) addImporters(doc *jsonfile.Value) {
	importers := doc.Get("importers").Members()
	if len(importers) == 0 {
		// Before version 9 the lockfile of a lone package is its only importer.
		importers = []jsonfile.Member{{Name: Root, Value: doc}}
	}
	for _, p := range importers {
		r.lock.Member(p.Name)
	}
	for _, p := range importers {
		r.link(r.lock.Member(p.Name), p.Name, p.Value)
	}
	var settings []string
	for _, p := range doc.Get("settings").Members() {
		settings = append(settings, p.Name+"="+p.Value.Text())
	}
	slices.Sort(settings)
	r.lock.Share(r.lock.Graph.Add(append([]string{"settings"}, settings...)...))
}

// addTools adds the extensions of pnpm itself, which are in a separate document.
func (r *pnpmReader) addTools(doc *jsonfile.Value) {
	tools := r.lock.Graph.Add("tools")
	for _, p := range doc.Get("importers", Root, "configDependencies").Members() {
		r.depend(tools, Root, p)
	}
	r.lock.Share(tools)
}

// link adds the dependencies of a package or of the importer in dir.
func (r *pnpmReader) link(from lockgraph.Node, dir string, n *jsonfile.Value) {
	for _, group := range []string{"dependencies", "optionalDependencies", "devDependencies"} {
		for _, p := range n.Get(group).Members() {
			r.depend(from, dir, p)
		}
	}
}

func (r *pnpmReader) depend(from lockgraph.Node, dir string, p jsonfile.Member) {
	version := p.Value.Text()
	if p.Value.Kind() == jsonfile.Object {
		version = p.Value.Get("version").Text()
	}
	if target, ok := strings.CutPrefix(version, "link:"); ok {
		r.dependOnDir(from, p.Name, path.Join(dir, target))
		return
	}
	f := r.format
	for _, key := range []string{f.prefix + p.Name + f.joint + version, version, f.prefix + version} {
		if to, ok := r.packages[key]; ok {
			r.lock.Graph.Link(from, p.Name, to)
			return
		}
	}
	r.lock.Graph.Link(from, p.Name, r.lock.Graph.Add("unknown", p.Name, version))
}

func (r *pnpmReader) dependOnDir(from lockgraph.Node, name, dir string) {
	if r.lock.IsMember(dir) {
		r.lock.Graph.Link(from, name, r.lock.Member(dir))
		return
	}
	r.lock.Graph.Link(from, name, r.lock.Graph.Add("directory", dir))
}
