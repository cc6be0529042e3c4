package state

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChainReachesTheNextProcess(t *testing.T) {
	first := ParseChain(ParseChain("").With("/a\n\"", "x:build"))
	second := ParseChain(first.With("/b", "y:test"))
	if diff := cmp.Diff(Chain{{"/a\n\"", "x:build"}, {"/b", "y:test"}}, second); diff != "" {
		t.Error(diff)
	}
	if !second.Has("/b", "y:test") || second.Has("/b", "x:build") || !second.In("/a\n\"") || first.In("/b") {
		t.Errorf("%v has other steps", second)
	}
	if got, want := second.Words("/b"), "x:build of /a\n\" → y:test"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestForeignChainIsEmpty(t *testing.T) {
	for _, value := range []string{"", "/a", "{}", `[{"Root":1}]`, `["a"]`} {
		if c := ParseChain(value); len(c) > 0 {
			t.Errorf("%q: %v", value, c)
		}
	}
}
