package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/git"
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/ignore"
)

const ruleGit = "git_unreadable"

// consultGit finds the repository, reads the ignore rules that come from outside
// the root, and begins to read the list of tracked files. Without a repository,
// or with one that cannot be read, there are none of either.
func (t *Tree) consultGit(ctx context.Context) {
	t.tracked = func() *git.Files { return nil }
	repo, err := git.Open(t.root)
	prefix := ""
	if repo != nil && err == nil {
		prefix, err = repo.Prefix(t.root)
	}
	if err != nil {
		t.warn("cannot tell which git repository this is", err)
		return
	}
	if repo == nil {
		return
	}
	t.rules = t.outerRules(repo, prefix)
	begun := make(chan *git.Files, 1)
	go func() {
		files, err := t.readTracked(ctx, repo)
		if err != nil {
			t.warn("cannot tell which files git tracks, so that ignored ones are left out", err)
		}
		begun <- files.Below(prefix)
	}()
	t.tracked = sync.OnceValue(func() *git.Files { return <-begun })
}

// readTracked reads git's own list, or asks git where that is not enough.
func (t *Tree) readTracked(ctx context.Context, repo *git.Repo) (*git.Files, error) {
	files, err := repo.Tracked()
	if !errors.Is(err, git.ErrUnread) {
		return files, err
	}
	index, err := Stat(filepath.Split(repo.IndexFile()))
	if err != nil {
		return nil, err
	}
	key := fmt.Appendf(nil, "%d %d %d %d %d\n", index.Size, index.Mtime, index.Ctime, index.Ino, index.Dev)
	if list, ok := t.recallTracked(key); ok {
		return git.ParseTracked(list)
	}
	list, err := repo.AskTracked(ctx)
	if err != nil {
		return nil, err
	}
	// An index that is just being written is asked about again next time.
	if t.state != nil && time.Since(time.Unix(0, index.Ctime)) > oldIndex {
		_ = t.state.Store(trackedName, trackedVersion, append(key, list...)) // costs a question
	}
	return git.ParseTracked(list)
}

// What git has answered is kept in the state, behind the stat of the index.
const (
	trackedName    = "tracked"
	trackedVersion = 1
	oldIndex       = 3 * time.Second // longer than any file system's clock takes to tick
)

func (t *Tree) recallTracked(key []byte) (list []byte, ok bool) {
	if t.state == nil {
		return nil, false
	}
	payload, err := t.state.Load(trackedName, trackedVersion)
	if err != nil {
		return nil, false
	}
	return bytes.CutPrefix(payload, key)
}

// outerRules reads .git/info/exclude and the ignore files from the top level down
// to the directory above the root.
func (t *Tree) outerRules(repo *git.Repo, prefix string) *ignore.Rules {
	rules := (*ignore.Rules)(nil).WithAbove(prefix, t.readRules(repo.ExcludeFile(), os.Stat))
	for dir := ""; dir != prefix; {
		below := strings.TrimPrefix(prefix[len(dir):], "/")
		file := filepath.Join(repo.TopLevel(), filepath.FromSlash(dir), ignoreFile)
		rules = rules.WithAbove(below, t.readRules(file, os.Lstat)) // git follows no link there
		name, _, _ := strings.Cut(below, "/")
		dir = join(dir, name)
	}
	return rules
}

func (t *Tree) readRules(file string, stat func(string) (fs.FileInfo, error)) string {
	if fi, err := stat(file); err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(file)
	if err == nil {
		defer f.Close()
		var text string
		if text, err = disk.ReadRegular(f, ignore.MaxFile); err == nil {
			return text
		}
	}
	t.warn(fmt.Sprintf("cannot read the ignore file %q", file), disk.Bare(err))
	return ""
}

func (t *Tree) warn(what string, err error) {
	t.note(diagnostics.Diagnostic{
		Severity: diagnostics.Warning, Rule: ruleGit, Source: diagnostics.Source,
		Message: fmt.Sprintf("%s: %v", what, err),
	})
}

func (t *Tree) note(d diagnostics.Diagnostic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.problems = append(t.problems, d)
}
