package confine

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/record"
)

// view is what Landlock's rules are made of, as paths relative to the root.
type view struct {
	read, full []string
	hides      bool // an element of full has files that the command may not read
}

// probe is a name below a directory that no other file has: if it may be changed, so may all that is there.
const probe = "\x01/\x01"

// survey looks at the files on the disk.
func survey(r *record.Reach) (*view, error) {
	v := new(view)
	for _, dir := range r.Lenient {
		if at := onDisk(r, dir); !exists(at) {
			_ = os.MkdirAll(at, 0o777)
		}
	}
	for _, dir := range r.Trees {
		if exists(onDisk(r, dir)) {
			v.full = append(v.full, dir)
		}
	}
	for _, area := range r.Areas {
		for !exists(onDisk(r, area)) && area != "." {
			area = path.Dir(area)
		}
		if v.covers(area) {
			continue
		}
		v.full = append(v.full, area)
		if v.hides {
			continue
		}
		hides, err := hidesIn(r, area)
		if v.hides = hides; err != nil {
			return nil, err
		}
	}
	v.read = append(v.read, r.Others...)
	v.read = append(v.read, ".git", ".bento", "bento.toml", "bentos")
	v.addFiles(r)
	return v, nil
}

// addFiles adds the files that may be read, or the directories that have no other files: a rule for each of many
// thousand files takes longer than many commands.
func (v *view) addFiles(r *record.Reach) {
	dirs := make(map[string]bool) // around files
	for p, file := range r.Files {
		if file && !v.covers(p) {
			for dir := path.Dir(p); !dirs[dir]; dir = path.Dir(dir) {
				dirs[dir] = true
			}
		}
	}
	if len(dirs) > 0 {
		whole, list := v.within(r, ".", dirs)
		if whole {
			list = []string{"."}
		}
		v.read = append(v.read, list...)
	}
}

// within returns the files in a directory that may be read, with whole directories in place of their files. whole
// reports that nothing else is in it.
func (v *view) within(r *record.Reach, dir string, dirs map[string]bool) (whole bool, list []string) {
	entries, err := entriesOf(onDisk(r, dir))
	whole = err == nil
	for _, e := range entries {
		p := below(dir, e.Name())
		switch {
		case e.IsDir() && dirs[p]:
			all, in := v.within(r, p, dirs)
			if whole = whole && all; all {
				in = []string{p}
			}
			list = append(list, in...)
		case e.Type()&fs.ModeSymlink != 0:
		case !e.IsDir() && r.Files[p]:
			list = append(list, p)
		default:
			whole = false
		}
	}
	return whole, list
}

// covers reports whether a path is in one of full.
func (v *view) covers(p string) bool {
	for _, dir := range v.full {
		if key.Inside(p, dir) {
			return true
		}
	}
	return false
}

// hidesIn reports whether a directory has a file that may not be read.
func hidesIn(r *record.Reach, dir string) (bool, error) {
	list, err := entriesOf(onDisk(r, dir))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return false, nil
		}
		return false, err
	}
	for _, e := range list {
		p := below(dir, e.Name())
		switch {
		case e.IsDir() && (e.Name() == ".git" || r.Readable(p+"/"+probe)):
		case e.IsDir():
			if hides, err := hidesIn(r, p); hides || err != nil {
				return hides, err
			}
		case e.Type()&fs.ModeSymlink == 0 && !r.Readable(p):
			return true, nil
		}
	}
	return false, nil
}

// below returns the path of a name in a directory.
func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// entriesOf returns the entries of a directory in any order.
func entriesOf(dir string) ([]fs.DirEntry, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func onDisk(r *record.Reach, p string) string {
	return filepath.Join(r.Root, filepath.FromSlash(p))
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
