package remoteexec

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache/remote/servertest"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/state"
)

// store writes files, and keeps the time of the directory around them all.
func store(t testing.TB, root string, files map[string]string) {
	t.Helper()
	before, err := os.Stat(root)
	for name, text := range files {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(at, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err == nil {
		if err := os.Chtimes(root, before.ModTime(), before.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
}

// installing returns what sets the install of a command.
func installing(stamp string, p adapters.Portable) func(*Job) {
	return func(j *Job) {
		j.Installed = func() (Installed, error) { return Installed{Portable: p, Stamp: stamp}, nil }
	}
}

// TestInstalled: a worker has what an install has made, at its own place or where a variable says. It is sent once, and not at
// all in the next run, unless the server has lost it.
func TestInstalled(t *testing.T) {
	server := servertest.Workers(t)
	p := newProxy(t, server.GRPC)
	st := state.Open(t.TempDir())
	b := newBench(t, p.address, func(o *Options) { o.State, o.Class = st, "x" })
	b.input("d/src.c", "source\n")
	modules, cached := filepath.Join(b.root, "node_modules"), filepath.Join(t.TempDir(), "mod")
	store(t, modules, map[string]string{"a/run": "#!/bin/sh\necho ran\n", "a/deep/x": "x\n", ".cache/y": "y", ".bin/.keep": ""})
	store(t, cached, map[string]string{"a@1/f": "one\n", "a@2/f": "two\n", "c/a.zip": "zip\n"})
	for at, target := range map[string]string{".bin/run": "../a/run", "d": filepath.Join(b.root, "d")} {
		if err := os.Symlink(target, filepath.Join(modules, at)); err != nil {
			t.Fatal(err)
		}
	}
	needs := adapters.Portable{
		Trees: []adapters.PortableTree{
			{Dir: modules, Except: []string{".cache"}},
			{Dir: cached, Variable: "MODS", Only: []string{"a@1", "*/a.zip", "missing"}},
			{Dir: filepath.Join(b.root, "none")},
		},
		Set: map[string]string{"OFF": "it's"},
	}
	line := `../node_modules/.bin/run && cat ../node_modules/d/src.c ../node_modules/a/deep/x "$MODS"/a@1/f "$MODS"/c/a.zip && test ! -e "$MODS"/a@2 && test ! -e ../node_modules/.cache && echo "$OFF $MODS"`
	const want = "ran\nsource\nx\none\nzip\nit's /.bento-deps/MODS\n"
	run := func(step, line string) {
		t.Helper()
		res, stay, err := b.run(t.Context(), b.command(line), installing("1", needs))
		if err != nil || res.ExitCode != 0 || b.out.String() != want || stay.Cached {
			t.Fatalf("%s: %+v, %+v, %v\n%s", step, res, stay, err, &b.out)
		}
	}
	run("first", line)
	p.take()
	run("second", line+" #2")
	if d := cmp.Diff(map[string]int{"FindMissingBlobs": 1, "BatchUpdateBlobs": 1, "Execute": 1, "BatchReadBlobs": 1}, p.take()); d != "" {
		t.Errorf("calls of a second action: %s", d)
	}

	again := func() {
		b.cluster.Close()
		b.cluster = New(b.cluster.o)
	}
	store(t, modules, map[string]string{"a/deep/x": "not read\n"})
	again()
	run("another run", line+" #3")
	if n := len(b.cluster.installs); n != 2 || p.take()["FindMissingBlobs"] != 1 {
		t.Errorf("%d directories", n)
	}
	store(t, modules, map[string]string{"a/deep/x": "x\n"})
	server.Stop()
	for _, dir := range []string{"cas", "ac"} {
		if err := os.RemoveAll(filepath.Join(server.Dir, dir)); err != nil {
			t.Logf("%v", err) // casd keeps what it has mounted
		}
	}
	server.Start(t)
	again()
	run("a server that has lost it", line+" #4")

	server.Stop()
	if err := os.RemoveAll(filepath.Join(server.Dir, "cas")); err != nil {
		t.Logf("%v", err)
	}
	server.Start(t)
	store(t, modules, map[string]string{"a/deep/x": "changed\n"})
	again()
	if _, _, err := b.run(t.Context(), b.command(line+" #5"), installing("1", needs)); !unavailable(err) || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("changed by something else: %v", err)
	}
	again()
	if _, _, err := b.run(t.Context(), b.command(line+" #6"), installing("1", needs)); err != nil || !strings.Contains(b.out.String(), "changed") {
		t.Errorf("after that: %v\n%s", err, &b.out)
	}
}

// TestInstalledRefuses: what cannot be sent is executed here.
func TestInstalledRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t, "127.0.0.1:1")
	b.input("d/src.c", "source\n")
	b.input("odd/in", "input\n")
	for name, c := range map[string]struct {
		make func(dir string) error
		tree adapters.PortableTree
		says string
	}{
		"a link out":       {func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "l")) }, adapters.PortableTree{}, "leads out"},
		"a relative one":   {func(dir string) error { return os.Symlink("../../x", filepath.Join(dir, "l")) }, adapters.PortableTree{}, "leads out"},
		"out of a cache":   {func(dir string) error { return os.Symlink("../d/src.c", filepath.Join(dir, "l")) }, adapters.PortableTree{Variable: "V"}, "leads out"},
		"a file":           {func(string) error { return nil }, adapters.PortableTree{Dir: filepath.Join(b.root, "d/src.c")}, "no directory"},
		"inputs in it":     {func(string) error { return nil }, adapters.PortableTree{Dir: filepath.Join(b.root, "odd")}, "has inputs"},
		"not in workspace": {func(string) error { return nil }, adapters.PortableTree{Dir: t.TempDir()}, "outside of the workspace"},
	} {
		dir := filepath.Join(b.root, "made "+name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := c.make(dir); err != nil {
			t.Fatal(err)
		}
		if c.tree.Dir == "" {
			c.tree.Dir = dir
		}
		x := &Executor{Cluster: b.cluster}
		installing("1", adapters.Portable{Trees: []adapters.PortableTree{c.tree}})(&x.Job)
		if _, err := x.action(t.Context(), b.command("true")); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// BenchmarkInstalled sends an install of 60,000 files, and executes commands that need it: ns/op is that of a further one, first-s
// is the time of the first, run-s that of the first one of another run.
func BenchmarkInstalled(b *testing.B) {
	const files = 60_000
	x := newBench(b, servertest.Workers(b).GRPC, func(o *Options) { o.State, o.Class = state.Open(b.TempDir()), "x" })
	x.input("d/src.c", "source\n")
	modules := filepath.Join(x.root, "node_modules")
	made := make(map[string]string, files)
	for i := range files {
		made[fmt.Sprintf("p%03d/lib/d%d/f%d.js", i/100, i/10%10, i%10)] = fmt.Sprint(i)
	}
	store(b, modules, made)
	with := installing("1", adapters.Portable{Trees: []adapters.PortableTree{{Dir: modules}}})
	n := 0
	run := func(set ...func(*Job)) time.Duration {
		n++
		began := time.Now()
		if _, _, err := x.run(b.Context(), x.command(fmt.Sprintf("true %d", n)), set...); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	// prepared returns the time without that of the server.
	prepared := func() time.Duration {
		e := &Executor{Cluster: x.cluster}
		with(&e.Job)
		began := time.Now()
		a, err := e.action(b.Context(), &action.Command{Spec: x.command("true").Spec, Words: []string{"true", fmt.Sprint(n)}, Inputs: x.command("true").Inputs})
		if client, cerr := e.client(); err == nil && cerr == nil {
			err = e.upload(b.Context(), client, a, false)
		}
		if err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	first := run(with)
	plain := run()
	x.cluster.Close()
	x.cluster = New(x.cluster.o)
	second := prepared()
	for b.Loop() {
		prepared()
	}
	b.ReportMetric(first.Seconds(), "first-s")
	b.ReportMetric(float64(plain.Milliseconds()), "without-ms")
	b.ReportMetric(float64(second.Microseconds())/1000, "other-run-prepare-ms")
}
