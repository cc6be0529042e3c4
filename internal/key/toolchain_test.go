package key

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/state"
)

// toolAdapter is asked for a toolchain and counts how often.
type toolAdapter struct {
	adapters.Adapter
	basis string
	err   error
	asked int
}

func (a *toolAdapter) Manifest() *adapters.Manifest { return &adapters.Manifest{AdapterID: "tool"} }

func (a *toolAdapter) ToolchainBasis(context.Context, string) (string, error) { return a.basis, nil }

func (a *toolAdapter) ToolchainFingerprint(context.Context, string) (string, error) {
	a.asked++
	return "v1", a.err
}

// A missing tool is remembered like a found one until what it depends on changes, but a run asks
// again. Other errors are not remembered.
func TestMissingToolIsRemembered(t *testing.T) {
	missing := &adapters.MissingTool{Tool: "toolchain 1", Hint: "install it"}
	st := state.Open(t.TempDir())
	a := &toolAdapter{basis: "before", err: missing}
	want := func(what string, tools *Toolchains, asked int, err error) {
		t.Helper()
		if got, e := tools.Fingerprint(t.Context(), a, "d"); a.asked != asked || (e == nil) != (err == nil) || err == nil && got != "v1" || err != nil && e.Error() != err.Error() {
			t.Errorf("%s: asked %d times, got %q, %v; want %d, %v", what, a.asked, got, e, asked, err)
		}
		if e := tools.Save(); e != nil {
			t.Fatal(e)
		}
	}
	want("first", OpenToolchains(st), 1, missing)
	want("second", OpenToolchains(st), 1, missing)
	var m *adapters.MissingTool
	if _, err := OpenToolchains(st).Fingerprint(t.Context(), a, "d"); !errors.As(err, &m) || *m != *missing {
		t.Errorf("got %v, want the same tool and hint", err)
	}
	run := OpenToolchains(st)
	run.LetRun()
	want("a run", run, 2, missing)
	a.err = nil
	want("still", OpenToolchains(st), 2, missing)
	run = OpenToolchains(st)
	run.LetRun()
	want("a run with the tool", run, 3, nil)
	want("after it", OpenToolchains(st), 3, nil)
	a.basis, a.err = "after", errors.New("no memory")
	want("another error", OpenToolchains(st), 4, a.err)
	want("again", OpenToolchains(st), 5, a.err)
}

func FuzzToolchains(f *testing.F) {
	known := &Toolchains{known: map[string]answer{"a": {fingerprint: "go1"}, "b": {missing: "go", hint: "install it"}}, changed: true}
	f.Add(known.learned())
	f.Add([]byte{1, 0, 0})
	f.Fuzz(func(t *testing.T, payload []byte) {
		read := decodeToolchains(payload)
		written := (&Toolchains{known: read, changed: true}).learned()
		if again := decodeToolchains(written); !maps.Equal(again, read) && len(read) <= maxRemembered {
			t.Errorf("read %v, and after writing it %v", read, again)
		}
	})
}
