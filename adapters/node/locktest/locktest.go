// Package locktest checks that an edit of a lockfile changes the digests of the members
// that it concerns, and no others.
package locktest

import (
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/node/lockfile"
)

// Edit is an edit of a lockfile and the members that it concerns.
type Edit struct {
	Name     string
	Old, New string // texts in the lockfile; Old has to occur
	Changed  string // directories of members, separated by spaces
}

// Parse is a parser of lockfiles.
type Parse func(name string, data []byte) (*lockfile.Lock, error)

// Members returns the members of the workspace of the tests.
func Members() []string { return []string{"packages/app", "packages/lib", "packages/other", "."} }

// Run checks the edits of a lockfile.
func Run(t *testing.T, parse Parse, data []byte, edits []Edit) {
	t.Helper()
	before := digests(t, parse, string(data))
	for _, e := range edits {
		t.Run(e.Name, func(t *testing.T) {
			if !strings.Contains(string(data), e.Old) {
				t.Fatalf("%q is not there", e.Old)
			}
			after := digests(t, parse, strings.Replace(string(data), e.Old, e.New, 1))
			for _, member := range Members() {
				changed := before[member] != after[member]
				if want := strings.Contains(" "+e.Changed+" ", " "+member+" ") || e.Changed == "all"; changed != want {
					t.Errorf("%s: changed is %v", member, changed)
				}
			}
		})
	}
}

func digests(t *testing.T, parse Parse, text string) map[string]string {
	t.Helper()
	lock, err := parse("lockfile", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]string)
	for _, member := range Members() {
		d, ok := lock.Digest(member)
		if !ok {
			t.Fatalf("%s is not known", member)
		}
		out[member] = d
	}
	if _, ok := lock.Digest("packages/nobody"); ok {
		t.Error("a directory that the lockfile does not name is known")
	}
	return out
}
