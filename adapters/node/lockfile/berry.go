package lockfile

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/bentobuild/bento/adapters/node/yamldoc"
	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/lockgraph"
)

// The known versions of the lockfile: those of yarn 2 to yarn 4.
const (
	oldest = 4
	newest = 10
)

// ParseYarn reads the lockfile of yarn 2 or later, which is YAML. The error says why it cannot be read.
func ParseYarn(name string, data []byte) (*Lock, error) {
	docs, err := yamldoc.Parse(name, data)
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%s holds %d documents, expected one", path.Base(name), len(docs))
	}
	version := docs[0].Get("__metadata", "version").Text()
	if v, err := strconv.Atoi(version); err != nil || v < oldest || v > newest {
		return nil, fmt.Errorf("yarn lockfile version %q is not known", version)
	}
	r := &yarnReader{
		lock: &Lock{}, byDescriptor: make(map[string]lockgraph.Node),
		named: make(map[string]lockgraph.Node), patched: make(map[string]lockgraph.Node),
	}
	r.read(docs[0])
	r.lock.Seal()
	return r.lock, nil
}

// yarnReader builds a lock.
type yarnReader struct {
	lock         *Lock
	byDescriptor map[string]lockgraph.Node // "name@npm:^1.0.0"
	named        map[string]lockgraph.Node // by name: all versions, whatever the range
	patched      map[string]lockgraph.Node // by name: the replacement of the package
}

// join adds n to the group of a name.
func (r *yarnReader) join(groups map[string]lockgraph.Node, name string, n lockgraph.Node) {
	group, ok := groups[name]
	if !ok {
		group = r.lock.Graph.Add("all of", name)
		groups[name] = group
	}
	r.lock.Graph.Link(group, name, n)
}

func (r *yarnReader) read(doc *jsonfile.Value) {
	var nodes []lockgraph.Node
	for _, p := range doc.Members() {
		nodes = append(nodes, r.add(p))
	}
	for i, p := range doc.Members() {
		for _, group := range []string{"dependencies", "optionalDependencies"} {
			for _, d := range p.Value.Get(group).Members() {
				r.depend(nodes[i], d.Name, d.Value.Text())
			}
		}
	}
}

// add adds a package with the descriptors that its key lists.
func (r *yarnReader) add(p jsonfile.Member) lockgraph.Node {
	v := p.Value
	resolution := v.Get("resolution").Text()
	var n lockgraph.Node
	if _, dir, ok := strings.Cut(resolution, "@workspace:"); ok {
		n = r.lock.Member(dir)
	} else {
		n = r.lock.Graph.Add("package", resolution, v.Get("checksum").Text(), v.Get("conditions").Text())
	}
	name, _ := splitDescriptor(resolution)
	r.join(r.named, name, n)
	for descriptor := range strings.SplitSeq(p.Name, ", ") {
		r.byDescriptor[descriptor] = n
		if name, spec := splitDescriptor(descriptor); strings.HasPrefix(spec, "patch:") {
			r.join(r.patched, name, n)
		}
	}
	return n
}

// splitDescriptor splits "@scope/name@npm:^1.0.0".
func splitDescriptor(text string) (name, spec string) {
	if text == "" {
		return "", ""
	}
	i := strings.IndexByte(text[1:], '@') + 1
	if i == 0 {
		return text, ""
	}
	return text[:i], text[i+1:]
}

// depend adds an edge to what a dependency resolves to. For a dependency that the root
// replaces, the lockfile does not name the replacement: the edges lead to all packages of
// that name.
func (r *yarnReader) depend(from lockgraph.Node, name, spec string) {
	if patched, ok := r.patched[name]; ok {
		r.lock.Graph.Link(from, name, patched)
	}
	for _, descriptor := range []string{name + "@" + spec, name + "@npm:" + spec} {
		if to, ok := r.byDescriptor[descriptor]; ok {
			r.lock.Graph.Link(from, name, to)
			return
		}
	}
	to, ok := r.named[name]
	if !ok {
		to = r.lock.Graph.Add("absent", name, spec)
	}
	r.lock.Graph.Link(from, name, to)
}
