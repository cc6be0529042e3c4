package adapter

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/testrun"
	"github.com/bentobuild/bento/plugin/host"
)

// lazyKid returns the plugins of these tests.
func lazyKid(id string) func(*kid) {
	answers := func(method, body string) func(*kid) {
		return func(k *kid) {
			for {
				q := k.read()
				if q.Method == method {
					k.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, q.ID, body))
				} else {
					k.answer(q)
				}
			}
		}
	}
	switch id {
	case "declines":
		return answers("detect", `"result":{"matches":false}`)
	case "fails-detect":
		return answers("detect", `"error":{"code":2099,"message":"no"}`)
	case "breaks-when-told":
		return func(k *kid) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(os.Args[0]), "broken")); err == nil {
				os.Exit(3)
			}
			k.serve()
		}
	}
	return nil
}

// lazily returns the options of an invocation that starts plugins lazily in the workspace at root.
func lazily(root string) Options {
	st := state.Open(root)
	return Options{Version: "1", Numbers: short(), Digests: host.NewDigests(st), Notes: host.NewNotes(st), Lazy: true}
}

// remembered starts c in a workspace, calls use, and ends the invocation.
func remembered(t *testing.T, root string, c adapters.Candidate, use func(adapters.Adapter)) {
	t.Helper()
	set := start(t, lazily(root), c)
	if len(set.Adapters()) != 1 {
		t.Fatal(set.Warnings())
	}
	use(set.Adapters()[0])
	if err := set.Remember(); err != nil {
		t.Fatal(err)
	}
	set.Close()
}

func asleepIn(t *testing.T, root string, c adapters.Candidate) bool {
	t.Helper()
	return start(t, lazily(root), c).Status()[0].Asleep
}

func TestWhoIsLeftOut(t *testing.T) {
	ctx := context.Background()
	root := t.TempDir()
	for id, use := range map[string]func(adapters.Adapter){
		"declines":     func(a adapters.Adapter) { a.Detect(ctx, root) },
		"good":         func(adapters.Adapter) {}, // it receives no question
		"good-1":       func(a adapters.Adapter) { a.Detect(ctx, root) },
		"good-2":       func(a adapters.Adapter) { a.RequiredToolchain(ctx, root) },
		"good-3":       func(a adapters.Adapter) { adapters.Tasks(ctx, a, root) },
		"good-4":       func(a adapters.Adapter) { a.Install(ctx, adapters.InstallRequest{DishDir: root}, nil) },
		"good-5":       func(a adapters.Adapter) { a.ToolchainFingerprint(ctx, root) },
		"good-6":       func(a adapters.Adapter) { a.(*Process).Start(ctx) },
		"fails-detect": func(a adapters.Adapter) { a.Detect(ctx, root) },
	} {
		root := t.TempDir()
		c := install(t, t.TempDir(), id)
		remembered(t, root, c, use)
		want := id == "declines" || id == "good" || id == "good-6"
		if got := asleepIn(t, root, c); got != want {
			t.Errorf("%s: left out %v, want %v", id, got, want)
		}
	}
}

// A plugin that is asleep has the same manifest as when it ran.
func TestAsleepIsTheSame(t *testing.T) {
	root, c := t.TempDir(), install(t, t.TempDir(), "declines")
	var before, after *adapters.Manifest
	remembered(t, root, c, func(a adapters.Adapter) { before = a.Manifest() })
	remembered(t, root, c, func(a adapters.Adapter) { after = a.Manifest() })
	if before.Identity != after.Identity || before.DisplayName != after.DisplayName || len(after.DefaultTasks) != 1 {
		t.Errorf("before %+v\nafter  %+v", before, after)
	}
	remembered(t, root, c, func(a adapters.Adapter) {
		if a.(*Process).host() != nil {
			t.Error("it is started though nothing was asked twice before")
		}
	})
	o := lazily(root)
	o.Version = "2"
	if start(t, o, c).Status()[0].Asleep {
		t.Error("another bento left it out")
	}
	o = lazily(root)
	o.PassEnv = map[string][]string{"declines": {"ZIG_HOME"}}
	if start(t, o, c).Status()[0].Asleep {
		t.Error("it is left out though it would see another environment")
	}
}

// Fifty concurrent callers start a plugin once. A closed plugin is not started.
func TestWokenOnce(t *testing.T) {
	root, c := t.TempDir(), install(t, t.TempDir(), "talkative")
	remembered(t, root, c, func(adapters.Adapter) {})
	var screen bytes.Buffer
	o := lazily(root)
	o.Stderr = &screen
	set := start(t, o, c)
	a := set.Adapters()[0]
	var asking sync.WaitGroup
	for range 50 {
		asking.Go(func() {
			if _, err := a.Detect(t.Context(), "/a"); err != nil {
				t.Error(err)
			}
			if _, err := a.RequiredToolchain(t.Context(), "/b"); err != nil {
				t.Error(err)
			}
		})
	}
	asking.Wait()
	set.Close()
	if n := strings.Count(screen.String(), "hello"); n != 1 {
		t.Errorf("started %d times", n)
	}

	set = start(t, lazily(root), c)
	if !set.Status()[0].Asleep {
		remembered(t, root, c, func(adapters.Adapter) {})
		set = start(t, lazily(root), c)
	}
	set.Close()
	if _, err := set.Adapters()[0].Detect(t.Context(), "/a"); err == nil {
		t.Error("a closed plugin answers")
	}
	if left := testrun.LeftIn(filepath.Dir(c.Path)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A plugin that fails to start when it is needed fails on each call. The next invocation starts it again.
func TestWakingFails(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	switchTo := filepath.Join(dir, "broken")
	c := install(t, dir, "breaks-when-told")
	remembered(t, root, c, func(adapters.Adapter) {})
	if err := os.WriteFile(switchTo, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	set := start(t, lazily(root), c)
	for range 2 {
		_, err := set.Adapters()[0].Detect(t.Context(), "/a")
		if codeOf(err) != string(adapters.HandshakeFailed) {
			t.Errorf("got %v", err)
		}
	}
	if s := set.Status()[0]; s.Status != Failed || s.Code != adapters.HandshakeFailed || set.Failures()["breaks-when-told"] == nil {
		t.Errorf("status %+v", s)
	}
	if err := set.Remember(); err != nil {
		t.Fatal(err)
	}
	if s := start(t, lazily(root), c).Status()[0]; s.Status != Failed {
		t.Errorf("the next time: %+v", s)
	}
}

func TestListing(t *testing.T) {
	dir := t.TempDir()
	globs := []string{"./zig.toml", "src/**", "*.zig", "{a,b}/c"}
	file := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-time.Hour)
	age := func(name string) {
		t.Helper()
		if err := os.Chtimes(filepath.Join(dir, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	file("zig.toml", "1")
	file("other", "1")
	age("zig.toml")
	was := list(dir, globs, listing{})
	step := func(what string, want bool) {
		t.Helper()
		for _, w := range []listing{was, {Stat: "of another time", Names: was.Names, Markers: was.Markers}} {
			now := list(dir, globs, w)
			if got := now.same(was); got != want {
				t.Errorf("%s: same %v, want %v", what, got, want)
			}
		}
		was = list(dir, globs, listing{})
	}
	step("nothing", true)
	file("other", "22")
	step("a file that is no marker", true)
	file("zig.toml", "22")
	step("a marker", false)
	file("new", "")
	step("a new file", false)
	if err := os.Remove(filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	step("a file less", false)
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	step("a new directory", false)
	file("src/x", "")
	step("a file in a directory that is a marker", false)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	step("the directory is gone", false)
	step("still gone", true)
	if was.Stat != "" {
		t.Errorf("a directory that is gone has the stat %q", was.Stat)
	}
}
