package cache

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

// stock is the content of a store in all formats.
type stock struct {
	base    *owndir.Dir
	all     []*format // the current format first, if it exists
	others  []*format
	current *format
}

// stock opens the directories of all existing formats. It skips directories that bento did not
// make.
func (s *Disk) stock() (*stock, error) {
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
		if numberOf(e.Name()) < 0 || e.Name() == formatDir {
			continue
		}
		if f, err := openFormat(base, e.Name(), &kept{}, false); err == nil {
			st.others = append(st.others, f)
		}
	}
	st.all = append(st.all, st.others...)
	return st, nil
}

// numberOf returns the number of the format in the directory name, or -1.
func numberOf(name string) int {
	digits, ok := strings.CutPrefix(name, "v")
	n, err := strconv.ParseUint(digits, 10, 16)
	if !ok || err != nil {
		return -1
	}
	return int(n)
}

// older returns the formats older than the current one.
func (st *stock) older() (list []*format) {
	for _, f := range st.others {
		if numberOf(filepath.Base(f.Path())) < numberOf(formatDir) {
			list = append(list, f)
		}
	}
	return list
}

func (st *stock) close() {
	for _, f := range st.others {
		f.Close()
	}
	if st.base != nil {
		st.base.Close()
	}
}

// sweep removes the empty directories of other formats.
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

// sweep removes the directory of a format that contains only empty shards.
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

// pruneLock is the lock of a process that prunes or writes the tally.
const pruneLock = "prune.lock"

// lockWait is the longest wait for another process that prunes; lockPause is the time between two
// attempts, lockTold the wait after which the store reports it.
const (
	lockWait  = 10 * time.Second
	lockPause = 5 * time.Millisecond
	lockTold  = time.Second
)

// lockPruning waits for another process that prunes, at most lockWait: two at a time do no harm. It
// returns the error of ctx.
func (s *Disk) lockPruning(ctx context.Context) (unlock func(), err error) {
	var file *rawfile.File
	var own bool
	err = s.with(false, func(f *format) (err error) {
		file, own, err = f.Update(pruneLock, f.SharedMode())
		return err
	})
	if err != nil {
		return func() {}, nil // the directory is missing or read-only
	}
	warned := s.waiting == nil
	for start := time.Now(); own; {
		if err := file.TryLock(); !errors.Is(err, rawfile.ErrLocked) || time.Since(start) > lockWait {
			break
		}
		if !warned && time.Since(start) > lockTold {
			warned = true
			s.waiting(file.Name())
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

// FormatDirs returns the directories below dir, a slash-separated path, in which a cache of
// this format or of an earlier one keeps everything, even if they do not exist.
func FormatDirs(dir string) (list []string) {
	for n := 1; n <= numberOf(formatDir); n++ {
		list = append(list, dir+"/v"+strconv.Itoa(n))
	}
	return list
}
