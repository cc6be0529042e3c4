package builtin_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/builtin"
)

// counting is a View that knows nothing and counts the questions.
type counting struct{ kinds int }

func (v *counting) Kind(string) (adapters.Kind, bool) {
	v.kinds++
	return 0, false
}

func (*counting) Sum(string) ([32]byte, bool) { return [32]byte{}, false }

// Every adapter answers from the snapshot of the workspace.
func TestAnswersComeFromTheSnapshot(t *testing.T) {
	snapshot, view := new(adapters.Snapshot), new(counting)
	snapshot.Hold(view)
	for _, a := range builtin.All(adapters.Options{Env: adaptertest.Env(), Snapshot: snapshot}) {
		id := a.Manifest().AdapterID
		view.kinds = 0
		_ = filepath.WalkDir(adaptertest.Fixture(t, id), func(path string, d fs.DirEntry, _ error) error {
			if yes, err := a.Detect(t.Context(), path); d.IsDir() && yes && err == nil {
				adaptertest.Tasks(t, a, path)
			}
			return nil
		})
		if view.kinds == 0 {
			t.Errorf("%s does not look at the snapshot", id)
		}
	}
}
