// Package denolock reads deno.lock
// (https://docs.deno.com/runtime/fundamentals/modules/#integrity-checking-and-lock-files).
package denolock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/lockgraph"
)

// Lock is a lockfile. It is safe for concurrent use.
type Lock struct {
	HasNPM    bool     // it names packages of npm
	HasRemote bool     // it names packages of JSR, or modules by URL
	NPM       []string // the packages of npm, as NAME/VERSION

	graph   lockgraph.Graph
	members map[string][]lockgraph.Node // by directory relative to the lockfile
	shared  []lockgraph.Node
}

// reader makes a Lock.
type reader struct {
	*Lock
	specifiers map[string]string         // "npm:chalk@4" → "4.1.2"
	byName     map[string][]string       // "npm:chalk" → its specifiers
	packages   map[string]lockgraph.Node // "npm:chalk@4.1.2"
	versions   map[string][]string       // "npm:chalk" → keys of packages
	used       map[string]bool           // specifiers that a manifest or a package uses
}

// Parse reads a lockfile. The error says why Parse cannot read it.
func Parse(name string, data []byte) (*Lock, error) {
	root, err := jsonfile.Parse(name, data)
	if err != nil {
		return nil, err
	}
	r := &reader{
		Lock: &Lock{members: make(map[string][]lockgraph.Node)}, specifiers: make(map[string]string), byName: make(map[string][]string),
		packages: make(map[string]lockgraph.Node), versions: make(map[string][]string), used: make(map[string]bool),
	}
	packages := root
	switch version := root.Get("version").Text(); version {
	case "3":
		packages = root.Get("packages")
	case "4", "5":
	default:
		return nil, fmt.Errorf("deno lockfile version %q is not known", version)
	}
	r.read(root, packages)
	r.graph.Seal()
	return r.Lock, nil
}

func (r *reader) read(root, packages *jsonfile.Value) {
	for _, m := range packages.Get("specifiers").Members() {
		version := m.Value.Text()
		if scheme, name := splitSpecifier(m.Name); strings.HasPrefix(version, scheme+":") {
			version = strings.TrimPrefix(version, scheme+":"+name+"@") // version 3 repeats the name
		}
		r.specifiers[m.Name] = version
		scheme, name := splitSpecifier(m.Name)
		r.byName[scheme+":"+name] = append(r.byName[scheme+":"+name], m.Name)
	}
	for _, scheme := range []string{"npm", "jsr"} {
		r.addPackages(scheme, packages.Get(scheme))
	}
	for _, scheme := range []string{"npm", "jsr"} {
		r.linkPackages(scheme, packages.Get(scheme))
	}
	r.addMembers(root.Get("workspace"))
	r.share(root)
}

// splitSpecifier splits "npm:@scope/name@^1.0.0".
func splitSpecifier(text string) (scheme, name string) {
	scheme, rest, _ := strings.Cut(text, ":")
	name, _ = splitVersion(rest)
	return scheme, name
}

// splitVersion splits "@scope/name@1.0.0".
func splitVersion(text string) (name, version string) {
	if text == "" {
		return "", ""
	}
	at := strings.IndexByte(text[1:], '@') + 1
	if at == 0 {
		return text, ""
	}
	return text[:at], text[at+1:]
}

func (r *reader) addPackages(scheme string, list *jsonfile.Value) {
	for _, m := range list.Members() {
		key := scheme + ":" + m.Name
		r.packages[key] = r.graph.Add(key, m.Value.Get("integrity").Text(), m.Value.Get("tarball").Text())
		name, version := splitVersion(m.Name)
		if scheme == "npm" {
			version, _, _ = strings.Cut(version, "_") // behind it are peers
			r.NPM = append(r.NPM, name+"/"+version)
		}
		r.versions[scheme+":"+name] = append(r.versions[scheme+":"+name], key)
	}
	r.HasNPM = r.HasNPM || scheme == "npm" && len(list.Members()) > 0
	r.HasRemote = r.HasRemote || scheme == "jsr" && len(list.Members()) > 0
}

func (r *reader) linkPackages(scheme string, list *jsonfile.Value) {
	for _, m := range list.Members() {
		from := r.packages[scheme+":"+m.Name]
		for _, group := range []string{"dependencies", "optionalDependencies", "optionalPeers"} {
			for _, item := range m.Value.Get(group).Items() {
				r.link(from, scheme, item.Text())
			}
			for _, d := range m.Value.Get(group).Members() { // version 3
				r.link(from, scheme, d.Value.Text())
			}
		}
	}
}

// link adds a dependency of a package: another package by its key, by its name where that
// is unique, or by a specifier.
func (r *reader) link(from lockgraph.Node, scheme, text string) {
	if text == "" {
		return
	}
	if to, ok := r.resolve(text); ok {
		r.graph.Link(from, text, to)
		return
	}
	if _, real, ok := strings.Cut(text, "@npm:"); ok {
		text = real // "other-name@npm:name@1.0.0"
	}
	keys := r.versions[scheme+":"+text]
	if to, ok := r.packages[scheme+":"+text]; ok {
		r.graph.Link(from, text, to)
	} else if len(keys) == 1 {
		r.graph.Link(from, text, r.packages[keys[0]])
	} else {
		r.graph.Link(from, text, r.graph.Add("absent", text))
	}
}

// resolve returns the package of a specifier; one without a version means the only package
// of its name.
func (r *reader) resolve(specifier string) (lockgraph.Node, bool) {
	scheme, name := splitSpecifier(specifier)
	if scheme != "npm" && scheme != "jsr" {
		return 0, false
	}
	if all := r.byName[scheme+":"+name]; len(all) == 1 && specifier == scheme+":"+name {
		specifier = all[0]
	}
	version, ok := r.specifiers[specifier]
	r.used[specifier] = true
	n, found := r.packages[scheme+":"+name+"@"+version]
	return n, ok && found
}

// addMembers adds the requirements of manifests, the root's first.
func (r *reader) addMembers(workspace *jsonfile.Value) {
	r.shared = append(r.shared, r.asked(workspace)...)
	for _, m := range workspace.Get("members").Members() {
		r.members[strings.TrimPrefix(m.Name, "./")] = r.asked(m.Value)
	}
	for _, m := range workspace.Get("links").Members() {
		r.shared = append(r.shared, r.asked(m.Value)...)
	}
}

func (r *reader) asked(manifest *jsonfile.Value) []lockgraph.Node {
	var nodes []lockgraph.Node
	for _, list := range []*jsonfile.Value{manifest.Get("dependencies"), manifest.Get("packageJson", "dependencies")} {
		for _, item := range list.Items() {
			if n, ok := r.resolve(item.Text()); ok {
				nodes = append(nodes, n)
			} else {
				nodes = append(nodes, r.graph.Add("absent", item.Text()))
			}
		}
	}
	return nodes
}

// share adds the specifiers that are in no manifest: any member may import them.
func (r *reader) share(root *jsonfile.Value) {
	for specifier := range r.specifiers {
		if r.used[specifier] {
			continue
		}
		if n, ok := r.resolve(specifier); ok {
			r.shared = append(r.shared, n)
		}
	}
	var remote []string
	for _, key := range []string{"remote", "redirects"} {
		for _, m := range root.Get(key).Members() {
			remote = append(remote, key+" "+m.Name+" "+m.Value.Text())
		}
	}
	r.HasRemote = r.HasRemote || len(remote) > 0
	slices.Sort(remote)
	r.shared = append(r.shared, r.graph.Add(append([]string{"remote"}, remote...)...))
}

// Digest returns the digest of the packages that the members resolve to, and of those that every
// member sees.
func (l *Lock) Digest(members ...string) string {
	var sums []lockgraph.Sum
	for _, n := range l.shared {
		sums = append(sums, l.graph.Sum(n))
	}
	for _, m := range members {
		for _, n := range l.members[m] {
			sums = append(sums, l.graph.Sum(n))
		}
	}
	return lockgraph.Join(sums...).String()
}
