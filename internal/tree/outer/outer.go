// Package outer is what stands outside of a workspace's root and decides what is
// part of the workspace: ignore files above it and in .git, and git's list of the
// files that it tracks.
package outer

import (
	"context"
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

	index  disk.Entry  // the file of git's list
	looked int64       // when, in nanoseconds since 1970
	failed atomic.Bool // the list could not be read
}

// Look finds the repository and reads the ignore rules. The list of tracked files
// is read only if git has changed it since o.Was was written; else when somebody
// asks.
func Look(ctx context.Context, o Options) *View {
	v := &View{Tracked: func() *git.Files { return nil }}
	repo, err := git.Open(o.Root)
	prefix := ""
	if repo != nil && err == nil {
		prefix, err = repo.Prefix(o.Root)
	}
	if err != nil {
		o.warn("cannot tell which git repository this is", err)
		return v
	}
	if repo == nil {
		return v
	}
	v.readRules(&o, repo, prefix)
	v.Tracked = sync.OnceValue(func() *git.Files {
		files, err := o.readTracked(context.WithoutCancel(ctx), repo)
		if err != nil {
			v.failed.Store(true)
			o.warn("cannot tell which files git tracks, so that ignored ones are left out", err)
		}
		return files.Below(prefix)
	})
	v.lookAtList(repo, o.Was)
	return v
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
