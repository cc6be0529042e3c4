package shelf

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
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
		if f.only("", isNote) != nil {
			continue
		}
		for _, name := range notes() {
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

// pruneLock is locked by a process that prunes, or notes what it has added.
const pruneLock = "prune.lock"

// lockWait is how long a process waits for another that prunes, lockPause how long
// between two looks.
const (
	lockWait  = 10 * time.Second
	lockPause = 5 * time.Millisecond
)

// lockPruning waits until no other process prunes, but not for ever: two at a time do no
// harm. The error is that of ctx.
func (s *Shelf) lockPruning(ctx context.Context) (unlock func(), err error) {
	var file *rawfile.File
	var own bool
	err = s.with(false, func(f *format) (err error) {
		file, own, err = f.Update(pruneLock)
		return err
	})
	if err != nil {
		return func() {}, nil // a directory that is missing, or that cannot be written
	}
	for until := time.Now().Add(lockWait); own; {
		if err := file.TryLock(); !errors.Is(err, rawfile.ErrLocked) || time.Now().After(until) {
			break
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, context.Cause(ctx)
		case <-time.After(lockPause):
		}
	}
	return func() { file.Close() }, nil
}
