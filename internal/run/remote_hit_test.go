package run

import (
	"testing"

	"github.com/bentobuild/bento/cache"
)

// TestIsRemote: a hit under a key that the remote cache was asked for counts as its, also before its answer was heard; a hit under
// a key that has no result there, or that was not asked for, does not.
func TestIsRemote(t *testing.T) {
	t.Parallel()
	asked, other := cache.Key{1}, cache.Key{2}
	n := &node{asked: &questions{keys: []cache.Key{asked}, open: 1}}
	for _, tt := range []struct {
		n      *node
		result Result
		want   bool
	}{
		{n, Result{Outcome: CacheHit, Key: asked}, true},
		{n, Result{Outcome: CacheHit, Key: other}, false},
		{n, Result{Outcome: Built, Key: asked}, false},
		{&node{}, Result{Outcome: CacheHit, Key: asked}, false},
	} {
		if got := tt.n.isRemote(&tt.result); got != tt.want {
			t.Errorf("%s, key %v: %t", tt.result.Outcome, tt.result.Key, got)
		}
	}
	n.asked.absent(asked)
	if n.isRemote(&Result{Outcome: CacheHit, Key: asked}) {
		t.Error("a hit without a result elsewhere")
	}
}
