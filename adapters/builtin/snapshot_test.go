package builtin_test

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// counting is a View that knows nothing and counts the questions.
type counting struct{ looks int }

func (v *counting) Ignored(string, bool) bool { return false }

func (v *counting) State(string, bool) (adapters.State, bool) {
	v.looks++
	return adapters.State{}, false
}

func (v *counting) Now(string) (adapters.State, bool) { return adapters.State{}, false }

// Every adapter answers from the snapshot of the workspace.
func TestAnswersComeFromTheSnapshot(t *testing.T) {
	shown, view := new(snapshot.Snapshot), new(counting)
	shown.Hold(view)
	for _, a := range builtin.All(snapshot.Options{Env: adaptertest.Env(), Snapshot: shown}) {
		id := a.Manifest().AdapterID
		view.looks = 0
		_ = filepath.WalkDir(adaptertest.Fixture(t, id), func(path string, d fs.DirEntry, _ error) error {
			if yes, err := a.Detect(t.Context(), path); d.IsDir() && yes && err == nil {
				adaptertest.Tasks(t, a, path)
			}
			return nil
		})
		if view.looks == 0 {
			t.Errorf("%s does not look at the snapshot", id)
		}
	}
}
