package key

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/state"
)

// toolAdapter returns a toolchain, and counts the calls.
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

// A missing tool is remembered like a found one until its basis changes, but a run asks again. Other
// errors are not remembered.
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
	want("first", OpenToolchains(st, state.OpenShared("")), 1, missing)
	want("second", OpenToolchains(st, state.OpenShared("")), 1, missing)
	var m *adapters.MissingTool
	if _, err := OpenToolchains(st, state.OpenShared("")).Fingerprint(t.Context(), a, "d"); !errors.As(err, &m) || *m != *missing {
		t.Errorf("got %v, want the same tool and hint", err)
	}
	run := OpenToolchains(st, state.OpenShared(""))
	run.LetRun()
	want("a run", run, 2, missing)
	a.err = nil
	want("still", OpenToolchains(st, state.OpenShared("")), 2, missing)
	run = OpenToolchains(st, state.OpenShared(""))
	run.LetRun()
	want("a run with the tool", run, 3, nil)
	want("after it", OpenToolchains(st, state.OpenShared("")), 3, nil)
	a.basis, a.err = "after", errors.New("no memory")
	want("another error", OpenToolchains(st, state.OpenShared("")), 4, a.err)
	want("again", OpenToolchains(st, state.OpenShared("")), 5, a.err)
}

func FuzzToolchains(f *testing.F) {
	known := map[string]answer{"a": {Fingerprint: "go1"}, "b": {Missing: "go", Hint: "install it"}}
	f.Add(encodeToolchains(known))
	f.Add([]byte{1, 0, 0})
	f.Fuzz(func(t *testing.T, payload []byte) {
		read := decodeToolchains(payload)
		written := encodeToolchains(read)
		if again := decodeToolchains(written); !maps.Equal(again, read) && len(read) <= maxRemembered {
			t.Errorf("read %v, and after writing it %v", read, again)
		}
	})
}

// TestToolchainsAreShared: another workspace takes over the fingerprint of a tool with the same basis,
// but no missing tool, and no answer that needed a program of the repository.
func TestToolchainsAreShared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "toolchains")
	a := &toolAdapter{basis: "b"}
	look := func(what string, asked int, runs bool) *Toolchains {
		t.Helper()
		tools := OpenToolchains(state.Open(t.TempDir()), state.OpenShared(dir))
		if runs {
			tools.LetRun()
		}
		if _, err := tools.Fingerprint(t.Context(), a, "d"); a.asked != asked {
			t.Errorf("%s: asked %d times, want %d (%v)", what, a.asked, asked, err)
		}
		if err := tools.Save(); err != nil {
			t.Fatal(err)
		}
		return tools
	}
	look("first workspace", 1, false)
	look("second workspace", 1, false)
	look("a run in a third", 1, true)
	a.basis = "other"
	look("another basis", 2, false)
	a.basis = "b"
	look("both are kept", 2, false)

	a.basis, a.err = "missing", &adapters.MissingTool{Tool: "tool"}
	look("missing", 3, false)
	look("missing elsewhere", 4, false)
	a.basis, a.err = "late", &adapters.KnownAtRun{Why: "the repository chooses it"}
	look("a run of the repository's program", 5, true)
	look("the same elsewhere", 6, false)

	a.basis, a.err = "b", nil
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	look("a directory that others may write to", 7, false)
}

// ToolchainAtRun implements adapters.LateTeller.
func (a *toolAdapter) ToolchainAtRun(context.Context, adapters.RunRequest) (string, error) {
	return "late", nil
}

// lateAdapter knows its toolchain only at run time, if at all.
type lateAdapter struct {
	toolAdapter
	late error
}

func (a *lateAdapter) ToolchainAtRun(context.Context, adapters.RunRequest) (string, error) {
	return "", a.late
}

// A toolchain that is unknown even in a run is an error: a task without one has no key.
func TestToolchainUnknownAtRun(t *testing.T) {
	a := &lateAdapter{toolAdapter: toolAdapter{basis: "b", err: &adapters.KnownAtRun{Why: "the repository chooses it"}}}
	for _, late := range []error{&adapters.MissingTool{Tool: "tool"}, &adapters.KnownAtRun{Why: "no program"}, errors.New("no memory")} {
		a.late = late
		tools := OpenToolchains(state.Open(t.TempDir()), state.OpenShared(""))
		tools.LetRun()
		if got, err := tools.Fingerprint(t.Context(), a, "d"); err == nil {
			t.Errorf("at run %v: got %q and no error", late, got)
		}
	}
}
