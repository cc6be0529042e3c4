package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/git"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/rawfile"
	"github.com/bentobuild/bento/internal/stat"
)

// The file that records, with the stat of git's index, the directories in which git tracks no file. A
// repository cannot contain a valid one: checking out an index that lists the file changes the
// index's inode number and times, which its author cannot know.
const (
	untrackedFile    = "untracked"
	untrackedVersion = 2
)

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

// untracked is Untracked with the directory of saved answers, which may be nil. It ignores errors:
// the callers that need the whole index report them.
func (d *Dir) untracked(ctx context.Context, self *owndir.Dir, rel string) error {
	repo, err := git.Open(d.root)
	if repo == nil || err != nil {
		return nil
	}
	prefix, err := repo.Prefix(d.root)
	if err != nil {
		return nil
	}
	index, err := os.Lstat(repo.IndexFile())
	if err != nil {
		return nil
	}
	stamp := stat.Text(index) + "\n"
	known := recall(self, stamp)
	if slices.Contains(known, rel) {
		return nil
	}
	files, err := repo.Tracked()
	if errors.Is(err, git.ErrUnread) {
		var list []byte
		if list, err = repo.AskTracked(ctx); err == nil {
			files, err = git.ParseTracked(list)
		}
	}
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
	remember(self, stamp, append(known, rel))
	return nil
}

// recall returns the directories in which git tracked nothing at the last question.
func recall(self *owndir.Dir, stamp string) []string {
	if self == nil {
		return nil
	}
	kept, err := load(self, untrackedFile, untrackedFile, untrackedVersion, 0)
	if err != nil {
		return nil
	}
	return decodeUntracked(kept, stamp)
}

// decodeUntracked returns the directories in a payload, none if it is invalid or has another stamp.
func decodeUntracked(payload []byte, stamp string) []string {
	list, ok := bytes.CutPrefix(payload, []byte(stamp))
	if !ok {
		return nil
	}
	r := pack.NewReader(list)
	dirs := r.Strings()
	if r.End() != nil {
		return nil
	}
	return dirs
}

// encodeUntracked returns the payload of decodeUntracked.
func encodeUntracked(stamp string, dirs []string) []byte {
	var w pack.Writer
	w.Raw([]byte(stamp))
	w.Strings(dirs)
	return w.Payload()
}

func remember(self *owndir.Dir, stamp string, dirs []string) {
	if self == nil {
		return
	}
	_ = store(self, untrackedFile, untrackedFile, untrackedVersion, encodeUntracked(stamp, dirs)) // an error costs another read of the index
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
