package wasm

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	wasisys "github.com/tetratelabs/wazero/sys"

	"github.com/bentobuild/bento/internal/rawfile"
)

// maxFile is the size of the largest file that az_read_file returns.
const maxFile = 16 << 20

// A jail is a directory as a module sees it. Every name is followed from the open directory, one
// element after the other, and the system follows no link, so none leads out. The mounts of wazero
// itself follow links.
type jail struct {
	sys.UnimplementedFS
	root     *rawfile.File
	write    bool // else read-only, and without .bento and .git
	budget   *budget
	observed *observations // records the looks of the module, unless nil
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
		root, err := rawfile.OpenDir(dir)
		if err != nil {
			return err
		}
		one := &jail{root: root, write: write, budget: b}
		if !write {
			one.observed = k.c.observed
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

// isHidden reports whether a name is that of a directory of bento or git. It ignores case, as some file
// systems do.
func isHidden(name string) bool {
	return strings.EqualFold(name, ".bento") || strings.EqualFold(name, ".git")
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
	for _, o := range [...]struct {
		from sys.Oflag
		to   int
	}{{sys.O_CREAT, os.O_CREATE}, {sys.O_EXCL, os.O_EXCL}, {sys.O_TRUNC, os.O_TRUNC}, {sys.O_APPEND, os.O_APPEND}} {
		if flag&o.from != 0 {
			mode |= o.to
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
	if name == "." && mode == os.O_RDONLY {
		j.observed.at(name)
		j.budget.open++
		return &file{f: j.root, name: ".", jail: j, dir: true}, 0
	}
	f, err := j.open(name, false, mode, perm)
	if rawfile.IsNotDir(err) && flag&sys.O_NOFOLLOW == 0 { // perhaps a link
		f, err = j.open(name, true, mode, perm)
	}
	if err != nil {
		return nil, errno(err)
	}
	if flag&sys.O_DIRECTORY != 0 && !f.dir {
		f.Close()
		return nil, sys.ENOTDIR
	}
	f.write, f.add = wants, flag&sys.O_APPEND != 0
	return f, 0
}

// open opens a name with the flags of package os, for follow also behind a link at its end.
func (j *jail) open(name string, follow bool, mode int, perm fs.FileMode) (*file, error) {
	p, err := j.resolve(name, follow)
	if err != nil {
		return nil, err
	}
	defer p.close()
	f, info, err := p.open(mode, perm&0o777)
	if err != nil {
		return nil, err
	}
	j.budget.open++
	return &file{f: f, name: p.at, jail: j, dir: info.IsDir()}, nil
}

func (b *budget) entry() sys.Errno {
	if b.entries++; b.entries > maxEntries {
		return sys.EIO
	}
	return 0
}

// spend subtracts n bytes that end at the offset end of a file.
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
	p, err := j.resolve(name, follow)
	if err != nil {
		return wasisys.Stat_t{}, errno(err)
	}
	defer p.close()
	info, err := p.dir.LstatAt(p.base)
	if err != nil {
		return wasisys.Stat_t{}, errno(err)
	}
	return statOf(info), 0
}

// statOf returns an Info as a module sees it. The time of the last access is not the module's business.
func statOf(i rawfile.Info) wasisys.Stat_t {
	modified := i.Modified.UnixNano()
	return wasisys.Stat_t{
		Dev: i.Disk(), Ino: i.Serial(), Mode: i.Mode, Nlink: i.Links(), Size: i.Size,
		Atim: modified, Mtim: modified, Ctim: i.Changed,
	}
}

// Readlink implements sys.FS.
func (j *jail) Readlink(name string) (string, sys.Errno) {
	p, err := j.resolve(name, false)
	if err != nil {
		return "", errno(err)
	}
	defer p.close()
	target, err := p.dir.ReadlinkAt(p.base)
	return target, errno(err)
}

// change changes the entry of a name, which may be missing.
func (j *jail) change(name string, do func(*place) error) sys.Errno {
	if !j.write {
		return sys.EROFS
	}
	p, err := j.resolve(name, false)
	if err != nil {
		return errno(err)
	}
	defer p.close()
	return errno(do(p))
}

// Mkdir implements sys.FS. WASI has no modes, so the directory gets the mode of any new one.
func (j *jail) Mkdir(name string, _ fs.FileMode) sys.Errno {
	if e := j.budget.entry(); j.write && e != 0 {
		return e
	}
	return j.change(name, func(p *place) error { return p.dir.MkdirAt(p.base, 0o777) })
}

// Rename implements sys.FS. Both names are in the same jail.
func (j *jail) Rename(from, to string) sys.Errno {
	return j.change(from, func(old *place) error {
		new, err := j.resolve(to, false)
		if err != nil {
			return err
		}
		defer new.close()
		return old.dir.RenameAt(old.base, new.dir, new.base)
	})
}

// Unlink implements sys.FS.
func (j *jail) Unlink(name string) sys.Errno { return j.remove(name, false, sys.EISDIR) }

// Rmdir implements sys.FS.
func (j *jail) Rmdir(name string) sys.Errno { return j.remove(name, true, sys.ENOTDIR) }

// remove removes an entry. It returns other if that is a directory, and dir is not set, or the reverse.
func (j *jail) remove(name string, dir bool, other sys.Errno) sys.Errno {
	return j.change(name, func(p *place) error {
		info, err := p.dir.LstatAt(p.base)
		if err == nil && info.IsDir() != dir {
			return other
		}
		return p.dir.RemoveAt(p.base, dir)
	})
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
	root, err := rawfile.OpenDir(k.c.Root)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	p, err := (&jail{root: root, observed: k.c.observed}).resolve(name, true)
	if err != nil {
		return nil, false
	}
	defer p.close()
	f, info, err := p.open(os.O_RDONLY, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if !info.Mode.IsRegular() || info.Size > maxFile {
		return nil, false
	}
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	return content, err == nil && len(content) <= maxFile
}
