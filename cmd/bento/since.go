package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bentobuild/bento/internal/git"
)

// changed lists the files that changed since the ref of a selection, relative to the workspace.
func (sel *selection) changed(ctx context.Context, root string) ([]string, error) {
	flag, given, ref := "--since", "--since "+sel.since, sel.since
	if sel.affected {
		flag, given = "--affected", "--affected"
	}
	repo, err := git.Open(root)
	if errors.Is(err, git.ErrNoRepo) {
		return nil, notFound("no_repository", given+": "+err.Error(), "move the repository back to its named place, or leave out "+flag)
	}
	if err != nil {
		return nil, err
	}
	if repo == nil {
		return nil, notFound("no_repository", given+": "+root+" is in no git repository", "leave out "+flag+", or run git init")
	}
	if sel.affected {
		ref, err = repo.DefaultBranch(ctx)
		if errors.Is(err, git.ErrNoCommit) {
			return nil, notFound("unknown_ref", "--affected: "+err.Error(), "name the commit to compare with, as in --since origin/trunk; git fetch gets the branches of a remote")
		} else if err != nil {
			return nil, gitFault(repo, "HEAD", err)
		}
	}
	return changedSince(ctx, repo, root, ref)
}

// changedSince lists the files below root that changed since a ref, relative to root.
func changedSince(ctx context.Context, repo *git.Repo, root, ref string) ([]string, error) {
	prefix, err := repo.Prefix(root)
	if err != nil {
		return nil, err
	}
	paths, _, err := repo.Changed(ctx, ref)
	switch {
	case errors.Is(err, git.ErrNoCommit), errors.Is(err, git.ErrNoBase):
		hint := "name a branch, a tag or a commit; git fetch gets those of a remote"
		if shallow, _ := repo.Shallow(ctx); shallow {
			hint = "this is a shallow clone, which lacks the commits in between: git fetch --unshallow (in CI: a checkout with its whole history)"
		}
		return nil, notFound("unknown_ref", "--since "+err.Error(), hint)
	case err != nil:
		return nil, gitFault(repo, ref, err)
	}
	var inside []string
	for _, p := range paths {
		if prefix == "" {
			inside = append(inside, p)
		} else if rel, ok := strings.CutPrefix(p, prefix+"/"); ok {
			inside = append(inside, rel)
		}
	}
	return inside, nil
}

// gitFault returns the problem for an error of git.
func gitFault(repo *git.Repo, ref string, err error) error {
	var failed *git.Error
	switch {
	case errors.Is(err, git.ErrMissing):
		return notFound("git_unreadable", "--since "+ref+": "+err.Error(), "install git, or leave out --since")
	case errors.Is(err, git.ErrOwner):
		return notFound("git_unreadable", fmt.Sprintf("--since %s: %v: %q", ref, git.ErrOwner, repo.TopLevel()),
			fmt.Sprintf("run git config --global --add safe.directory %q to have git trust it", repo.TopLevel()))
	case errors.Is(err, git.ErrStalls):
		return notFound("git_unreadable", "--since "+ref+": "+err.Error(), "remove it, or leave out --since")
	case errors.As(err, &failed) || errors.Is(err, git.ErrDamaged):
		return notFound("git_unreadable", "--since "+ref+": "+err.Error(), "run git status and git fsck, which report the cause")
	}
	return err
}
