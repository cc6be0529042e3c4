package remote_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
)

// TestFinderAtOnce: all calls of Find together ask for a few keys at a time, and end with their context.
func TestFinderAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := remote.NewFinder(remote.Place{Read: []string{"trunk"}}, 3, func(ctx context.Context, _ remote.ID) (*remote.Found, error) {
			select {
			case <-time.After(time.Second):
				return nil, remote.ErrMiss
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		})
		keys := make([]cache.Key, 6)
		for i := range keys {
			keys[i] = remotetest.Key()
		}
		find := func(ctx context.Context, want error) (took time.Duration) {
			start := time.Now()
			var group sync.WaitGroup
			for range 2 {
				group.Go(func() {
					answers := 0
					f.Find(ctx, keys, func(a remote.Answer) {
						if answers++; !errors.Is(a.Err, want) {
							t.Errorf("%v, want %v", a.Err, want)
						}
					})
					if answers != len(keys) {
						t.Errorf("%d answers, want %d", answers, len(keys))
					}
				})
			}
			group.Wait()
			return time.Since(start)
		}
		if took := find(t.Context(), remote.ErrMiss); took != 4*time.Second {
			t.Errorf("12 questions of a second took %v, want 4s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		if took := find(ctx, context.DeadlineExceeded); took != time.Second/2 {
			t.Errorf("ended %v after the start, want 500ms", took)
		}
	})
}
