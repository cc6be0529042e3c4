package shelf

import (
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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

// pruneLock is locked by who prunes.
const pruneLock = "prune.lock"

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
