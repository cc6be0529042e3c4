package snapshot

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
)

// MaxManifest is the size limit of a manifest or lockfile, in bytes.
const MaxManifest = 16 << 20

// Source reads the files of a workspace for built-in adapters, and no files outside of it.
// The zero value reads all files of the machine.
type Source struct {
	clone    *clone.Clone
	snapshot *Snapshot // nil for the disk
	beyond   bool      // paths outside of it are read too
}

// Files returns a reader of the files in dir, an absolute path, as the snapshot of the
// workspace has them.
func (s Source) Files(dir string) *Files {
	return &Files{Source: s, dir: dir, seen: &noted{reads: make(adapters.Reads)}}
}

// Read returns the content of a regular file on the disk by its absolute path.
func (s Source) Read(path string) ([]byte, error) { return s.of(path).Read(path, MaxManifest) }

// Now returns the source without its snapshot, for work that comes after installs and tasks
// have changed the workspace.
func (s Source) Now() Source {
	s.snapshot = nil
	return s
}

// Root returns the root of the workspace, "" where there is none.
func (s Source) Root() string {
	if s.clone == nil {
		return ""
	}
	return s.clone.Root()
}

// Holds reports whether a path is in the workspace as written. Without a workspace every path is.
func (s Source) Holds(path string) bool { return s.clone == nil || s.clone.Holds(path) }

// of returns the clone that a path is read in.
func (s Source) of(path string) *clone.Clone {
	if s.beyond && !s.clone.Holds(path) {
		return nil
	}
	return s.clone
}

// Replace replaces a file of the workspace, as clone.Clone does. Without a workspace
// the file may be anywhere.
func (s Source) Replace(path string, data []byte) error {
	if s.clone != nil {
		mode, err := s.clone.Mode(path)
		if err != nil {
			mode = 0o644
		}
		return s.clone.Replace(path, data, mode.Perm())
	}
	return clone.At(filepath.Dir(path)).Replace(path, data, 0o644)
}

// Put replaces the file or link at path with a file of bento's own, as clone.Clone does.
// Without a workspace the file may be anywhere.
func (s Source) Put(path string, data []byte) error {
	return s.orAround(path).Put(path, data, 0o644)
}

// Remove removes a file or link, as clone.Clone does. Without a workspace the file may be
// anywhere.
func (s Source) Remove(path string) error { return s.orAround(path).Remove(path) }

// orAround returns the workspace, or without one the directory of the path.
func (s Source) orAround(path string) *clone.Clone {
	if s.clone != nil {
		return s.clone
	}
	return clone.At(filepath.Dir(path))
}

// Files reads a project's files for a built-in adapter and notes each path, so that the
// answer can return its Reads. It serves one answer and one goroutine. Names are relative
// to its directory or absolute. In a workspace, files outside of it, or behind a link that
// leads out of it, are missing.
type Files struct {
	Source
	dir    string
	seen   *noted
	above  []string // the directory and those above it, as far as they were visited
	topped bool     // above holds them all
}

// noted are the Reads of an answer.
type noted struct {
	reads    adapters.Reads
	returned bool // reads was returned, and is not changed any more
}

// own returns the Reads that may be changed.
func (n *noted) own() adapters.Reads {
	if n.returned {
		n.reads, n.returned = maps.Clone(n.reads), false
	}
	return n.reads
}

// NewFiles returns a reader of the files in dir, an absolute path, without a workspace: for
// files of the user and the machine.
func NewFiles(dir string) *Files { return Source{}.Files(dir) }

// Beyond returns a reader for the same answer that also reads files outside of the
// workspace: for paths that the user or the tool chooses, never for a manifest. It follows
// no link out of the workspace.
func (f *Files) Beyond() *Files {
	beyond := *f
	beyond.beyond = f.clone != nil
	return &beyond
}

// In returns a reader of the files in another directory of the same workspace.
func (f *Files) In(dir string) *Files { return f.Source.Files(dir) }

// Dir returns the directory that names are relative to.
func (f *Files) Dir() string { return f.dir }

// Whole adds the content of a file, or the names in a directory, to Reads: the answer depends on it,
// because another program reads it. It returns name as an absolute path.
func (f *Files) Whole(name string) string {
	path := f.Path(name)
	f.note(path, f.State(path, true))
	return path
}

// Path returns name as an absolute path.
func (f *Files) Path(name string) string {
	if !filepath.IsAbs(name) {
		return clone.Join(f.dir, name)
	}
	return clone.Clean(name)
}

// note adds what an answer saw at a path to its Reads. A path with two different states has changed
// meanwhile. Files outside of the workspace are always missing.
func (f *Files) note(path string, now adapters.State) {
	if f.clone != nil && !f.beyond && !f.clone.Holds(path) {
		return
	}
	was, known := f.seen.reads[path]
	if now = was.And(now, known); !known || now != was {
		f.seen.own()[path] = now
	}
}

// Note adds the Reads of another reader to those of f.
func (f *Files) Note(reads adapters.Reads) { f.seen.own().Merge(reads) }

// Read returns the content of a regular file of at most MaxManifest bytes. For a missing
// file the error is fs.ErrNotExist.
func (f *Files) Read(name string) ([]byte, error) {
	path := f.Path(name)
	if state, known := f.snapshot.state(path, false); known && state.Kind == adapters.Absent {
		f.note(path, state)
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	data, err := f.Source.Read(path)
	if errors.As(err, new(*clone.TooLargeError)) {
		f.note(path, f.State(path, true))
	} else {
		f.note(path, stateOf(data, err))
	}
	return data, err
}

// ReadIfExists is Read, with nil content and no error for a missing file.
func (f *Files) ReadIfExists(name string) ([]byte, error) {
	data, err := f.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// ReadChoice is ReadIfExists for a file by which a tool chooses its version. When the file is behind
// a link that leads out of the workspace, or cannot be read, the tool may still read it: the error is
// a *KnownAtRun then.
func (f *Files) ReadChoice(name string) ([]byte, error) {
	data, err := f.Read(name)
	var stray *clone.StrayError
	if errors.Is(err, fs.ErrNotExist) && !errors.As(err, &stray) {
		return nil, nil
	}
	if err != nil {
		return nil, &adapters.KnownAtRun{Why: err.Error()}
	}
	return data, nil
}

// IsFile reports whether name is a regular file, or a link to one.
func (f *Files) IsFile(name string) bool { return f.kind(name) == adapters.Regular }

// IsDir reports whether name is a directory, or a link to one.
func (f *Files) IsDir(name string) bool { return f.kind(name) == adapters.Directory }

func (f *Files) kind(name string) adapters.Kind {
	path := f.Path(name)
	kind := f.look(path)
	f.note(path, adapters.State{Kind: kind})
	return kind
}

// List returns the sorted entries of a directory, none when it cannot be read.
func (f *Files) List(name string) []fs.DirEntry {
	path := f.Path(name)
	entries, err := f.of(path).List(path)
	if err != nil { // also of a file
		f.note(path, adapters.State{Kind: f.look(path)})
		return nil
	}
	f.note(path, stateOfList(entries))
	return entries
}

// Ignored reports whether git ignores a path of the workspace, of a directory if dir is set: a task may have
// made it, and no recipe depends on that.
func (f *Files) Ignored(name string, dir bool) bool {
	path, root := f.Path(name), f.Root()
	if root == "" || !f.snapshot.held() || !f.snapshot.view.Ignored(path, dir) {
		return false
	}
	for above := filepath.Dir(path); ; above = filepath.Dir(above) {
		f.Whole(filepath.Join(above, ".gitignore"))
		if above == root || above == filepath.Dir(above) {
			return true
		}
	}
}

// Up returns the path of the nearest file with this name in the directory or above it. The
// search ends at a directory that holds .git or bento.toml.
func (f *Files) Up(name string) (path string, ok bool) {
	for dir := range f.Ancestors() {
		if path := clone.Join(dir, name); f.IsFile(path) {
			return path, true
		}
	}
	return "", false
}

// Ancestors yields the directory and those above it, up to and including the first that
// holds .git or bento.toml, or is the root of the workspace. A manifest above a repository
// does not belong to it.
func (f *Files) Ancestors() func(yield func(dir string) bool) {
	return func(yield func(dir string) bool) {
		for i := 0; f.ascend(i) && yield(f.above[i]); i++ {
		}
	}
}

// ascend finds the i-th directory above, unless it is known already, and reports whether it
// exists.
func (f *Files) ascend(i int) bool {
	n := len(f.above)
	if i < n {
		return true
	}
	if n == 0 {
		f.above = append(f.above, f.dir)
		return true
	}
	last := f.above[n-1]
	f.topped = f.topped || f.clone != nil && last == f.clone.Root() || f.isTop(last) || last == clone.Dir(last)
	if !f.topped {
		f.above = append(f.above, clone.Dir(last))
	}
	return !f.topped
}

// isTop reports whether a directory holds .git or bento.toml.
func (s Source) isTop(dir string) bool {
	if !s.snapshot.held() || s.snapshot.age() > 0 {
		return holdsMark(dir)
	}
	top, known := s.snapshot.tops.Load(dir)
	if !known {
		top = holdsMark(dir)
		s.snapshot.tops.Store(dir, top)
	}
	return top.(bool)
}

func holdsMark(dir string) bool {
	for _, mark := range []string{".git", "bento.toml"} {
		if _, err := os.Lstat(clone.Join(dir, mark)); err == nil {
			return true
		}
	}
	return false
}

// Reads returns every noted path with its state. The caller must not change it.
func (f *Files) Reads() adapters.Reads {
	f.seen.returned = true
	return f.seen.reads
}

// DirsBelow returns dir and all directories under it, except hidden ones and links. It stops after
// more than atMost.
func (f *Files) DirsBelow(dir string, atMost int) []string {
	var dirs []string
	var add func(dir string)
	add = func(dir string) {
		if len(dirs) > atMost {
			return
		}
		dirs = append(dirs, dir)
		for _, e := range f.List(dir) {
			if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
				add(filepath.Join(dir, e.Name()))
			}
		}
	}
	add(dir)
	return dirs
}
