package lockfile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/lockgraph"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// uvVersion is the known version of uv.lock. Its revisions, 0 to 5, only add to it.
const uvVersion = 1

// UV is a uv.lock (https://docs.astral.sh/uv/concepts/projects/layout/#the-lockfile).
// It is safe for concurrent use.
type UV struct {
	graph   lockgraph.Graph
	byName  map[string][]*uvPackage
	members map[string]lockgraph.Node // by directory relative to the root
	shared  []lockgraph.Node          // the groups of the root
}

// uvPackage is one package, with a node for each of its extras.
type uvPackage struct {
	value                 *tomlfile.Value
	name, version, source string
	node                  lockgraph.Node
	extras                map[string]lockgraph.Node
}

// ParseUV reads a uv.lock. The error says why it cannot.
func ParseUV(file string, data []byte) (*UV, error) {
	f, problems := tomlfile.ParseManifest(file, data)
	if len(problems) > 0 {
		return nil, diagnostics.Problems(problems)
	}
	if v := f.Lookup("version"); v == nil || v.Any() != int64(uvVersion) {
		return nil, fmt.Errorf("this version of uv.lock is unknown, expected %d", uvVersion)
	}
	u := &UV{byName: make(map[string][]*uvPackage), members: make(map[string]lockgraph.Node)}
	packages := u.add(f.Lookup("package"))
	for _, p := range packages {
		u.link(p)
		p.value = nil // the document is large
	}
	u.shared = append(u.shared, u.groups(f.Lookup("manifest", "dependency-groups"))...)
	u.graph.Seal()
	return u, nil
}

// add makes the nodes of all packages and extras, to which links lead.
func (u *UV) add(list *tomlfile.Value) []*uvPackage {
	if list == nil {
		return nil
	}
	packages := make([]*uvPackage, 0, len(list.Elems()))
	for _, v := range list.Elems() {
		p := &uvPackage{
			value: v, extras: make(map[string]lockgraph.Node),
			name: requirements.Normalize(str(v, "name")), version: str(v, "version"), source: uvSource(v.Child("source")),
		}
		p.node = u.graph.Add(slices.Concat([]string{p.name, p.version, p.source}, uvContent(v), edgeTexts(v.Child("dependencies")))...)
		if optional := v.Child("optional-dependencies"); optional != nil {
			for _, extra := range optional.Keys() {
				p.extras[extra] = u.graph.Add(append([]string{"extra", extra}, edgeTexts(optional.Child(extra))...)...)
				u.graph.Link(p.extras[extra], "", p.node)
			}
		}
		u.byName[p.name] = append(u.byName[p.name], p)
		packages = append(packages, p)
	}
	return packages
}

// link links a package to its dependencies, and makes the node of a member, which includes
// all its extras and groups.
func (u *UV) link(p *uvPackage) {
	u.linkAll(p.node, p.value.Child("dependencies"))
	for extra, node := range p.extras {
		u.linkAll(node, p.value.Child("optional-dependencies").Child(extra))
	}
	dir, ok := p.dir()
	if !ok {
		return
	}
	member := u.graph.Add("member")
	u.graph.Link(member, "", p.node)
	for extra, node := range p.extras {
		u.graph.Link(member, extra, node)
	}
	groups := u.groups(p.value.Child("dev-dependencies"))
	for _, group := range groups {
		u.graph.Link(member, "group", group)
	}
	u.members[dir] = member
	if dir == "." {
		u.shared = append(u.shared, groups...)
	}
}

// groups makes a node for each dependency group.
func (u *UV) groups(table *tomlfile.Value) []lockgraph.Node {
	if table == nil {
		return nil
	}
	var nodes []lockgraph.Node
	for _, name := range table.Keys() {
		node := u.graph.Add(append([]string{"group", name}, edgeTexts(table.Child(name))...)...)
		u.linkAll(node, table.Child(name))
		nodes = append(nodes, node)
	}
	return nodes
}

func (u *UV) linkAll(from lockgraph.Node, list *tomlfile.Value) {
	if list == nil {
		return
	}
	for _, d := range list.Elems() {
		// Where several packages have the name, version and source select one.
		version, source := str(d, "version"), uvSource(d.Child("source"))
		for _, p := range u.byName[requirements.Normalize(str(d, "name"))] {
			if version != "" && version != p.version || source != "" && source != p.source {
				continue
			}
			u.graph.Link(from, p.name, p.node)
			for _, extra := range uvExtras(d) {
				if node, ok := p.extras[extra]; ok {
					u.graph.Link(from, p.name, node)
				}
			}
		}
	}
}

// dir returns the directory of the package relative to the root, if it is a project on
// disk.
func (p *uvPackage) dir() (string, bool) {
	for _, kind := range []string{"editable=", "virtual=", "directory="} {
		if dir, ok := strings.CutPrefix(p.source, kind); ok {
			return dir, true
		}
	}
	return "", false
}

// Digest returns the digest of the packages that a member of the workspace resolves to: those of the member with all
// its extras and groups, those of the root's groups, and those that also names. dir is the directory of the member
// relative to the root, "." for the root itself. ok is false when the lockfile does not hold the member.
func (u *UV) Digest(dir string, also []string) (digest string, ok bool) {
	var sums []lockgraph.Sum
	member, ok := u.members[dir]
	if ok {
		sums = append(sums, u.graph.Sum(member))
	}
	for _, node := range u.shared {
		sums = append(sums, u.graph.Sum(node))
	}
	for _, name := range also {
		for _, p := range u.byName[name] {
			sums = append(sums, u.graph.Sum(p.node))
		}
	}
	return lockgraph.Join(sums...).String(), ok
}

// uvContent returns the content that is downloaded.
func uvContent(v *tomlfile.Value) []string {
	parts := strs(v.Child("resolution-markers"))
	if sdist := v.Child("sdist"); sdist != nil {
		parts = append(parts, uvArtifact(sdist))
	}
	if wheels := v.Child("wheels"); wheels != nil {
		var list []string
		for _, w := range wheels.Elems() {
			list = append(list, uvArtifact(w))
		}
		slices.Sort(list)
		parts = append(parts, list...)
	}
	return parts
}

// uvArtifact returns a file's name and content, and its origin only where the content is
// unknown.
func uvArtifact(v *tomlfile.Value) string {
	from := str(v, "url") + str(v, "path") + str(v, "filename")
	if hash := str(v, "hash"); hash != "" {
		return path.Base(from) + " " + hash
	}
	return from
}

// uvSource returns the kind and place of a source. It leaves out the URL of an index: the
// hashes of files identify the content.
func uvSource(v *tomlfile.Value) string {
	if v == nil {
		return ""
	}
	var parts []string
	for _, key := range v.Keys() {
		if value := str(v, key); key == "registry" {
			parts = append(parts, key)
		} else {
			parts = append(parts, key+"="+value)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// uvExtras returns the extras of a dependency; [manifest] writes them in another form.
func uvExtras(d *tomlfile.Value) []string {
	if list := d.Child("extra"); list != nil {
		return strs(list)
	}
	return strs(d.Child("extras"))
}

// edgeTexts returns a list of dependencies as sorted texts.
func edgeTexts(list *tomlfile.Value) []string {
	if list == nil {
		return nil
	}
	var texts []string
	for _, d := range list.Elems() {
		texts = append(texts, fmt.Sprintf("%q %q %q %q %q %q", requirements.Normalize(str(d, "name")), str(d, "version"),
			uvSource(d.Child("source")), uvExtras(d), str(d, "marker"), str(d, "specifier")))
	}
	slices.Sort(texts)
	return texts
}
