package cache_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/sampling"
)

// counted is a context that counts the calls of Err, and is cancelled after some of them.
type counted struct {
	context.Context
	looks atomic.Int64
	end   int64
}

func (c *counted) Err() error {
	if n := c.looks.Add(1); n > c.end {
		return context.Canceled
	}
	return nil
}

// Each operation that reads all files of a store checks its context for each file, and ends as soon as the
// context does.
func TestEveryLoopHears(t *testing.T) {
	const records, blobs, files = 300, 1200, 1500 // each of the 256 directories has a few
	s, _ := openDisk(t)
	fill(t, s, records)
	for _, c := range []struct {
		name string
		want int64 // calls of Err
		do   func(ctx context.Context) error
	}{
		{"stats", files, func(ctx context.Context) error { _, err := s.Stats(ctx); return err }},
		{"keys", files, func(ctx context.Context) error { _, err := s.Keys(ctx, ""); return err }},
		{"fsck", 2*(files+files) + 2*blobs, func(ctx context.Context) error { _, err := s.Fsck(ctx); return err }},
		{"prune nothing", files + records, func(ctx context.Context) error { _, err := s.Prune(ctx, cache.Bounds{MaxSize: 1 << 40}); return err }},
		{"prune all", files + records + files, func(ctx context.Context) error {
			_, err := s.Prune(ctx, cache.Bounds{MaxAge: time.Nanosecond})
			return err
		}},
		{"clear", files + files, func(ctx context.Context) error { _, err := s.Clear(ctx); return err }},
	} {
		for _, end := range sampling.Short(t, 3, []int64{0, 1, 100, files / 2, c.want - 100}) { // the last: while it removes or reads
			ctx := &counted{Context: context.Background(), end: end}
			if err := c.do(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s, interrupted after %d looks: %v", c.name, end, err)
			}
			// Each started worker checks the context once more.
			if n := ctx.looks.Load(); n > end+256+8 {
				t.Errorf("%s, interrupted after %d looks: it went on for %d more", c.name, end, n-end)
			}
		}
		whole := &counted{Context: context.Background(), end: 1 << 40}
		if _, gone := map[string]bool{"prune all": true, "clear": true}[c.name]; gone {
			fill(t, s, records) // some of them were removed
		}
		if err := c.do(whole); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if n := whole.looks.Load(); n < c.want {
			t.Errorf("%s: %d looks at the context, at least %d expected", c.name, n, c.want)
		}
		if st, err := s.Stats(t.Context()); err != nil || st.Records+st.Blobs == 0 {
			fill(t, s, records)
		}
	}
}
