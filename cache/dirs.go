package cache

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/owner"
	"github.com/bentobuild/bento/internal/rawfile"
)

// The two kinds of files. Each has its own directory.
const (
	records = iota
	blobs
	kinds
)

func nameOf(kind int) string { return [kinds]string{"records", "blobs"}[kind] }

// madeFile is the file that marks a directory of a format as made by bento.
const madeFile = "made-by-bento"

// format is the open directory of one format.
type format struct {
	*owndir.Dir
	kept   *kept
	signed atomic.Bool // madeFile exists
	fresh  atomic.Bool // this process made it, and nothing was counted in it yet
	tmp    atomic.Pointer[owndir.Dir]
	kinds  [kinds]atomic.Pointer[owndir.Dir]
	shards [kinds][shards]atomic.Pointer[owndir.Dir]
	// checked are the shards that are directories of a trusted owner.
	checked [kinds][shards]atomic.Bool
}

// kept are the directories that stay open while the store is in use.
type kept struct {
	mu   sync.Mutex
	list []*owndir.Dir
	room int // how many more may stay open
}

func newKept() *kept {
	return &kept{room: int(min(kinds*shards+8, rawfile.FileLimit()/4))}
}

// keep keeps d open if room is left.
func (k *kept) keep(d *owndir.Dir) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.room <= 0 {
		return false
	}
	k.room--
	k.list = append(k.list, d)
	return true
}

func (k *kept) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, d := range k.list {
		d.Close()
	}
	k.list = nil
}

// enter opens the directory in at, or else the one named name in from. The caller calls done when
// it no longer needs it.
func (k *kept) enter(at *atomic.Pointer[owndir.Dir], from *owndir.Dir, name string, make bool) (d *owndir.Dir, done func(), err error) {
	if d = at.Load(); d != nil {
		return d, func() {}, nil
	}
	if d, err = from.Enter(name, make); err != nil {
		return nil, nil, err
	}
	if k.keep(d) {
		at.Store(d) // a concurrent call has stored another one
		return d, func() {}, nil
	}
	return d, d.Close, nil
}

func (f *format) kind(kind int, make bool) (*owndir.Dir, func(), error) {
	return f.kept.enter(&f.kinds[kind], f.Dir, nameOf(kind), make)
}

func (f *format) shard(kind int, first byte, make bool) (*owndir.Dir, func(), error) {
	at := &f.shards[kind][first]
	if d := at.Load(); d != nil {
		return d, func() {}, nil
	}
	all, done, err := f.kind(kind, make)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	return f.kept.enter(at, all, hex.EncodeToString([]byte{first}), make)
}

func (f *format) temp(make bool) (*owndir.Dir, func(), error) {
	return f.kept.enter(&f.tmp, f.Dir, tmpDir, make)
}

// with calls do with the directory of the current format. It returns fs.ErrNotExist when the
// directory is missing and make is false.
func (s *Disk) with(make bool, do func(*format) error) error {
	defer runtime.KeepAlive(s) // the finalizer of s closes the directories
	f, err := s.current(make)
	if err == nil && make {
		err = f.mark()
	}
	if err != nil {
		return err
	}
	return do(f)
}

// Ahead opens the directories that Record needs for key, and makes missing ones, so that Record takes less
// time. It reports no error: Record does.
func (s *Disk) Ahead(key Key) {
	_ = s.with(true, func(f *format) error {
		for _, enter := range []func() (*owndir.Dir, func(), error){
			func() (*owndir.Dir, func(), error) { return f.temp(true) },
			func() (*owndir.Dir, func(), error) { return f.shard(records, key[0], true) },
		} {
			_, done, err := enter()
			if err != nil {
				return err
			}
			done()
		}
		return nil
	})
}

// current returns the current format. After a first look, a missing directory costs one call of the
// system for each file.
func (s *Disk) current(make bool) (*format, error) {
	if f := s.newest.Load(); f != nil {
		return f, nil
	}
	if !make && s.absent.Load() {
		if _, err := os.Lstat(s.Dir()); errors.Is(err, fs.ErrNotExist) {
			return nil, fs.ErrNotExist
		}
	}
	f, err := s.openCurrent(make)
	s.absent.Store(errors.Is(err, fs.ErrNotExist))
	if err != nil {
		return nil, err
	}
	if !s.newest.CompareAndSwap(nil, f) {
		f.Close()
		return s.newest.Load(), nil
	}
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	s.kept.list = append(s.kept.list, f.Dir)
	return f, nil
}

func (s *Disk) openCurrent(make bool) (*format, error) {
	base, err := s.open(make)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	return openFormat(base, formatDir, s.kept, make)
}

// in calls do with the directory of a file and the name of the file in it.
func (s *Disk) in(kind int, sum [32]byte, make bool, do func(dir *owndir.Dir, name string) error) error {
	return s.with(make, func(f *format) error {
		dir, done, err := f.shard(kind, sum[0], make)
		if err != nil {
			return err
		}
		defer done()
		var name [2 * (len(sum) - 1)]byte
		hex.Encode(name[:], sum[1:])
		return do(dir, string(name[:]))
	})
}

// open opens the directory that contains all formats.
func (s *Disk) open(make bool) (*owndir.Dir, error) {
	if root, rel, ok := owndir.Within(s.root, s.base); ok {
		trusted := owner.Of(root)
		top, err := owndir.Open(root, &trusted)
		if err != nil {
			return nil, err
		}
		defer top.Close()
		return top.Below(rel, make)
	}
	d, err := owndir.Open(s.base, nil)
	if make && errors.Is(err, fs.ErrNotExist) {
		if err = rawfile.MkdirAll(s.base, 0o777); err == nil {
			d, err = owndir.Open(s.base, nil)
		}
	}
	if err != nil || !s.unnamed {
		return d, err
	}
	if err = d.CheckOwner(owner.Trusted{}); err != nil {
		err = d.CheckOwner(owner.Of(s.root)) // CheckOwner costs one more stat
	}
	if err == nil {
		return d, nil
	}
	d.Close()
	var refused *DirError
	if errors.As(err, &refused) {
		refused.Hint = "the owner of a cache controls what is restored from it; set $BENTO_CACHE_DIR to another directory, or to this one if you trust its owner"
	}
	return nil, err
}

// openFormat opens the directory of a format. It returns a *DirError for a directory that is no
// format.
func openFormat(base *owndir.Dir, name string, k *kept, make bool) (*format, error) {
	d, err := base.Enter(name, make)
	if err != nil {
		return nil, err
	}
	f := &format{Dir: d, kept: k}
	if err := f.check(); err != nil {
		d.Close()
		return nil, err
	}
	return f, nil
}

// check returns a *DirError unless bento made the directory. It recognizes directories from
// before madeFile by their content.
func (f *format) check() error {
	for _, name := range []string{nameOf(records), nameOf(blobs), tmpDir} {
		if err := f.Check(name); err != nil {
			return err
		}
	}
	if f.marked() {
		return nil
	}
	if err := f.only("", isOfFormat); err != nil {
		return err
	}
	for _, kind := range []string{nameOf(records), nameOf(blobs)} {
		if err := f.only(kind, isShard); err != nil {
			return err
		}
	}
	return f.only(tmpDir, owndir.IsRandomName)
}

func (f *format) marked() bool {
	info, err := f.Stat(madeFile)
	return err == nil && info.Mode.IsRegular()
}

func (f *format) mark() error {
	if f.signed.Load() || f.marked() {
		f.signed.Store(true)
		return nil
	}
	file, err := f.Create(madeFile, 0o444)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	names, err := f.Names()
	f.fresh.Store(err == nil && !slices.ContainsFunc(names, func(e fs.DirEntry) bool { return !isNote(e.Name()) && e.Name() != tmpDir }))
	return file.Close()
}

// only returns a *DirError for a directory with names other than the known ones.
func (f *format) only(name string, known func(string) bool) error {
	dir := f.Dir
	if name != "" {
		var err error
		if dir, err = f.Enter(name, false); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		defer dir.Close()
	}
	entries, err := dir.Names()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !known(e.Name()) {
			return &DirError{
				Path: dir.Path(), Reason: "it contains \"" + e.Name() + "\", which is no file of a cache", Wanted: "a cache that bento has made, or no such directory",
				Hint: "set $BENTO_CACHE_DIR to another directory",
			}
		}
	}
	return nil
}

func isOfFormat(name string) bool {
	return slices.Contains([]string{nameOf(records), nameOf(blobs), tmpDir}, name) || isNote(name)
}

// notes are the files of a format beside its entries; "whole" is from older formats.
func notes() []string { return []string{pruneLock, tallyFile, usedFile, "whole", madeFile} }

func isNote(name string) bool { return slices.Contains(notes(), name) }

func isShard(name string) bool {
	b, err := hex.DecodeString(name)
	return err == nil && len(b) == 1 && name == strings.ToLower(name)
}

// CheckWritable returns the error of making a file in the store if it is known beforehand. It makes
// nothing.
func (s *Disk) CheckWritable() error {
	for at := s.base; ; at = filepath.Dir(at) {
		dir, err := rawfile.OpenDir(at)
		if errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at) {
			continue
		}
		if err == nil {
			err = dir.Writable()
			_ = dir.Close()
		}
		return err
	}
}
