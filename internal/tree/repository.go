package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/git"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/ignore"
)

const ruleGit = "git_unreadable"

// repositoryOptions are the inputs of lookOutside.
type repositoryOptions struct {
	Root  string     // of the workspace, absolute
	State *state.Dir // saves answers of git; nil saves nothing
	Was   *indexTable
	Out   []string // bento's own directories below the root, with forward slashes
	// Warn receives problems. Tracked of the result may call it later.
	Warn func(diagnostics.Diagnostic)
}

// repositoryView is the repository around the workspace. It is empty without one.
type repositoryView struct {
	Rules *ignore.Rules
	// Tracked returns the files that git tracks below the root. It may be called concurrently.
	Tracked func() *git.Files
	Basis   tableRules // digests of Rules and of the result of Tracked
	// Nested returns a function for the tracked files of the repository whose work tree starts at
	// dir, relative to the root. That function reads the list on first use.
	Nested func(dir string) func() *git.Files
	// Linked reports whether a linked work tree of a repository starts at dir, relative to the
	// root.
	Linked func(dir string) bool

	warn   func(diagnostics.Diagnostic)
	inRepo bool        // the root is part of a repository
	index  disk.Entry  // the file of git's index
	looked int64       // time of its stat, in nanoseconds since 1970
	failed atomic.Bool // an index could not be read
}

// Unsure reports whether an index could not be read so far.
func (v *repositoryView) Unsure() bool { return v.failed.Load() }

// unknown records that the tracked files are unknown, with one warning.
func (v *repositoryView) unknown(err error) {
	if v.failed.Swap(true) {
		return
	}
	v.warn(diagnostics.Pos{}.Warning(ruleGit, "the files that git tracks are unknown: %v; bento restores and stores no result until this is fixed", err).WithHint(advice(err)))
}

// advice returns the hint that makes git's index readable.
func advice(err error) string {
	switch {
	case errors.Is(err, git.ErrMissing):
		return "install git, or write a plain index with git update-index --no-split-index and git sparse-checkout disable"
	case errors.Is(err, git.ErrNoRepo):
		return "move the repository back to the path in .git, or remove the file .git"
	case errors.Is(err, fs.ErrPermission):
		return "make .git and its index readable"
	case errors.Is(err, git.ErrOwner):
		return "let git trust it: git config --global --add safe.directory with the repository's directory"
	}
	return "run git status; replace a damaged index by removing .git/index and running git reset"
}

// lookOutside finds the repository and reads the ignore rules. It reads git's index at once only if
// that has changed since o.Was was written; otherwise the first use reads it.
func lookOutside(ctx context.Context, o repositoryOptions) *repositoryView {
	v := readOutside(ctx, &o)
	if len(o.Out) > 0 {
		v.Rules = v.Rules.Without(o.Out)
		v.Basis.Rules = blake3.Sum256(fmt.Appendf(v.Basis.Rules[:], "%q", o.Out))
	}
	return v
}

func readOutside(ctx context.Context, o *repositoryOptions) *repositoryView {
	v := &repositoryView{Tracked: func() *git.Files { return nil }, warn: o.Warn}
	ctx = context.WithoutCancel(ctx)
	v.Nested = func(dir string) func() *git.Files {
		return sync.OnceValue(func() *git.Files { return v.nested(ctx, filepath.Join(o.Root, filepath.FromSlash(dir))) })
	}
	v.Linked = func(dir string) bool {
		repo, err := git.At(filepath.Join(o.Root, filepath.FromSlash(dir)))
		return err == nil && repo != nil && repo.Linked()
	}
	repo, err := git.Open(o.Root)
	prefix := ""
	if repo != nil && err == nil {
		prefix, err = repo.Prefix(o.Root)
	}
	if err != nil {
		v.unknown(err)
		return v
	}
	if repo == nil {
		return v
	}
	v.inRepo = true
	v.readRules(o, repo, prefix)
	v.Tracked = sync.OnceValue(func() *git.Files {
		files, err := o.State.Tracked(ctx, repo)
		if err != nil && ctx.Err() != nil {
			v.failed.Store(true)
		} else if err != nil {
			v.unknown(err)
		}
		return files.Below(prefix)
	})
	v.lookAtList(repo, o.Was)
	return v
}

// nested returns the tracked files of the repository whose work tree starts at top, if there is
// one.
func (v *repositoryView) nested(ctx context.Context, top string) *git.Files {
	repo, err := git.At(top)
	if repo == nil && (err == nil || errors.Is(err, git.ErrNoRepo) && !v.inRepo) {
		return nil // no repository, or a copy without its .git
	}
	var files *git.Files
	if err == nil {
		var none *state.Dir // it has room for one index
		files, err = none.Tracked(ctx, repo)
	}
	if err != nil {
		v.unknown(err)
	}
	return files
}

// lookAtList determines whether git's index has changed since was was written.
func (v *repositoryView) lookAtList(repo *git.Repo, was *indexTable) {
	v.looked = time.Now().UnixNano()
	index, err := disk.Stat(filepath.Split(repo.IndexFile()))
	if err == nil {
		v.index = index
	}
	if err == nil && was.Git.Settled && index.Stamp() == was.Git.Stamp {
		v.Basis.Tracked = was.Basis.Tracked
		return
	}
	v.Basis.Tracked = v.Tracked().Digest()
}

// Git returns the stat of git's index, and whether it is reliable by the clock.
func (v *repositoryView) Git(clock *disk.Clock) tableGit {
	settled := v.index.Kind == disk.File && !v.failed.Load() && clock.Settled(&v.index, v.looked)
	return tableGit{Stamp: v.index.Stamp(), Settled: settled}
}

// NewList reports whether git's index was read now and need not be read next time.
func (v *repositoryView) NewList(was *indexTable, clock *disk.Clock) bool {
	return (!was.Git.Settled || was.Git.Stamp != v.index.Stamp()) && v.Git(clock).Settled
}

// readRules reads .git/info/exclude and the ignore files from the top level down to the parent of
// the root.
func (v *repositoryView) readRules(o *repositoryOptions, repo *git.Repo, prefix string) {
	var texts pack.Writer
	add := func(below, file string, text string) {
		v.Rules = v.Rules.WithAbove(below, file, text)
		texts.String(below)
		texts.String(text)
	}
	add(prefix, repo.ExcludeFile(), o.readRules(repo.ExcludeFile(), os.Stat))
	for dir := ""; dir != prefix; {
		below := strings.TrimPrefix(prefix[len(dir):], "/")
		file := filepath.Join(repo.TopLevel(), filepath.FromSlash(dir), ignore.File)
		add(below, file, o.readRules(file, os.Lstat)) // git follows no link there
		name, _, _ := strings.Cut(below, "/")
		dir = strings.TrimPrefix(dir+"/"+name, "/")
	}
	v.Basis.Rules = blake3.Sum256(texts.Payload())
}

func (o *repositoryOptions) readRules(file string, stat func(string) (fs.FileInfo, error)) string {
	text, err := readRules(file, stat)
	if err != nil {
		o.warn(fmt.Sprintf("cannot read the ignore file %q", file), err)
	}
	return text
}

// readRules returns the text of an ignore file, "" when it is missing. stat is os.Stat if the file
// may be a link, else os.Lstat.
func readRules(file string, stat func(string) (fs.FileInfo, error)) (string, error) {
	if fi, err := stat(file); err != nil || !fi.Mode().IsRegular() {
		return "", nil
	}
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return "", disk.Bare(err)
	}
	defer f.Close()
	text, err := disk.ReadRegular(f, ignore.MaxFile)
	if err != nil {
		return "", disk.Bare(err)
	}
	return text, nil
}

func (o *repositoryOptions) warn(what string, err error) {
	o.Warn(diagnostics.Pos{}.Warning(ruleGit, "%s: %v", what, err))
}

// AbsentSubmodules returns the paths of the submodules of the root's repository that are not checked out,
// sorted. It looks at the disk.
func (t *Tree) AbsentSubmodules() []string {
	return slices.DeleteFunc(t.outer.Tracked().Links(), func(p string) bool {
		_, err := os.Lstat(filepath.Join(t.root, filepath.FromSlash(p), ".git"))
		return !errors.Is(err, fs.ErrNotExist)
	})
}
