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
		for _, name := range []string{pruneLock, tallyFile, "whole"} { // the last is of older formats
			_ = os.Remove(filepath.Join(dir, name))
		}
		_ = os.Remove(dir)
	}
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
	for until := time.Now().Add(lockWait); ; {
		unlock, locked, err := rawfile.TryLock(filepath.Join(s.dir, pruneLock))
		switch {
		case err == nil && !locked:
			return unlock, nil
		case !locked, time.Now().After(until):
			return func() {}, nil // a directory that is missing, or that cannot be written
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockPause):
		}
	}
}
