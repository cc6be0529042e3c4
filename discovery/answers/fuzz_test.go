package answers

import (
	"slices"
	"testing"

	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// FuzzSaved opens any bytes as the saved answers. An answer with an invalid path is never reused.
func FuzzSaved(f *testing.F) {
	var w pack.Writer
	w.Add(saved{Basis: "b", Groups: [][]int{{0}}, Answers: []savedAnswer{{Scope: -1, Reads: []int{7}}}, Detected: []savedDetect{{Yes: true}}})
	f.Add(w.Payload())
	f.Add([]byte{1, 'b', 0})
	root := f.TempDir()
	files, err := tree.Walk(f.Context(), root, &tree.Options{})
	if err != nil {
		f.Fatal(err)
	}
	defer files.Close()
	f.Fuzz(func(t *testing.T, payload []byte) {
		st := state.Open(t.TempDir())
		var file pack.Writer
		file.Uint(1)
		file.String(part)
		file.Uint(uint64(len(payload)))
		file.Raw(payload)
		if err := st.Store("answers", 1, file.Payload()); err != nil {
			t.Fatal(err)
		}
		parts := st.OpenParts("answers", 1)
		s, ok := load(parts)
		m := Open(Options{Saved: parts, Tree: files, Source: sourceOf(files), Basis: "b"})
		if m == nil {
			t.Fatal("not opened")
		}
		if !ok && len(m.answered)+len(m.detected) > 0 {
			t.Errorf("%d answers of an invalid file", len(m.answered)+len(m.detected))
		}
		for i, a := range s.Answers {
			for _, n := range a.Reads {
				if n >= 0 && n < len(s.Groups) && !slices.ContainsFunc(s.Groups[n], func(i int) bool { return i < 0 || i >= len(s.Spots) }) {
					continue
				}
				if got := m.answered[a.Question]; got != nil && &got.from[0] == &a.Reads[0] {
					t.Errorf("answer %d depends on group %d of %d", i, n, len(s.Groups))
				}
			}
		}
	})
}
