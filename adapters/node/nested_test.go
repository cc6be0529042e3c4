package node

import (
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
)

// TestNestedMalformed holds that a malformed manifest is an error only where it decides.
func TestNestedMalformed(t *testing.T) {
	root := adaptertest.Tree(t,
		"plain/package.json", `{}`, "plain/in/package.json", `{`,
		"plain/locked/package.json", `{`, "plain/locked/yarn.lock", ``,
		"ws/package.json", `{"workspaces": ["a"]}`, "ws/in/package.json", `{`,
		"broken/package.json", `{`, "broken/in/package.json", `{}`,
	)
	a := newNPM()
	for dir, want := range map[string]struct {
		reason adapters.Reason
		fails  bool
	}{
		"plain/in": {fails: true}, "plain/locked": {fails: true}, "ws/in": {reason: adapters.NotAMember}, "broken/in": {fails: true},
	} {
		answer, err := a.Nested(t.Context(), filepath.Join(root, dir), root)
		if answer.Reason != want.reason || (err != nil) != want.fails {
			t.Errorf("%s: %+v, %v", dir, answer, err)
		}
	}
}
