// Package outer is what stands outside of a workspace's root and decides what is
// part of the workspace: ignore files above it and in .git, and git's list of the
// files that it tracks.
package outer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/git"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree/disk"
	"github.com/bentobuild/bento/internal/tree/ignore"
	"github.com/bentobuild/bento/internal/tree/table"
)

const ruleGit = "git_unreadable"

// Options are the inputs of Look.
type Options struct {
	Root  string     // of the workspace, absolute
	State *state.Dir // keeps what git was asked; nil keeps nothing
	Was   *table.Table
	// Warn is told what cannot be read. It may be called later, by the function
	// Tracked of the result.
	Warn func(diagnostics.Diagnostic)
}

// View is what was found. Without a repository it is empty.
type View struct {
	Rules *ignore.Rules
	// Tracked gives what git tracks below the root. It may be called concurrently.
	Tracked func() *git.Files
	Basis   table.Basis // digests of Rules and of what Tracked gives
	// Nested returns what lists the files that the repository tracks whose work tree
	// begins at dir, relative to the root. The list is read when it is first asked for.
	Nested func(dir string) func() *git.Files

	warn   func(diagnostics.Diagnostic)
	inRepo bool        // the root is part of a repository
	index  disk.Entry  // the file of git's list
	looked int64       // when, in nanoseconds since 1970
	failed atomic.Bool // a list could not be read
}

// Unsure reports whether a list of tracked files could not be read up to now.
func (v *View) Unsure() bool { return v.failed.Load() }

// unknown notes that nobody can tell what git tracks. One warning says it.
func (v *View) unknown(err error) {
	if v.failed.Swap(true) {
		return
	}
	v.warn(diagnostics.Diagnostic{
		Severity: diagnostics.Warning, Rule: ruleGit, Source: diagnostics.Source,
		Message: fmt.Sprintf("nobody can tell which files git tracks: %v; until that is mended no result is taken from the cache, and none is stored", err),
		Hint:    advice(err),
	})
}

// advice says what makes git's list readable.
func advice(err error) string {
	switch {
	case errors.Is(err, git.ErrMissing):
		return "install git, or write a plain index with git update-index --no-split-index and git sparse-checkout disable"
	case errors.Is(err, git.ErrNoRepo):
		return "bring the repository back to where it is named, or remove the file .git"
	case errors.Is(err, fs.ErrPermission):
		return "make .git and its index readable"
	case errors.Is(err, git.ErrOwner):
		return "git config --global --add safe.directory with the repository's directory has git trust it"
	}
	return "git status says what is wrong; a damaged index is made anew by removing .git/index and git reset"
}

// Look finds the repository and reads the ignore rules. The list of tracked files
// is read only if git has changed it since o.Was was written; else when somebody
// asks.
func Look(ctx context.Context, o Options) *View {
	v := &View{Tracked: func() *git.Files { return nil }, warn: o.Warn}
	ctx = context.WithoutCancel(ctx)
	v.Nested = func(dir string) func() *git.Files {
		return sync.OnceValue(func() *git.Files { return v.nested(ctx, filepath.Join(o.Root, filepath.FromSlash(dir))) })
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
	v.readRules(&o, repo, prefix)
	v.Tracked = sync.OnceValue(func() *git.Files {
		files, err := o.readTracked(ctx, repo)
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

// nested lists what the repository tracks whose work tree begins at top, if there is one.
func (v *View) nested(ctx context.Context, top string) *git.Files {
	repo, err := git.At(top)
	if repo == nil && (err == nil || errors.Is(err, git.ErrNoRepo) && !v.inRepo) {
		return nil // none, or this is a copy without any of its repositories
	}
	var files *git.Files
	if err == nil {
		var o Options // nothing is kept: the state has room for one list
		files, err = o.readTracked(ctx, repo)
	}
	if err != nil {
		v.unknown(err)
	}
	return files
}

// lookAtList finds out whether git tracks what it did when was was written.
func (v *View) lookAtList(repo *git.Repo, was *table.Table) {
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

// Git tells what the file of git's list was like, and by the clock whether that is
// to be relied on.
func (v *View) Git(clock *disk.Clock) table.Git {
	settled := v.index.Kind == disk.File && !v.failed.Load() && clock.Settled(&v.index, v.looked)
	return table.Git{Stamp: v.index.Stamp(), Settled: settled}
}

// NewList tells whether git's list need not be read next time because it was now.
func (v *View) NewList(was *table.Table, clock *disk.Clock) bool {
	return (!was.Git.Settled || was.Git.Stamp != v.index.Stamp()) && v.Git(clock).Settled
}

// readRules reads .git/info/exclude and the ignore files from the top level down
// to the directory above the root.
func (v *View) readRules(o *Options, repo *git.Repo, prefix string) {
	var texts state.Writer
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

func (o *Options) readRules(file string, stat func(string) (fs.FileInfo, error)) string {
	text, err := ReadRules(file, stat)
	if err != nil {
		o.warn(fmt.Sprintf("cannot read the ignore file %q", file), err)
	}
	return text
}

// ReadRules gives the text of an ignore file, "" when there is none. Stat is
// os.Stat if the file may be a link, else os.Lstat.
func ReadRules(file string, stat func(string) (fs.FileInfo, error)) (string, error) {
	if fi, err := stat(file); err != nil || !fi.Mode().IsRegular() {
		return "", nil
	}
	f, err := os.Open(file)
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

func (o *Options) warn(what string, err error) {
	o.Warn(diagnostics.Diagnostic{
		Severity: diagnostics.Warning, Rule: ruleGit, Source: diagnostics.Source,
		Message: fmt.Sprintf("%s: %v", what, err),
	})
}
