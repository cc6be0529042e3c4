package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Changed wraps ErrNoCommit when a ref names no commit, and ErrNoBase when the ref has no commit in
// common with HEAD.
var (
	ErrNoCommit = errors.New("the commit was not found")
	ErrNoBase   = errors.New("they have no common commit")
)

// Changed returns the paths that differ between the merge base of ref and HEAD and the disk:
// committed, staged, unstaged, deleted, and new paths that are not ignored, also in submodules.
// They are relative to the top level, sorted, without duplicates; a renamed file has both names.
// base is the merge base.
//
// No filter runs, and no line ending is converted: a file that equals the commit's only after a
// filter is listed if its stat has changed since git last read it. A file that git was told to
// ignore changes of is listed if it differs from the index.
func (r *Repo) Changed(ctx context.Context, ref string) (paths []string, base string, err error) {
	if base, err = r.mergeBase(ctx, ref); err != nil {
		return nil, "", err
	}
	if paths, err = r.since(ctx, base, 0); err != nil {
		return nil, "", err
	}
	slices.Sort(paths)
	return slices.Compact(paths), base, nil
}

// maxSubmodules is the largest depth of nested submodules.
const maxSubmodules = 16

// since returns the paths that differ from a commit, and in submodules those that differ from their
// HEAD.
func (r *Repo) since(ctx context.Context, base string, depth int) ([]string, error) {
	tracked, err := r.anyTracked(ctx)
	if err == nil {
		err = r.stallsInTree(ctx, tracked)
	}
	if err != nil {
		return nil, err
	}
	paths, err := r.changed(ctx, base)
	if err != nil {
		return nil, err
	}
	unseen, err := r.changedHidden(ctx, tracked)
	if err != nil {
		return nil, err
	}
	paths = append(paths, unseen...)
	added, err := r.list(ctx, queries{}.untracked(), nil)
	if err != nil {
		return nil, err
	}
	paths = append(paths, slices.DeleteFunc(added, r.holdsWorktree)...)
	if depth == maxSubmodules {
		return paths, nil
	}
	for i := range tracked.Len() {
		if !tracked.at[i].link {
			continue
		}
		dir := tracked.Path(i)
		inside, err := r.inSubmodule(ctx, dir, depth+1)
		if err != nil {
			return nil, err
		}
		paths = append(paths, inside...)
	}
	return paths, nil
}

// holdsWorktree reports whether an untracked path is the directory of a linked work tree: that is
// another checkout, not a change.
func (r *Repo) holdsWorktree(path string) bool {
	if !strings.HasSuffix(path, "/") { // git lists repositories with a slash at the end
		return false
	}
	inside, err := At(filepath.Join(r.top, filepath.FromSlash(path)))
	return err == nil && inside != nil && inside.Linked()
}

// inSubmodule returns the paths in the submodule dir that differ from its HEAD, relative to r.
func (r *Repo) inSubmodule(ctx context.Context, dir string, depth int) ([]string, error) {
	sub, err := At(filepath.Join(r.top, filepath.FromSlash(dir)))
	if err != nil || sub == nil {
		return nil, nil // not checked out
	}
	head, err := sub.commit(ctx, "HEAD")
	if errors.Is(err, ErrNoCommit) {
		return []string{dir}, nil
	}
	if err != nil {
		return nil, err
	}
	paths, err := sub.since(ctx, head, depth)
	for i, p := range paths {
		paths[i] = dir + "/" + p
	}
	return paths, err
}

// changed returns the tracked paths that differ from a commit.
func (r *Repo) changed(ctx context.Context, base string) ([]string, error) {
	off, err := r.noFilters(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.run(ctx, queries{}.changed(), []string{base, "--"}, off...)
	if err != nil && r.partial() {
		return nil, fmt.Errorf("%w\nthis is a partial clone and bento fetches nothing; get the missing objects with git fetch --refetch --no-filter", err)
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for len(out) > 0 {
		about, rest, ok := bytes.Cut(out, []byte{0})
		path, rest, more := bytes.Cut(rest, []byte{0})
		fields := strings.Fields(strings.TrimPrefix(string(about), ":"))
		if !ok || !more || len(fields) != 5 {
			return nil, fmt.Errorf("git diff-index: %q: required two modes, two ids, a status and a path", about)
		}
		out = rest
		same, err := r.sameBytes(ctx, string(path), fields)
		if err != nil {
			return nil, err
		}
		if !same {
			paths = append(paths, string(path))
		}
	}
	return paths, nil
}

// list returns the NUL-separated paths that a query prints.
func (r *Repo) list(ctx context.Context, q query, operands []string) (paths []string, err error) {
	out, err := r.run(ctx, q, operands)
	for p := range bytes.SplitSeq(out, []byte{0}) {
		if len(p) > 0 {
			paths = append(paths, string(p))
		}
	}
	return paths, err
}

// anyTracked returns the result of Tracked for an index of any form.
func (r *Repo) anyTracked(ctx context.Context) (*Files, error) {
	files, err := r.Tracked()
	if !errors.Is(err, ErrUnread) {
		return files, err
	}
	list, err := r.AskTracked(ctx)
	if err != nil {
		return nil, err
	}
	if files, err = ParseTracked(list); files != nil {
		files.asked = true
	}
	return files, err
}

// mergeBase returns the merge base of ref and HEAD.
func (r *Repo) mergeBase(ctx context.Context, ref string) (string, error) {
	commit, err := r.commit(ctx, ref)
	if err != nil {
		return "", err
	}
	head, err := r.commit(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	out, err := r.run(ctx, queries{}.mergeBase(), []string{commit, head})
	var failed *Error
	if errors.As(err, &failed) && failed.ExitCode == 1 {
		return "", fmt.Errorf("%q and HEAD: %w", ref, ErrNoBase)
	}
	return strings.TrimSpace(string(out)), err
}

// DefaultBranch returns the ref of the default branch: that of the remote origin, else main or master, of origin
// or local. The error is ErrNoCommit if there is none of these.
func (r *Repo) DefaultBranch(ctx context.Context) (string, error) {
	branches := []string{"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"}
	for _, ref := range branches {
		if _, err := r.commit(ctx, ref); !errors.Is(err, ErrNoCommit) {
			return ref, err
		}
	}
	return "", fmt.Errorf("no branch origin/HEAD, main or master: %w", ErrNoCommit)
}

// commit returns the id of the commit that ref names.
func (r *Repo) commit(ctx context.Context, ref string) (string, error) {
	if ref == "" || strings.HasPrefix(ref, "-") || strings.HasPrefix(ref, "^") || strings.ContainsAny(ref, "\x00\n") {
		return "", fmt.Errorf("%q: %w", ref, ErrNoCommit)
	}
	out, err := r.run(ctx, queries{}.commit(), []string{ref + "^{commit}"})
	var failed *Error
	if errors.As(err, &failed) && !failed.damaged() && !errors.Is(err, ErrOwner) {
		return "", fmt.Errorf("%q: %w", ref, ErrNoCommit)
	}
	return strings.TrimSpace(string(out)), err
}

// damaged reports whether git's message says that the repository is damaged.
func (e *Error) damaged() bool {
	for _, word := range []string{"corrupt", "unable to", "is empty", "bad index", "smaller than"} {
		if strings.Contains(e.Stderr, word) {
			return true
		}
	}
	return false
}

// Shallow reports whether the repository is a shallow clone, which may lack the commits
// that Changed needs.
func (r *Repo) Shallow(ctx context.Context) (bool, error) {
	out, err := r.run(ctx, queries{}.shallow(), nil)
	return strings.TrimSpace(string(out)) == "true", err
}
