package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/git"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/rawfile"
	"github.com/bentobuild/bento/internal/stat"
)

// The file with what bento knows of git's index. A repository cannot contain a valid one: checking out an index that
// lists the file changes the index's inode number and times, which its author cannot know.
const (
	trackedFile    = "tracked"
	trackedVersion = 4
)

// indexKnown is what bento knows of an index of git.
type indexKnown struct {
	Index string   // the stat of the index
	Free  []string // directories in which git tracks no file
	List  string   // git's answer, "" if the index needs none or is so new that it may change without another stat
}

// vouch returns a *RefusedError if git tracks a file in the directory: then the directory is from the
// repository, and bento has not made it.
func (d *Dir) vouch(ctx context.Context, self *owndir.Dir) error {
	info, err := self.Stat(".")
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refused != nil || d.known && rawfile.Same(d.vouched, info) {
		return d.refused
	}
	if d.refused = d.untracked(ctx, self, Name); d.refused != nil {
		return d.refused
	}
	d.vouched, d.known = info, true
	return nil
}

// Untracked returns a *RefusedError when git tracks a file in the directory rel of the workspace.
func (d *Dir) Untracked(ctx context.Context, rel string) error {
	self, err := d.self(ctx, false)
	if err != nil {
		self = nil // without saved answers each call asks git
	} else {
		defer self.Close()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.untracked(ctx, self, rel)
}

// untracked is Untracked with the directory of the state, which may be nil. It ignores errors: the callers
// that need the whole index report them.
func (d *Dir) untracked(ctx context.Context, self *owndir.Dir, rel string) error {
	repo, err := git.Open(d.root)
	if repo == nil || err != nil {
		return nil
	}
	prefix, err := repo.Prefix(d.root)
	if err != nil {
		return nil
	}
	index, err := openIndex(self, repo)
	if err != nil || slices.Contains(index.Free, rel) {
		return nil
	}
	files, err := index.files(ctx)
	if err != nil {
		return nil
	}
	if path, found := firstIn(files.Below(prefix), rel); found {
		return &RefusedError{
			Path: filepath.Join(d.root, filepath.FromSlash(rel)), Reason: fmt.Sprintf("git tracks %q", path),
			Wanted: "a directory that bento has made and in which git tracks no file",
			Hint:   "remove it from the repository and from the disk: git rm -r -f -- " + rel,
		}
	}
	index.Free = append(index.Free, rel)
	index.save()
	return nil
}

// Tracked returns the paths that git tracks in the repository of the workspace. If only git can read the index,
// Tracked asks git, and remembers the answer until the index changes. A nil Dir remembers nothing.
func (d *Dir) Tracked(ctx context.Context, repo *git.Repo) (*git.Files, error) {
	files, err := repo.Tracked()
	if !errors.Is(err, git.ErrUnread) {
		return files, err // for a damaged index git would list only the entries that are left
	}
	var self *owndir.Dir
	if d != nil {
		if self, err = d.self(ctx, false); err == nil {
			defer self.Close()
		}
	}
	index, err := openIndex(self, repo)
	if err != nil {
		return nil, err
	}
	known := index.List
	if files, err = index.files(ctx); err == nil && index.List != known {
		index.save()
	}
	return files, err
}

// gitIndex is an index of git.
type gitIndex struct {
	indexKnown
	self  *owndir.Dir // the directory of the state, nil for none
	repo  *git.Repo
	isOld bool
}

// oldIndex is longer than the clock tick of any file system.
const oldIndex = 3 * time.Second

func openIndex(self *owndir.Dir, repo *git.Repo) (*gitIndex, error) {
	fi, err := os.Lstat(repo.IndexFile())
	if err != nil {
		return nil, err
	}
	index := &gitIndex{self: self, repo: repo, isOld: time.Since(stat.Changed(fi)) > oldIndex}
	if self != nil {
		payload, _ := load(self, trackedFile, trackedFile, trackedVersion, 0) // without, nothing is known
		if pack.Unmarshal(payload, &index.indexKnown) != nil {
			index.indexKnown = indexKnown{}
		}
	}
	if now := stat.Text(fi); index.Index != now {
		index.indexKnown = indexKnown{Index: now}
	}
	return index, nil
}

// files returns the paths in the index.
func (x *gitIndex) files(ctx context.Context) (*git.Files, error) {
	files, err := x.repo.Tracked()
	if !errors.Is(err, git.ErrUnread) {
		return files, err
	}
	list := []byte(x.List)
	if len(list) == 0 {
		if list, err = x.repo.AskTracked(ctx); err != nil {
			return nil, err
		}
		if x.isOld {
			x.List = string(list)
		}
	}
	return git.ParseTracked(list)
}

// save writes what is known. After an error, the next invocation reads the index again.
func (x *gitIndex) save() {
	if x.self != nil {
		_ = store(x.self, trackedFile, trackedFile, trackedVersion, pack.Marshal(x.indexKnown))
	}
}

// firstIn returns the first file in the directory rel, at its place, or at the place of a parent.
// It ignores case, since .BENTO is the same directory on many systems.
func firstIn(files *git.Files, rel string) (path string, found bool) {
	for i := range files.Len() {
		path := files.Path(i)
		short := min(len(path), len(rel))
		if strings.EqualFold(path[:short], rel[:short]) && isElement(path, short) && isElement(rel, short) {
			return path, true
		}
	}
	return "", false
}

// isElement reports whether an element of the path ends after n bytes.
func isElement(path string, n int) bool { return len(path) == n || path[n] == '/' }
