package run

import (
	"testing"

	"github.com/bentobuild/bento/cache"
)

// TestIsFar: a hit under a key that was asked for elsewhere counts as one from there, also before its answer was heard; a hit under
// a key that has no result elsewhere, or that was not asked for, does not.
func TestIsFar(t *testing.T) {
	t.Parallel()
	asked, other := cache.Key{1}, cache.Key{2}
	n := &node{far: &questions{keys: []cache.Key{asked}, open: 1}}
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
		if got := tt.n.isFar(&tt.result); got != tt.want {
			t.Errorf("%s, key %v: %t", tt.result.Outcome, tt.result.Key, got)
		}
	}
	n.far.absent(asked)
	if n.isFar(&Result{Outcome: CacheHit, Key: asked}) {
		t.Error("a hit without a result elsewhere")
	}
}
