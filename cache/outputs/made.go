package outputs

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Made is a directory of bento with the files that a tool has made.
type Made struct {
	// Files are the regular files, with their modes and sizes and without digests, sorted by path.
	Files []cache.Output

	work  *Root
	mode  fs.FileMode     // of the directory itself, for a new one
	whole map[string]bool // directories that are as a restore would make them; see List
	moves bool            // nothing else can change the files
	buf   copier
}

// List lists the directory at dir, an absolute path. accept is called with every entry below it and
// may refuse it. The caller closes the result.
//
// If no process can change the files any more, alone is true. Then Place moves files, and it moves a
// directory that the workspace does not have in one step. Otherwise it copies files.
func List(dir string, alone bool, accept func(p string, mode fs.FileMode, size int64) error) (*Made, error) {
	w, err := Open(dir)
	if err != nil {
		return nil, err
	}
	m := &Made{work: w, whole: make(map[string]bool), moves: alone}
	info, err := w.Deepest().Stat()
	if m.mode = info.Mode; err == nil {
		_, err = m.list(w.Deepest().File, "", accept)
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	slices.SortFunc(m.Files, func(a, b cache.Output) int { return strings.Compare(a.Path, b.Path) })
	return m, nil
}

// list lists the directory at p, which was just opened. It reports whether all of it are files, and
// directories with files, that have the mode of a new directory.
func (m *Made) list(d *rawfile.File, p string, accept func(string, fs.FileMode, int64) error) (whole bool, err error) {
	names, err := d.ReadNames()
	if err != nil {
		return false, err
	}
	whole = len(names) > 0
	for _, name := range names {
		at := path.Join(p, name)
		info, err := d.LstatAt(name)
		if err == nil {
			err = accept(at, info.Mode, info.Size)
		}
		if err != nil {
			return false, err
		}
		if !info.IsDir() {
			if err := cache.CheckPath(at); err != nil {
				return false, err
			}
			m.Files = append(m.Files, cache.Output{Path: at, Kind: cache.File, Mode: info.Mode.Perm(), Size: info.Size})
			continue
		}
		sub, err := d.OpenDirAt(name)
		if err != nil {
			return false, err
		}
		below, err := m.list(sub, at, accept)
		sub.Close()
		if err != nil {
			return false, err
		}
		m.whole[at] = below && info.Mode == m.mode && !info.Inherited()
		whole = whole && m.whole[at]
	}
	return whole, nil
}

// Close closes the directory.
func (m *Made) Close() { m.work.Close() }

// open opens the file at a path of Made.
func (m *Made) open(p string) (*rawfile.File, error) {
	d, name, err := m.work.Parent(p, false)
	if err != nil {
		return nil, err
	}
	info, err := d.LstatAt(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode.IsRegular() {
		return nil, ErrChanged
	}
	return d.ReadFile(name, info)
}

// sum returns the digest of a file.
func (m *Made) sum(p string, size int64) (cache.Digest, error) {
	f, err := m.open(p)
	if err != nil {
		return cache.Digest{}, err
	}
	defer f.Close()
	sum, _, err := m.buf.copy(io.Discard, f, size)
	return sum, err
}

// placing is a Made whose files belong below a directory of the workspace.
type placing struct {
	*Made
	into string
}

// from returns the path in Made of a path in the workspace.
func (m *placing) from(p string) string {
	if m.into == "." {
		return p
	}
	return strings.TrimPrefix(p, m.into+"/")
}

// Place makes the workspace contain the files of m below the directory into. It checks all of them first,
// as Restore does. It does not touch files that are already the same, and replaces each other file in one
// step. Of the options only Stop has an effect.
func (r *Restorer) Place(m *Made, into string, o Options) error {
	want := slices.Clone(m.Files)
	for i := range want {
		want[i].Path = path.Join(into, want[i].Path)
		if err := cache.CheckPath(want[i].Path); err != nil {
			return err
		}
	}
	h, err := r.take()
	if err != nil {
		return err
	}
	defer r.release(h)
	h.copier.stop, m.buf.stop = o.Stop, o.Stop
	one := &restore{hands: h, o: &Options{Stop: o.Stop}, want: want, made: &placing{m, into}}
	phases := []func() error{one.compareAll, one.moveDirs, one.swapAll}
	if !m.moves {
		phases[1] = one.stageAll
	}
	for _, phase := range phases {
		if err := phase(); err != nil {
			return err
		}
	}
	return nil
}

// moveDirs moves whole directories that are missing in the workspace. The steps of their files are then
// done.
func (r *restore) moveDirs() error {
	left, moved := r.steps[:0], ""
	for _, s := range r.steps {
		if moved != "" && strings.HasPrefix(s.out.Path, moved) {
			continue
		}
		dir, err := r.moveDir(s.out.Path)
		if err != nil {
			return err
		}
		if moved = dir; dir == "" {
			left = append(left, s)
		}
	}
	r.steps = left
	return nil
}

// moveDir moves the outermost directory of p that the workspace does not have. It returns its path with
// "/" at the end, or "" when nothing was moved.
func (r *restore) moveDir(p string) (string, error) {
	if !r.justMissing(p) {
		if _, err := r.work.At(path.Dir(p), false); !errors.Is(err, fs.ErrNotExist) {
			return "", nil // swap finds any other error
		}
	}
	dir, to := r.work.Missing(path.Dir(p)), r.work.Deepest()
	from := r.made.from(dir)
	if into := r.made.into; into != "." && !strings.HasPrefix(dir, into+"/") || !r.made.whole[from] {
		return "", nil
	}
	if info, err := to.Stat(); err != nil || info.Inherited() {
		return "", err // a new directory would have its group
	}
	d, name, err := r.made.work.Parent(from, false)
	if err != nil {
		return "", err
	}
	err = d.RenameAt(name, to.File, path.Base(dir))
	if rawfile.IsOtherDisk(err) {
		return "", nil
	}
	r.made.work.Leave()
	return dir + "/", err
}

// justMissing reports whether compareAll has found the directory of p missing last.
func (r *restore) justMissing(p string) bool {
	at := r.work.Deepest().path
	return r.missing != "" && len(r.blockers) == 0 && (at == "" || strings.HasPrefix(p, at+"/")) &&
		strings.HasPrefix(p, r.missing) && r.work.Missing(path.Dir(p))+"/" == r.missing
}

// moveFile moves a file to its place.
func (m *placing) moveFile(p string, d *Dir, name string) error {
	from, base, err := m.work.Parent(m.from(p), false)
	if err != nil {
		return err
	}
	return move(from.File, base, d, name)
}

// copyFile writes a file to f.
func (m *placing) copyFile(c *copier, o *cache.Output, f *rawfile.File) error {
	src, err := m.open(m.from(o.Path))
	if err != nil {
		return err
	}
	defer src.Close()
	_, n, err := c.copy(f, src, o.Size)
	if err == nil && n != o.Size {
		err = ErrChanged
	}
	return err
}
