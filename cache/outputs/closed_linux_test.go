package outputs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/cachetest"
	"github.com/bentobuild/bento/cache/outputs"
)

// An ordinary user cannot enter, or cannot fill, some directories that a run of the task has left empty. A restore makes
// them again where outputs are below them now, and no other.
func TestRestoreBelowAClosedDirectory(t *testing.T) {
	base := t.TempDir()
	if err := os.Chmod(base, 0o777); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		before tree
		want   string
		stale  []string
		denied bool
	}{
		"cannot be entered": {before: tree{"d": "444/"}, want: "d/a", stale: []string{"d"}},
		"entered first":     {before: tree{"d": "600/"}, want: "d/e/a", stale: []string{"d"}},
		"cannot be filled":  {before: tree{"d": "555/"}, want: "d/a", stale: []string{"d"}},
		"in the way":        {before: tree{"d/e": "644/"}, want: "d", stale: []string{"d/e"}},
		"of the user":       {before: tree{"d": "555/"}, want: "d/a", denied: true},
	} {
		cachetest.AsNobody(t, func() { // no subtest in it: that is another thread
			root := filepath.Join(base, name)
			s, err := cache.Open(filepath.Join(root, "cache"), nil)
			if err != nil {
				t.Fatal(err)
			}
			from, to := filepath.Join(root, "from"), filepath.Join(root, "to")
			makeTree(t, from, tree{c.want: "644 a"})
			makeTree(t, to, c.before)
			out, err := outputs.Capture(nil, s, from, []string{c.want})
			if err != nil {
				t.Fatal(err)
			}
			_, err = restore(s, to, filepath.Join(root, "stage"), out, outputs.Options{Stale: c.stale})
			if c.denied != errors.Is(err, fs.ErrPermission) || !c.denied && err != nil {
				t.Errorf("%s: restore: %v; want denied: %v", name, err, c.denied)
			}
			want := tree{c.want: "644 a"}
			if c.denied {
				want = c.before
			}
			if diff := cmp.Diff(want, readTree(t, to)); diff != "" {
				t.Errorf("%s, -want +got:\n%s", name, diff)
			}
		})
	}
}
