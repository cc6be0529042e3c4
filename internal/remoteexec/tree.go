package remoteexec

import (
	"strings"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/reapi"
)

// directory is a directory of an input root.
type directory struct {
	nodes map[string]node
	dirs  map[string]*directory
	whole *remote.Digest // of a directory whose content is elsewhere; nil if it is here
}

// node is a file, or a link if it has a target.
type node struct {
	digest remote.Digest
	exec   bool
	target string
}

// enter returns a directory in d, which it makes.
func (d *directory) enter(name string) *directory {
	if d.dirs == nil {
		d.dirs = make(map[string]*directory)
	}
	sub := d.dirs[name]
	if sub == nil {
		sub = &directory{}
		d.dirs[name] = sub
	}
	return sub
}

// enterAll returns the directory at a path, which it makes.
func (d *directory) enterAll(p string) *directory {
	for name := range strings.SplitSeq(p, "/") {
		d = d.enter(name)
	}
	return d
}

// put puts a file at a path.
func (d *directory) put(p string, n node) {
	in, i := d, strings.LastIndexByte(p, '/')
	if i >= 0 {
		in = d.enterAll(p[:i])
	}
	if in.nodes == nil {
		in.nodes = make(map[string]node)
	}
	in.nodes[p[i+1:]] = n
}

// wire adds the messages of d and its directories to w, and returns the digest of d's. A directory is no file as well: one that
// an input has replaced is gone.
func (d *directory) wire(w *wired) remote.Digest {
	if d.whole != nil {
		return *d.whole
	}
	var m reapi.Directory
	for name, n := range d.nodes {
		switch {
		case d.dirs[name] != nil:
		case n.target != "":
			m.Links = append(m.Links, reapi.Link{Path: name, Target: n.target})
		default:
			m.Files = append(m.Files, reapi.File{Path: name, Digest: n.digest, Exec: n.exec})
		}
	}
	for name, sub := range d.dirs {
		m.Dirs = append(m.Dirs, reapi.Dir{Path: name, Digest: sub.wire(w)})
	}
	return w.add(m.Encode())
}
