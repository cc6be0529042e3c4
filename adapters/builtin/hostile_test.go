package builtin_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/sampling"
)

// hostile puts something else in the place of a manifest or lockfile.
var hostile = map[string]func(path string) error{
	"gone":     os.Remove,
	"empty":    func(path string) error { return os.WriteFile(path, nil, 0o644) },
	"zeros":    func(path string) error { return os.WriteFile(path, make([]byte, 5000), 0o644) },
	"wide":     func(path string) error { return os.WriteFile(path, []byte("\xff\xfe{\x00}\x00"), 0o644) },
	"brackets": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("[", 200_000)), 0o644) },
	"braces":   func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("{\"a\":", 100_000)), 0o644) },
	"tags": func(path string) error {
		return os.WriteFile(path, []byte(strings.Repeat("<project>", 100_000)), 0o644)
	},
	"list":      func(path string) error { return os.WriteFile(path, []byte("[]\n"), 0o644) },
	"text":      func(path string) error { return os.WriteFile(path, []byte("\"text\"\n"), 0o644) },
	"huge":      func(path string) error { return os.Truncate(path, snapshot.MaxManifest+1) },
	"directory": func(path string) error { return remake(path, func() error { return os.Mkdir(path, 0o755) }) },
	"loop": func(path string) error {
		return remake(path, func() error { return os.Symlink(filepath.Base(path), path) })
	},
	"outside": func(path string) error { return remake(path, func() error { return os.Symlink("/dev/zero", path) }) },
}

func remake(path string, make func() error) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return make()
}

// Whatever is in place of a manifest or lockfile, an adapter answers or returns a short
// error, in time and without a panic.
func TestHostileManifests(t *testing.T) {
	for _, a := range sampling.Short(t, 4, builtin.All(snapshot.Options{Env: adaptertest.Env()})) {
		t.Run(a.Manifest().AdapterID, func(t *testing.T) {
			t.Parallel()
			id := a.Manifest().AdapterID
			root := adaptertest.Fixture(t, id)
			dirs := dirsOf(t, root)
			for _, name := range interesting(t, root, a.Manifest().FingerprintFiles) {
				for kind, replace := range hostile {
					undo := damage(t, filepath.Join(root, name), replace)
					for _, dir := range dirs {
						askEverything(t, a, dir, name+": "+kind)
					}
					undo()
				}
			}
		})
	}
}

// damage replaces a file and returns the function that restores it.
func damage(t *testing.T, path string, replace func(string) error) (undo func()) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := replace(path); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		adaptertest.Write(t, path, string(data))
	}
}

// interesting lists the files of a fixture that an adapter names.
func interesting(t testing.TB, root string, globs []string) []string {
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && slices.ContainsFunc(globs, func(g string) bool {
			ok, _ := filepath.Match(filepath.Base(g), d.Name())
			return ok && g != "*" && g != "**"
		}) {
			names = append(names, adaptertest.Relative(root, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func dirsOf(t testing.TB, root string) []string {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

func askEverything(t *testing.T, a adapters.Adapter, dir, about string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	_, detect := a.Detect(ctx, dir)
	_, tasks := adapters.Tasks(ctx, a, dir)
	_, links := adapters.Links(ctx, a, dir)
	_, scope := adapters.InstallScope(ctx, a, dir)
	_, lock := adapters.LockDigest(ctx, a, dir)
	_, pin := a.RequiredToolchain(ctx, dir)
	for _, err := range []error{detect, tasks, links, scope, lock, pin} {
		if err != nil && len(err.Error()) > 2000 {
			t.Errorf("%s: an error of %d bytes: %.200s", about, len(err.Error()), err)
		}
	}
	if ctx.Err() != nil {
		t.Errorf("%s: it takes too long", about)
	}
}
