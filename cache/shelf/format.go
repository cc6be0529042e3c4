package shelf

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// stock is all that a shelf holds, of every format.
type stock struct {
	base    *owndir.Dir
	all     []*format // the current one first, if it is there
	others  []*format
	current *format
}

// stock opens the directories of all formats that there are. A directory that another
// has made is none.
func (s *Shelf) stock() (*stock, error) {
	base, err := s.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return &stock{}, nil
	}
	if err != nil {
		return nil, err
	}
	st := &stock{base: base}
	if st.current, err = s.current(false); err == nil {
		st.all = append(st.all, st.current)
	} else if !errors.Is(err, fs.ErrNotExist) {
		base.Close()
		return nil, err
	}
	entries, _ := base.Names()
	for _, e := range entries {
		n, ok := strings.CutPrefix(e.Name(), "v")
		if _, err := strconv.ParseUint(n, 10, 16); !ok || err != nil || e.Name() == formatDir {
			continue
		}
		if f, err := openFormat(base, e.Name(), &kept{}, false); err == nil {
			st.others = append(st.others, f)
		}
	}
	st.all = append(st.all, st.others...)
	return st, nil
}

func (st *stock) close() {
	for _, f := range st.others {
		f.Close()
	}
	if st.base != nil {
		st.base.Close()
	}
}

// sweep removes the directories of other formats that hold nothing any more.
func (st *stock) sweep() {
	for _, f := range st.others {
		for _, name := range []string{nameOf(records), nameOf(blobs), tmpDir} {
			f.sweep(name)
		}
		if f.only("", func(name string) bool { return slices.Contains([]string{pruneLock, wholeFile, madeFile}, name) }) != nil {
			continue
		}
		for _, name := range []string{pruneLock, wholeFile, madeFile} {
			_ = f.Remove(name)
		}
		_ = st.base.RemoveEmpty(filepath.Base(f.Path()))
	}
}

// sweep removes a directory of a format if it holds nothing but empty shards.
func (f *format) sweep(name string) {
	dir, err := f.Enter(name, false)
	if err != nil {
		return
	}
	for i := range shards {
		_ = dir.RemoveEmpty(hex.EncodeToString([]byte{byte(i)}))
	}
	dir.Close()
	_ = f.RemoveEmpty(name)
}

// pruneLock is locked by who prunes. It was modified when somebody found that there
// was nothing to prune; long ago when there was.
const pruneLock = "prune.lock"

// A shelf that was found to be within its bounds is not looked at again for pruneAge,
// unless one process adds a share of pruneShare to it.
const (
	pruneAge   = time.Minute
	pruneShare = 1000
)

// Due tells whether Prune may find something to do.
func (s *Shelf) Due(b Bounds) bool {
	var info rawfile.Info
	err := s.with(false, func(f *format) (err error) {
		info, err = f.Stat(pruneLock)
		return err
	})
	age := time.Since(info.Modified)
	return err != nil || age < 0 || age > pruneAge || s.added.Load() >= b.MaxSize/pruneShare
}

// pruned notes what Prune has found.
func (s *Shelf) pruned(n Removed) {
	at := time.Now()
	if n != (Removed{}) {
		at = time.Unix(0, 0)
	}
	_ = s.with(false, func(f *format) error {
		f.Touch(pruneLock, at)
		return nil
	})
}

// lockPruning gives nil, and no error, when another prunes and ctx has a deadline:
// then nothing is to be done. Without a deadline two at a time do no harm.
func (s *Shelf) lockPruning(ctx context.Context) (unlock func(), err error) {
	var file *rawfile.File
	err = s.with(false, func(f *format) (err error) {
		file, _, err = f.Update(pruneLock)
		return err
	})
	if err != nil {
		return func() {}, nil // a directory that is missing, or that cannot be written
	}
	err = file.TryLock()
	if _, hurried := ctx.Deadline(); errors.Is(err, rawfile.ErrLocked) && hurried {
		file.Close()
		return nil, nil
	}
	return func() { file.Close() }, nil
}
