package shelf

import (
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache/rawfile"
)

// formats gives the directories of all formats that there are, the current one
// first.
func (s *Shelf) formats() []string {
	dirs := []string{s.dir}
	entries, _ := os.ReadDir(s.base)
	for _, e := range entries {
		if n, ok := strings.CutPrefix(e.Name(), "v"); ok && e.IsDir() && e.Name() != formatDir {
			if _, err := strconv.ParseUint(n, 10, 16); err == nil {
				dirs = append(dirs, filepath.Join(s.base, e.Name()))
			}
		}
	}
	return dirs
}

// sweepFormats removes the directories of formats that hold nothing any more.
func sweepFormats(dirs []string) {
	for _, dir := range dirs {
		for _, kind := range []string{recordsDir, blobsDir, tmpDir} {
			for i := range shards {
				_ = os.Remove(filepath.Join(dir, kind, hex.EncodeToString([]byte{byte(i)})))
			}
			_ = os.Remove(filepath.Join(dir, kind))
		}
		_ = os.Remove(filepath.Join(dir, pruneLock))
		_ = os.Remove(filepath.Join(dir, wholeFile))
		_ = os.Remove(dir)
	}
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
	info, err := rawfile.Lstat(filepath.Join(s.dir, pruneLock))
	age := time.Since(info.Modified)
	return err != nil || age < 0 || age > pruneAge || s.added.Load() >= b.MaxSize/pruneShare
}

// pruned notes what Prune has found.
func (s *Shelf) pruned(n Removed) {
	at := time.Now()
	if n != (Removed{}) {
		at = time.Unix(0, 0)
	}
	_ = rawfile.Touch(filepath.Join(s.dir, pruneLock), at)
}

// lockPruning gives nil, and no error, when another prunes and ctx has a deadline:
// then nothing is to be done. Without a deadline two at a time do no harm.
func (s *Shelf) lockPruning(ctx context.Context) (unlock func(), err error) {
	unlock, locked, err := rawfile.TryLock(filepath.Join(s.dir, pruneLock))
	if _, hurried := ctx.Deadline(); locked && hurried {
		return nil, nil
	}
	if err != nil || locked {
		return func() {}, nil // a directory that is missing, or that cannot be written
	}
	return unlock, nil
}
