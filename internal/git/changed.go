package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoCommit is wrapped by Changed when a ref names no commit, ErrNoBase when it has
// no commit in common with HEAD.
var (
	ErrNoCommit = errors.New("there is no such commit")
	ErrNoBase   = errors.New("no commit is in the past of both")
)

// Changed lists the paths that differ between the merge base of ref and HEAD and what
// is on disk now: committed, staged, only changed, deleted, or new and not ignored.
// They are relative to the top level, sorted, each once; of a rename both names are
// there. base is the merge base.
func (r *Repo) Changed(ctx context.Context, ref string) (paths []string, base string, err error) {
	if base, err = r.mergeBase(ctx, ref); err != nil {
		return nil, "", err
	}
	if paths, err = r.list(ctx, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", base, "--"); err != nil {
		return nil, "", err
	}
	added, err := r.untracked(ctx, 0)
	if err != nil {
		return nil, "", err
	}
	paths = append(paths, added...)
	slices.Sort(paths)
	return slices.Compact(paths), base, nil
}

// list gives the paths that a command of git prints with NULs between.
func (r *Repo) list(ctx context.Context, args ...string) (paths []string, err error) {
	out, err := r.run(ctx, args...)
	for p := range bytes.SplitSeq(out, []byte{0}) {
		if len(p) > 0 {
			paths = append(paths, string(p))
		}
	}
	return paths, err
}

// maxSubmodules bounds how deep submodules lie in each other.
const maxSubmodules = 16

// untracked lists what is new and not ignored, also in submodules. The user's own
// ignore file does not count: who has another one builds the same.
func (r *Repo) untracked(ctx context.Context, depth int) ([]string, error) {
	paths, err := r.list(ctx, "-c", "core.excludesFile="+os.DevNull, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil || depth == maxSubmodules {
		return paths, err
	}
	tracked, err := r.anyTracked(ctx)
	if err != nil {
		return nil, err
	}
	for i := range tracked.Len() {
		if !tracked.at[i].link {
			continue
		}
		dir := tracked.Path(i)
		sub, err := at(filepath.Join(r.top, filepath.FromSlash(dir)))
		if err != nil || sub == nil {
			continue // not checked out
		}
		added, err := sub.untracked(ctx, depth+1)
		if err != nil {
			return nil, err
		}
		for _, p := range added {
			paths = append(paths, dir+"/"+p)
		}
	}
	return paths, nil
}

// anyTracked gives what Tracked does, of an index of any form.
func (r *Repo) anyTracked(ctx context.Context) (*Files, error) {
	files, err := r.Tracked()
	if !errors.Is(err, ErrUnread) {
		return files, err
	}
	list, err := r.AskTracked(ctx)
	if err != nil {
		return nil, err
	}
	return ParseTracked(list)
}

// mergeBase gives the commit that ref and HEAD have in common.
func (r *Repo) mergeBase(ctx context.Context, ref string) (string, error) {
	commit, err := r.commit(ctx, ref)
	if err != nil {
		return "", err
	}
	head, err := r.commit(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	out, err := r.run(ctx, "merge-base", commit, head)
	var failed *Error
	if errors.As(err, &failed) && failed.ExitCode == 1 {
		return "", fmt.Errorf("%q and HEAD: %w", ref, ErrNoBase)
	}
	return strings.TrimSpace(string(out)), err
}

// commit gives the id of the commit that ref names.
func (r *Repo) commit(ctx context.Context, ref string) (string, error) {
	if ref == "" || strings.HasPrefix(ref, "-") || strings.ContainsAny(ref, "\x00\n") {
		return "", fmt.Errorf("%q: %w", ref, ErrNoCommit)
	}
	out, err := r.run(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	var failed *Error
	if errors.As(err, &failed) {
		return "", fmt.Errorf("%q: %w", ref, ErrNoCommit)
	}
	return strings.TrimSpace(string(out)), err
}

// Shallow tells whether the repository is a shallow clone, which may lack the commits
// that Changed needs.
func (r *Repo) Shallow(ctx context.Context) bool {
	out, err := r.run(ctx, "rev-parse", "--is-shallow-repository")
	return err == nil && strings.TrimSpace(string(out)) == "true"
}
