package outer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/bentobuild/bento/internal/git"
	"github.com/bentobuild/bento/internal/tree/disk"
)

// What git has answered is kept in the state, behind the stat of the index.
const (
	trackedName    = "tracked"
	trackedVersion = 1
	oldIndex       = 3 * time.Second // longer than any file system's clock takes to tick
)

// readTracked reads git's own list, or asks git where that is not enough.
func (o *Options) readTracked(ctx context.Context, repo *git.Repo) (*git.Files, error) {
	// A damaged index is not for git either: it reads what a cut one happens to hold.
	files, err := repo.Tracked()
	if !errors.Is(err, git.ErrUnread) {
		return files, err
	}
	index, err := disk.Stat(filepath.Split(repo.IndexFile()))
	if err != nil {
		return nil, err
	}
	key := fmt.Appendf(nil, "%d %d %d %d %d\n", index.Size, index.Mtime, index.Ctime, index.Ino, index.Dev)
	if list, ok := o.recall(key); ok {
		return git.ParseTracked(list)
	}
	list, err := repo.AskTracked(ctx)
	if err != nil {
		return nil, err
	}
	// An index that is just being written is asked about again next time.
	if o.State != nil && time.Since(time.Unix(0, index.Ctime)) > oldIndex {
		_ = o.State.Store(trackedName, trackedVersion, append(key, list...)) // costs a question
	}
	return git.ParseTracked(list)
}

func (o *Options) recall(key []byte) (list []byte, ok bool) {
	if o.State == nil {
		return nil, false
	}
	payload, err := o.State.Load(trackedName, trackedVersion)
	if err != nil {
		return nil, false
	}
	return bytes.CutPrefix(payload, key)
}
