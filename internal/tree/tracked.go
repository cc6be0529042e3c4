package tree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bentobuild/bento/internal/git"
	"github.com/bentobuild/bento/internal/stat"
)

// The file that saves git's answer, for the stat of git's index.
const (
	trackedName    = "tracked"
	trackedVersion = 2
	oldIndex       = 3 * time.Second // longer than the clock tick of any file system
)

// readTracked reads git's index, or asks git if the index alone is not enough.
func (o *repositoryOptions) readTracked(ctx context.Context, repo *git.Repo) (*git.Files, error) {
	// For a damaged index git must not be asked either: it would list only the entries that are left.
	files, err := repo.Tracked()
	if !errors.Is(err, git.ErrUnread) {
		return files, err
	}
	index, err := os.Lstat(repo.IndexFile())
	if err != nil {
		return nil, err
	}
	key := []byte(stat.Text(index) + "\n")
	if list, ok := o.recall(key); ok {
		return git.ParseTracked(list)
	}
	list, err := repo.AskTracked(ctx)
	if err != nil {
		return nil, err
	}
	// The answer for an index that is just being written is not saved.
	if o.State != nil && time.Since(stat.Changed(index)) > oldIndex {
		_ = o.State.Store(trackedName, trackedVersion, append(key, list...)) // after an error the next run asks git again
	}
	return git.ParseTracked(list)
}

func (o *repositoryOptions) recall(key []byte) (list []byte, ok bool) {
	if o.State == nil {
		return nil, false
	}
	payload, err := o.State.Load(trackedName, trackedVersion)
	if err != nil {
		return nil, false
	}
	return bytes.CutPrefix(payload, key)
}

// AbsentSubmodules returns the paths of the submodules of the root's repository that are not checked out,
// sorted. It looks at the disk.
func (t *Tree) AbsentSubmodules() []string {
	return slices.DeleteFunc(t.outer.Tracked().Links(), func(p string) bool {
		_, err := os.Lstat(filepath.Join(t.root, filepath.FromSlash(p), ".git"))
		return !errors.Is(err, fs.ErrNotExist)
	})
}
