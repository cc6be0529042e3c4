package adapter

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/testrun"
)

// keptKid returns the plugins of this file. They record each start in a file beside their executable.
func keptKid(id string) func(*kid) {
	what, ok := strings.CutPrefix(id, "kept-")
	if !ok {
		return nil
	}
	return func(k *kid) {
		f, err := os.OpenFile(filepath.Join(filepath.Dir(os.Args[0]), "starts"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			panic(err)
		}
		f.WriteString("x")
		f.Close()
		if what == "refuses" {
			os.Exit(3)
		}
		for {
			q := k.read()
			if q.Method == "detect" && what == "breaks" {
				k.raw("nonsense\n\n")
			}
			k.answer(q)
		}
	}
}

// TestKeep: bento starts a plugin again if its file, its grants or its state require that.
func TestKeep(t *testing.T) {
	root := t.TempDir()
	keep := new(Keep)
	t.Cleanup(keep.Close)
	granted := map[string][]string{}
	c := install(t, t.TempDir(), "kept-good")
	use := func(c adapters.Candidate, wants int) *Set {
		t.Helper()
		o := lazily(root)
		o.Notes, o.Lazy, o.Keep, o.PassEnv = nil, false, keep, granted
		set := start(t, o, c)
		for _, a := range set.Adapters() {
			_, _ = a.Detect(t.Context(), root)
		}
		data, err := os.ReadFile(filepath.Join(filepath.Dir(c.Path), "starts"))
		if err != nil || len(data) != wants {
			t.Errorf("%s: %d starts (%v), want %d", c.ID, len(data), err, wants)
		}
		return set
	}
	first := use(c, 1)
	second := use(c, 1) // while the first Set uses it
	first.Close()
	second.Close()
	second.Close()
	third := use(c, 1)
	if found, err := third.Adapters()[0].Detect(t.Context(), root); err != nil {
		t.Error(found, err)
	}
	granted["kept-good"] = []string{"MORE"}
	fourth := use(c, 2)
	if _, err := third.Adapters()[0].Detect(t.Context(), t.TempDir()); err != nil {
		t.Errorf("one that is still in use was ended: %v", err)
	}
	third.Close()
	fourth.Close()
	if left := testrun.LeftIn(filepath.Dir(c.Path)); len(left) != 1 {
		keep.ending.Wait()
		if left = testrun.LeftIn(filepath.Dir(c.Path)); len(left) != 1 {
			t.Errorf("running: %v, want one", left)
		}
	}

	// A Set without a plugin ends the kept process of that plugin.
	refuses := install(t, t.TempDir(), "kept-refuses")
	use(refuses, 1).Close()
	keep.ending.Wait()
	if left := testrun.LeftIn(filepath.Dir(c.Path)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	again := use(refuses, 1) // nothing has changed, so a second start would fail too
	if s := again.Status()[0]; s.Code != adapters.HandshakeFailed {
		t.Errorf("status %+v", s)
	}
	use(c, 3)

	// A plugin that failed after its start is started again.
	breaks := install(t, t.TempDir(), "kept-breaks")
	use(breaks, 1).Close()
	use(breaks, 2)
	keep.Close()
	if left := slices.Concat(testrun.LeftIn(filepath.Dir(c.Path)), testrun.LeftIn(filepath.Dir(breaks.Path))); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestKeepOfTheLazy: a plugin that is not needed is not started. Once it is started, it keeps running.
func TestKeepOfTheLazy(t *testing.T) {
	root := t.TempDir()
	keep := new(Keep)
	t.Cleanup(keep.Close)
	c := install(t, t.TempDir(), "kept-good")
	remembered(t, root, c, func(adapters.Adapter) {})
	for i, want := range []int{1, 1, 2, 2, 2} {
		o := lazily(root)
		o.Keep = keep
		set := start(t, o, c)
		if i > 1 {
			if err := set.Adapters()[0].(*Process).Start(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		set.Close()
		if data, _ := os.ReadFile(filepath.Join(filepath.Dir(c.Path), "starts")); len(data) != want {
			t.Errorf("look %d: %d starts, want %d", i, len(data), want)
		}
	}
}
