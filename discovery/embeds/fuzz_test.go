package embeds

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/state"
)

// FuzzSaved reads any bytes as the saved embeds. The result is the same after it was saved again.
func FuzzSaved(f *testing.F) {
	seed := state.Open(f.TempDir())
	summary{"p": {sum: [32]byte{1}, embeds: []adapters.Embed{{Path: "a", Glob: "*", File: "a/x.go", Line: 3}}}}.save(seed)
	fileTable{{1}: {{Path: "a", Glob: "*"}}}.save(seed, "p", nil)
	for _, name := range []string{summaryName, filesName + shortSum("p")} {
		payload, err := seed.Load(name, version)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		st := state.Open(t.TempDir())
		for _, name := range []string{summaryName, filesName + shortSum("p")} {
			if err := st.Store(name, version, payload); err != nil {
				t.Fatal(err)
			}
		}
		all, files := load(st), loadFiles(st, "p")
		all.save(st)
		files.save(st, "p", nil)
		if diff := cmp.Diff(all, load(st), cmp.AllowUnexported(of{})); diff != "" {
			t.Error(diff)
		}
		if len(files) == 0 {
			return // nothing was saved
		}
		if diff := cmp.Diff(files, loadFiles(st, "p")); diff != "" {
			t.Error(diff)
		}
	})
}
