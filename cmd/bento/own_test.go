//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/sampling"
	"github.com/bentobuild/bento/internal/testrun"
)

// ownWorld is a workspace, its cache, and a canary next to them, which no command may change.
type ownWorld struct {
	t             *testing.T
	dir           string
	ws, cache     string
	canary, other string // a directory, and a file in it to which plants may make a hard link
}

func newOwnWorld(t *testing.T, inside bool) *ownWorld {
	dir := t.TempDir()
	w := &ownWorld{t: t, dir: dir, ws: filepath.Join(dir, "ws"), cache: filepath.Join(dir, "cache"), canary: filepath.Join(dir, "canary")}
	if inside {
		w.cache = filepath.Join(w.ws, ".cache")
	}
	w.other = filepath.Join(w.canary, "hard")
	return w
}

func (w *ownWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// fill writes the workspace and the canary, and runs commands that fill all directories of bento.
func (w *ownWorld) fill() {
	w.t.Helper()
	for name, text := range map[string]string{
		"bento.toml":  "",
		"a/dish.toml": "language = \"none\"\n[tasks.build]\nrun = \"mkdir -p out; cp src out/a; seq 9000 > out/large; echo built\"\noutputs = [\"out/**\"]\n[tasks.test]\nrun = \"echo tested; exit 1\"\n",
		"a/src":       "one\n",
		"b/dish.toml": "language = \"none\"\ndepends_on = [\"a\"]\n[tasks.build]\nrun = \"cat ../a/out/a > bin; cat bin\"\noutputs = [\"bin\"]\n",
	} {
		path := filepath.Join(w.ws, name)
		w.must(os.MkdirAll(filepath.Dir(path), 0o755))
		w.must(os.WriteFile(path, []byte(text), 0o644))
	}
	for _, args := range [][]string{{"run", "build"}, {"run", "build", "test"}, {"plan"}, {"doctor"}} {
		if code, out := w.bento(args...); code > 1 {
			w.t.Fatalf("bento %q: exit %d\n%s", args, code, out)
		}
	}
	w.must(os.RemoveAll(filepath.Join(w.ws, "a", "out")))
	for _, name := range []string{"journal/abc1", "tmp/.bento-tmp-abc1", "tmp/abc2/file", "locks/install-x.lock", "installs/x"} {
		path := filepath.Join(w.ws, ".bento", name)
		w.must(os.MkdirAll(filepath.Dir(path), 0o755))
		w.must(os.WriteFile(path, nil, 0o644))
		long := time.Now().Add(-48 * time.Hour)
		w.must(os.Chtimes(path, long, long))
	}
	w.must(os.WriteFile(filepath.Join(w.cache, "v5", "tmp", "abc3"), nil, 0o644))
	for _, name := range []string{"file", "hard", "sub/file", "sub/deep/file", "abc4"} {
		path := filepath.Join(w.canary, name)
		w.must(os.MkdirAll(filepath.Dir(path), 0o750))
		w.must(os.WriteFile(path, []byte("of somebody: "+name), 0o640))
	}
	w.must(filepath.WalkDir(w.canary, func(path string, _ fs.DirEntry, err error) error {
		long := time.Unix(1_500_000_000, 0)
		return errors.Join(err, os.Chtimes(path, long, long))
	}))
}

// copyOf makes w a copy of another world.
func (w *ownWorld) copyOf(from *ownWorld) {
	w.t.Helper()
	entries, err := os.ReadDir(w.dir)
	w.must(err)
	for _, e := range entries {
		w.must(os.RemoveAll(filepath.Join(w.dir, e.Name())))
	}
	cp, err := exec.LookPath("cp")
	w.must(err)
	var out bytes.Buffer // started by proc: a bento of another subtest, in this process, reaps unknown children
	res, err := proc.Run(w.t.Context(), proc.Spec{Argv: []string{cp, "-a", from.dir + "/.", w.dir}, Stdout: &out, Stderr: &out, Timeout: 5 * time.Minute})
	if err != nil || res.ExitCode != 0 {
		w.t.Fatalf("cp: %+v, %v: %s", res, err, &out)
	}
}

// bento runs a command in this process and returns its exit code and output.
func (w *ownWorld) bento(args ...string) (code int, said string) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	var out said1
	if args[0] == "watch" {
		out.first = cancel // watch runs until its context ends
	}
	environ := append(os.Environ(), "HOME="+filepath.Join(w.dir, "home"), "BENTO_CACHE_DIR="+w.cache, "BENTO_WORKSPACE_ROOT=", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	done := make(chan int)
	go func() {
		done <- execute(ctx, append([]string{"-C", w.ws}, args...), process{out: &out, err: &out, environ: adapters.NewEnviron(environ)})
	}()
	deadline := time.NewTimer(5 * time.Minute)
	defer deadline.Stop()
	select {
	case code = <-done:
	case <-deadline.C:
		w.t.Fatalf("bento %q does not end; it said:\n%s", args, out.text())
	}
	return code, out.text()
}

// said1 collects the output of a command.
type said1 struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	first func() // is called after the first output
}

func (s *said1) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first != nil {
		s.first()
	}
	return s.buf.Write(p)
}

func (s *said1) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// everyCommand is each command that opens a workspace or the cache.
func everyCommand() [][]string {
	var list [][]string
	for _, line := range []string{
		"plan", "plan --json", "graph", "doctor", "why a:build", "dish list", "artifacts", "toolchain list", "clean --dry-run",
		"add a x", "last", "last a:test", "plugin list", "__complete run b", "init", "install", "schema", "explain directory_refused",
		"run build", "run build test --keep-going", "build", "ci", "run build --no-cache", "clean --yes", "build", "watch build",
		"cache stats", "cache fsck", "cache prune --max-size 1B", "cache clear --yes", "build",
	} {
		list = append(list, strings.Fields(line))
	}
	return list
}

// plants returns the functions that replace a path, by kind of the replacement.
func (w *ownWorld) plants() map[string]func(path string) error {
	return map[string]func(path string) error{
		"link to a file":      func(path string) error { return os.Symlink(filepath.Join(w.canary, "file"), path) },
		"link to a directory": func(path string) error { return os.Symlink(w.canary, path) },
		"dangling link":       func(path string) error { return os.Symlink(filepath.Join(w.canary, "gone"), path) },
		"second name":         func(path string) error { return os.Link(w.other, path) },
		"pipe":                func(path string) error { return syscall.Mkfifo(path, 0o666) },
		"directory":           func(path string) error { return os.MkdirAll(filepath.Join(path, "keep", "sub"), 0o755) },
		"of a stranger": func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("of a stranger"), 0o644), os.Lchown(path, 12345, 12345))
		},
	}
}

// plant replaces each of paths.
func (w *ownWorld) plant(paths []string, how func(string) error) {
	w.t.Helper()
	for _, path := range paths {
		w.must(os.RemoveAll(path))
		w.must(how(path))
	}
}

// ownPaths lists the paths of bento's own directories by their depth.
func (w *ownWorld) ownPaths() (levels [][]string) {
	w.t.Helper()
	for _, top := range []string{filepath.Join(w.ws, ".bento"), w.cache} {
		w.must(filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(top, path)
			depth := 0
			if rel != "." {
				depth = 1 + strings.Count(rel, "/")
			}
			for len(levels) <= depth {
				levels = append(levels, nil)
			}
			levels[depth] = append(levels[depth], path)
			return err
		}))
	}
	return levels
}

// outside returns a description of each file of the canary.
func (w *ownWorld) outside() map[string]string {
	w.t.Helper()
	all := make(map[string]string)
	w.must(filepath.WalkDir(w.canary, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := os.Lstat(path)
		if err != nil {
			return err
		}
		text := fmt.Sprint(fi.Mode(), fi.ModTime().UnixNano())
		if fi.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		}
		rel, _ := filepath.Rel(w.canary, path)
		all[rel] = text
		return nil
	}))
	return all
}

// TestOwnDirectories replaces bento's own files and directories, all of one depth at a time. No command then
// changes a file outside, hangs or panics. With -short it tries a sample.
func TestOwnDirectories(t *testing.T) {
	if !testrun.Alone(t) {
		return
	}
	random := sampling.Rand(t)
	for _, inside := range []bool{false, true} {
		from := newOwnWorld(t, inside)
		from.fill()
		levels := from.ownPaths()
		for _, kind := range slices.Sorted(maps.Keys(from.plants())) {
			for depth, paths := range levels {
				if inside && depth > 0 {
					continue // below the top, a cache inside is like one outside
				}
				if testing.Short() && random.IntN(6) > 0 {
					continue // a sample
				}
				t.Run(fmt.Sprintf("%s/depth %d/cache inside %v", kind, depth, inside), func(t *testing.T) {
					t.Parallel()
					if kind == "of a stranger" && os.Getuid() != 0 {
						t.Skip("only root can give a file to another user")
					}
					tryOwn(t, from, kind, [][]string{paths})
				})
			}
		}
	}
}

// TestOwnDirectory replaces one path at a time, for a sample of the paths or all of them.
func TestOwnDirectory(t *testing.T) {
	if !testrun.Alone(t) {
		return
	}
	from := newOwnWorld(t, false)
	from.fill()
	var sets [][]string
	for _, paths := range from.ownPaths() {
		for _, path := range paths {
			sets = append(sets, []string{path})
		}
	}
	kinds := slices.Sorted(maps.Keys(from.plants()))
	if os.Getuid() != 0 {
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == "of a stranger" })
	}
	if !sampling.All() {
		random := sampling.Rand(t)
		random.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
		sets = sets[:2]
		kinds = kinds[random.IntN(len(kinds)):][:1]
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			tryOwn(t, from, kind, slices.DeleteFunc(slices.Clone(sets), func(set []string) bool {
				return kind == "link to a directory" && set[0] == from.cache // the user named the cache directory, so bento follows the link
			}))
		})
	}
}

// tryOwn replaces each set of paths and runs every command.
func tryOwn(t *testing.T, from *ownWorld, kind string, sets [][]string) {
	w := newOwnWorld(t, false)
	w.cache = filepath.Join(w.dir, strings.TrimPrefix(from.cache, from.dir))
	for _, set := range sets {
		again := true
		var want map[string]string
		for _, args := range everyCommand() {
			if again {
				w.copyOf(from)
				var here []string
				for _, path := range set {
					here = append(here, filepath.Join(w.dir, strings.TrimPrefix(path, from.dir)))
				}
				w.plant(here, w.plants()[kind])
				want = w.outside()
			}
			code, said := w.bento(args...)
			if code > 2 && !(args[0] == "watch" && code == exitInterrupted) {
				t.Errorf("%s: bento %q: exit %d\n%s", strings.Join(set[:1], " "), args, code, said)
			}
			if diff := cmp.Diff(want, w.outside()); diff != "" {
				t.Fatalf("%s: bento %q changed what lies outside, -want +got:\n%s", strings.Join(set[:1], " "), args, diff)
			}
			again = sampling.All()
		}
	}
}
