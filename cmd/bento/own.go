package main

import (
	"context"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// openAt opens the workspace at a place. Its own directory is checked first: nothing of
// one that is refused is read or changed.
func (s *session) openAt(ctx context.Context, at place, reporter run.Reporter) (*workspace, error) {
	at.state = state.Open(at.root)
	if err := at.state.Check(ctx); err != nil {
		return nil, err
	}
	return s.openIn(ctx, at, reporter)
}

// openDisk opens the cache in dir for the workspace at root, "" when there is none. A
// cache that lies in the workspace may have come with it: what git tracks there, bento
// has not made.
func openDisk(root, dir string, o cache.Options) (*cache.Disk, error) {
	if _, rel, ok := owndir.Within(root, dir); ok {
		st, ctx := state.Open(root), context.Background()
		if rel == state.Name || strings.HasPrefix(rel, state.Name+"/") {
			rel = state.Name
			if err := st.Check(ctx); err != nil {
				return nil, err
			}
		}
		if err := st.Untracked(ctx, rel); err != nil {
			return nil, err
		}
	}
	o.Root = root
	return cache.Open(dir, &o)
}
