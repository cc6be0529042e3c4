package wasm

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	wasisys "github.com/tetratelabs/wazero/sys"
)

// maxFile is the size of the largest file that az_read_file returns.
const maxFile = 16 << 20

// A jail is a directory as a module sees it. Every name is resolved below an os.Root, so no link
// leads out. The mounts of wazero itself follow links.
type jail struct {
	sys.UnimplementedFS
	root   *os.Root
	write  bool // else read-only, and without .bento and .git
	budget *budget
	looks  *looks // records what is looked at, unless nil
}

// budget bounds what one instance may open and write.
type budget struct {
	open    int   // files
	bytes   int64 // written
	entries int   // made
}

const (
	maxOpen    = 256
	maxWritten = 1 << 30
	maxEntries = 100_000
	maxLinks   = 40
	maxName    = 4096
)

// jails are the directories of one call.
type jails []*jail

func (j jails) close() {
	for _, one := range j {
		one.root.Close()
	}
}

// mounts opens the directories that the call may see.
func (k *call) mounts() (jails, wazero.FSConfig, error) {
	var open jails
	cfg := wazero.NewFSConfig()
	b := &budget{}
	mount := func(dir, guest string, write bool) error {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		one := &jail{root: root, write: write, budget: b}
		if !write {
			one.looks = k.c.looks
		}
		open = append(open, one)
		cfg = cfg.(sysfs.FSConfig).WithSysFSMount(one, guest)
		return nil
	}
	if k.t.grant.may(wasiRead) && k.c.Root != "" {
		if err := mount(k.c.Root, ".", false); err != nil {
			k.log.add("[WARN] the workspace cannot be opened: " + err.Error())
		} else if k.t.o.atItsPath {
			if err := mount(k.c.Root, filepath.ToSlash(k.c.Root), false); err != nil {
				return open, nil, err
			}
		}
	}
	if k.c.Out != "" {
		if err := mount(k.c.Out, filepath.ToSlash(k.c.Out), true); err != nil {
			return open, nil, err
		}
	}
	return open, cfg, nil
}

// isHidden reports whether a name is that of a directory of bento or git, in any case: some file
// systems ignore it.
func isHidden(name string) bool {
	return strings.EqualFold(name, ".bento") || strings.EqualFold(name, ".git")
}

// resolve returns a name below the root without links on its way, and for follow none at its end.
// It returns fs.ErrNotExist for what is hidden. os.Root confines the open itself.
func (j *jail) resolve(name string, follow bool) (string, error) {
	if len(name) > maxName || strings.ContainsRune(name, 0) {
		return "", sys.ENAMETOOLONG
	}
	at, err := j.walk(name, follow)
	if at != "" {
		j.looks.at(at)
	}
	return at, err
}

// walk is resolve for a name of a possible length.
func (j *jail) walk(name string, follow bool) (string, error) {
	todo := strings.Split(strings.TrimSuffix(name, "/"), "/")
	done := "."
	for links := 0; len(todo) > 0; {
		one := todo[0]
		todo = todo[1:]
		if one == "" || one == "." {
			continue
		}
		if one == ".." {
			if done == "." {
				return "", sys.EPERM
			}
			done = path.Dir(done)
			continue
		}
		if !j.write && isHidden(one) {
			return "", fs.ErrNotExist
		}
		next := path.Join(done, one)
		info, err := j.root.Lstat(filepath.FromSlash(next))
		if errors.Is(err, fs.ErrNotExist) && len(todo) == 0 {
			return next, nil
		}
		if err != nil {
			j.looks.at(next)
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 || len(todo) == 0 && !follow {
			done = next
			continue
		}
		j.looks.at(next)
		target, err := j.root.Readlink(filepath.FromSlash(next))
		if links++; err != nil || links > maxLinks || path.IsAbs(filepath.ToSlash(target)) {
			return "", sys.EPERM
		}
		todo = append(strings.Split(filepath.ToSlash(target), "/"), todo...)
	}
	return done, nil
}

// open opens a regular file or a directory, and returns its resolved name. It never blocks: a named
// pipe is refused.
func (j *jail) open(name string, flag int, perm fs.FileMode, follow bool) (f *os.File, at string, err error) {
	if at, err = j.resolve(name, follow); err == nil {
		f, err = j.openAt(at, flag, perm)
	}
	return f, at, err
}

// openAt opens a resolved name. What it names may have been replaced since: os.Root follows a link
// that stays inside, also to what is hidden.
func (j *jail) openAt(at string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := j.root.OpenFile(filepath.FromSlash(at), flag|syscall.O_NONBLOCK, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	var named fs.FileInfo
	if err == nil {
		named, err = j.root.Lstat(filepath.FromSlash(at))
	}
	if err == nil && (!info.Mode().IsRegular() && !info.IsDir() || !os.SameFile(info, named)) {
		err = sys.EPERM
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func errno(err error) sys.Errno {
	var e sys.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e
	case errors.Is(err, fs.ErrNotExist):
		return sys.ENOENT
	case strings.Contains(err.Error(), "escapes from parent"): // of os.Root, which exports no error for it
		return sys.EPERM
	}
	return sys.UnwrapOSError(err)
}

// OpenFile implements sys.FS.
func (j *jail) OpenFile(name string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	mode := os.O_RDONLY
	switch flag & (sys.O_RDWR | sys.O_WRONLY) {
	case sys.O_RDWR:
		mode = os.O_RDWR
	case sys.O_WRONLY:
		mode = os.O_WRONLY
	}
	wants := mode != os.O_RDONLY || flag&(sys.O_CREAT|sys.O_TRUNC|sys.O_APPEND) != 0
	if wants && !j.write {
		return nil, sys.EROFS
	}
	for from, to := range map[sys.Oflag]int{sys.O_CREAT: os.O_CREATE, sys.O_EXCL: os.O_EXCL, sys.O_TRUNC: os.O_TRUNC, sys.O_APPEND: os.O_APPEND} {
		if flag&from != 0 {
			mode |= to
		}
	}
	if j.budget.open >= maxOpen {
		return nil, sys.EAGAIN
	}
	if flag&sys.O_CREAT != 0 {
		if e := j.budget.entry(); e != 0 {
			return nil, e
		}
	}
	f, at, err := j.open(name, mode, perm&0o777, flag&sys.O_NOFOLLOW == 0)
	if err != nil {
		return nil, errno(err)
	}
	if info, err := f.Stat(); flag&sys.O_DIRECTORY != 0 && (err != nil || !info.IsDir()) {
		f.Close()
		return nil, sys.ENOTDIR
	}
	j.budget.open++
	return &file{f: f, name: at, jail: j, write: wants, add: flag&sys.O_APPEND != 0}, 0
}

func (b *budget) entry() sys.Errno {
	if b.entries++; b.entries > maxEntries {
		return sys.EIO
	}
	return 0
}

// spend takes n bytes that end at the offset end of a file.
func (b *budget) spend(n int, end int64) sys.Errno {
	if b.bytes += int64(n); b.bytes > maxWritten || end > maxWritten || end < 0 {
		return sys.EIO
	}
	return 0
}

// Stat implements sys.FS.
func (j *jail) Stat(name string) (wasisys.Stat_t, sys.Errno) { return j.stat(name, true) }

// Lstat implements sys.FS.
func (j *jail) Lstat(name string) (wasisys.Stat_t, sys.Errno) { return j.stat(name, false) }

func (j *jail) stat(name string, follow bool) (wasisys.Stat_t, sys.Errno) {
	at, err := j.resolve(name, follow)
	if err != nil {
		return wasisys.Stat_t{}, errno(err)
	}
	info, err := j.root.Lstat(filepath.FromSlash(at))
	if err != nil {
		return wasisys.Stat_t{}, errno(err)
	}
	return wasisys.NewStat_t(info), 0
}

// Readlink implements sys.FS.
func (j *jail) Readlink(name string) (string, sys.Errno) {
	at, err := j.resolve(name, false)
	if err != nil {
		return "", errno(err)
	}
	target, err := j.root.Readlink(filepath.FromSlash(at))
	return filepath.ToSlash(target), errno(err)
}

// change does what changes the directory, with names whose last element may be missing.
func (j *jail) change(do func(names ...string) error, names ...string) sys.Errno {
	if !j.write {
		return sys.EROFS
	}
	at := make([]string, len(names))
	for i, n := range names {
		var err error
		if at[i], err = j.resolve(n, false); err != nil {
			return errno(err)
		}
		at[i] = filepath.FromSlash(at[i])
	}
	return errno(do(at...))
}

// Mkdir implements sys.FS. WASI has no modes, so the directory gets the mode of any new one.
func (j *jail) Mkdir(name string, _ fs.FileMode) sys.Errno {
	if e := j.budget.entry(); j.write && e != 0 {
		return e
	}
	return j.change(func(n ...string) error { return j.root.Mkdir(n[0], 0o777) }, name)
}

// Rename implements sys.FS. Both names lie in the same jail.
func (j *jail) Rename(from, to string) sys.Errno {
	return j.change(func(n ...string) error { return j.root.Rename(n[0], n[1]) }, from, to)
}

// Unlink implements sys.FS.
func (j *jail) Unlink(name string) sys.Errno {
	return j.change(func(n ...string) error {
		info, err := j.root.Lstat(n[0])
		if err == nil && info.IsDir() {
			return sys.EISDIR
		}
		return j.root.Remove(n[0])
	}, name)
}

// Rmdir implements sys.FS.
func (j *jail) Rmdir(name string) sys.Errno {
	return j.change(func(n ...string) error {
		info, err := j.root.Lstat(n[0])
		if err == nil && !info.IsDir() {
			return sys.ENOTDIR
		}
		return j.root.Remove(n[0])
	}, name)
}

// readFile is az_read_file: a regular file of the workspace, of at most 16 MiB.
func readFile(_ context.Context, k *call, name string) ([]byte, bool) {
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(k.c.Root, name)
		if err != nil {
			return nil, false
		}
		name = rel
	}
	name = filepath.ToSlash(name)
	for _, one := range strings.Split(name, "/") {
		if one == ".." {
			return nil, false
		}
	}
	root, err := os.OpenRoot(k.c.Root)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	f, _, err := (&jail{root: root, looks: k.c.looks}).open(name, os.O_RDONLY, 0, true)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, false
	}
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	return content, err == nil && len(content) <= maxFile
}
