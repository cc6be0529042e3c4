package container

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/record"
)

// bind is a file or directory of this machine in a container.
type bind struct {
	source string // absolute, or the name of a volume
	target string // absolute
	write  bool
	volume bool
}

// option returns the value of --mount, whose fields are those of a line of CSV.
func (b bind) option() string {
	kind := "bind"
	if b.volume {
		kind = "volume"
	}
	fields := []string{"type=" + kind, "src=" + b.source, "dst=" + b.target}
	if !b.write {
		fields = append(fields, "readonly")
	}
	var line strings.Builder
	w := csv.NewWriter(&line)
	_ = w.Write(fields) // to memory
	w.Flush()
	return strings.TrimSuffix(line.String(), "\n")
}

// maxGuarded is the most entries of a directory that are made read-only one by one. In a larger one all are writable: each
// mount takes time.
const maxGuarded = 256

// maxHidden is the most mounts that hide files from a sandboxed task.
const maxHidden = 1024

// mounts collects the binds of the workspace.
type mounts struct {
	reach  *record.Reach
	list   []bind
	areas  map[string]bool // writable directories
	empty  string          // a directory with what is in the place of hidden files: empty/dir and empty/file
	within map[string]bool // directories around the files that a sandboxed task may read
	hidden int
}

// workspace returns the binds of the workspace. With inputs, files that the task may not read are hidden. empty is a directory
// with an empty directory dir and a file that no program can open.
func workspace(r *record.Reach, inputs bool, empty string) ([]bind, error) {
	m := &mounts{reach: r, areas: make(map[string]bool), empty: empty}
	m.add(r.Root, ".", false)
	m.findAreas()
	areas := make([]string, 0, len(m.areas))
	for dir := range m.areas {
		areas = append(areas, dir)
	}
	slices.Sort(areas)
	for _, dir := range areas {
		if dir != "." {
			m.add(filepath.Join(r.Root, filepath.FromSlash(dir)), dir, true)
		} else {
			m.list[0].write = true
		}
	}
	for _, dir := range areas {
		if err := m.protect(dir); err != nil {
			return nil, err
		}
	}
	if exists(filepath.Join(r.Root, ".bento")) {
		m.add(filepath.Join(empty, "dir"), ".bento", false)
	}
	if !inputs {
		return m.list, nil
	}
	m.within = make(map[string]bool)
	for p, file := range r.Files {
		if file {
			for dir := path.Dir(p); !m.within[dir]; dir = path.Dir(dir) {
				m.within[dir] = true
			}
		}
	}
	return m.list, m.hide(".")
}

func (m *mounts) add(source, p string, write bool) {
	m.list = append(m.list, bind{source: source, target: path.Join(Workspace, p), write: write})
}

// findAreas sets the directories in which the task makes files, as far as they exist.
func (m *mounts) findAreas() {
	r := m.reach
	for _, dir := range r.Lenient {
		if at := m.onDisk(dir); !exists(at) {
			_ = os.MkdirAll(at, 0o777)
		}
	}
	for _, dir := range r.Trees {
		if exists(m.onDisk(dir)) {
			m.areas[dir] = true
		}
	}
	for _, dir := range r.Areas {
		for dir != "." && !exists(m.onDisk(dir)) {
			dir = path.Dir(dir)
		}
		m.areas[dir] = true
	}
}

func (m *mounts) onDisk(p string) string { return filepath.Join(m.reach.Root, filepath.FromSlash(p)) }

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// protect makes what the task does not change in a writable directory read-only.
func (m *mounts) protect(dir string) error {
	entries, err := os.ReadDir(m.onDisk(dir))
	if errors.Is(err, syscall.ENOTDIR) { // a file that a tool writes, as Yarn does its install-state.gz
		return nil
	}
	if err != nil {
		return err
	}
	var list []string
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		if special(e) || p == ".bento" || m.areas[p] || m.changes(p, e.IsDir()) {
			continue
		}
		list = append(list, p)
	}
	if len(list) > maxGuarded {
		return nil
	}
	for _, p := range list {
		m.add(m.onDisk(p), p, false)
	}
	return nil
}

// special reports whether an entry is neither a file nor a directory: a link cannot be covered.
func special(e fs.DirEntry) bool { return !e.IsDir() && !e.Type().IsRegular() }

// changes reports whether the task may change a file, or something in a directory.
func (m *mounts) changes(p string, dir bool) bool {
	if m.reach.Changeable(p, dir) {
		return true
	}
	return slices.ContainsFunc(m.reach.Roots, func(root string) bool { return key.Inside(root, p) || key.Inside(p, root) })
}

// hide covers the files below a directory that the task may not read.
func (m *mounts) hide(dir string) error {
	entries, err := os.ReadDir(m.onDisk(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		switch {
		case special(e) || p == ".bento" || p == ".git":
		case e.IsDir() && m.reach.Readable(p+"/\x01/\x01"): // all that is there
		case e.IsDir() && (m.within[p] || m.changes(p, true)):
			if err := m.hide(p); err != nil {
				return err
			}
		case e.IsDir():
			m.cover(p, "dir")
		case !m.reach.Readable(p):
			m.cover(p, "file")
		}
	}
	if m.hidden > maxHidden {
		return fmt.Errorf("more than %d files and directories would have to be hidden from it: let its inputs name whole directories", maxHidden)
	}
	return nil
}

// cover hides an entry behind one of m.empty, in place of another bind there.
func (m *mounts) cover(p, kind string) {
	m.hidden++
	target := path.Join(Workspace, p)
	m.list = slices.DeleteFunc(m.list, func(b bind) bool { return b.target == target })
	m.add(filepath.Join(m.empty, kind), p, false)
}

// atRoot returns binds of the workspace for its place on this machine, too: an install may have that path in it, as a virtual
// environment of Python has. There are none if a directory of the image, or of bento, is at this place.
func atRoot(binds []bind, root string) (more []bind) {
	if systemDirs[root] || key.Inside(Workspace, root) || key.Inside(root, Workspace) {
		return nil
	}
	for _, b := range binds {
		b.target = path.Join(root, strings.TrimPrefix(b.target, Workspace))
		more = append(more, b)
	}
	return more
}

// systemDirs are the directories of the Filesystem Hierarchy Standard, which an image fills, and the root of all.
var systemDirs = map[string]bool{
	"/": true, "/bento": true, "/bin": true, "/boot": true, "/dev": true, "/etc": true, "/home": true, "/lib": true, "/lib32": true, "/lib64": true, "/libx32": true,
	"/media": true, "/mnt": true, "/opt": true, "/proc": true, "/root": true, "/run": true, "/sbin": true, "/srv": true, "/sys": true, "/tmp": true, "/usr": true, "/var": true,
}

// further returns the binds of the mounts of c, whose sources exist.
func further(c *dish.Container, userHome string) ([]bind, error) {
	var list []bind
	for _, mount := range c.Mounts {
		b := bind{source: mount.Source, target: mount.Target, write: mount.Write}
		rest, atHome := strings.CutPrefix(b.source, "~/")
		switch {
		case atHome && userHome == "":
			return nil, fmt.Errorf("the mount %s needs $HOME, which is not set", mount.Source)
		case atHome:
			b.source = filepath.Join(userHome, rest)
		case !filepath.IsAbs(b.source):
			b.volume = true
		}
		if !b.volume && !exists(b.source) {
			return nil, fmt.Errorf("the mount %s does not exist on this machine", mount.Source)
		}
		list = append(list, b)
	}
	return list, nil
}
