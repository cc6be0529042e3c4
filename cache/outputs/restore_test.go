//go:build unix

package outputs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/outputs"
	"github.com/bentobuild/bento/internal/rawfile"
)

// A tree is a workspace as text: "path" → "mode content", "-> target" or "mode/"
// for a directory.
type tree map[string]string

func makeTree(t testing.TB, root string, files tree) {
	t.Helper()
	for _, p := range sortedKeys(files) {
		if err := makeOne(filepath.Join(root, p), files[p]); err != nil {
			t.Fatal(err)
		}
	}
}

func makeOne(path, what string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if target, ok := strings.CutPrefix(what, "-> "); ok {
		return os.Symlink(target, path)
	}
	var mode fs.FileMode
	if _, err := fmt.Sscanf(what, "%o", &mode); err != nil {
		return err
	}
	if strings.HasSuffix(what, "/") {
		return errors.Join(os.MkdirAll(path, 0o755), os.Chmod(path, mode))
	}
	_, content, _ := strings.Cut(what, " ")
	return errors.Join(os.WriteFile(path, []byte(content), 0o666), os.Chmod(path, mode))
}

// readTree returns all entries of a workspace except directories that are not empty.
func readTree(t testing.TB, root string) tree {
	t.Helper()
	files := tree{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		fi, err := e.Info()
		if err != nil {
			return err
		}
		switch {
		case e.IsDir():
			if below, _ := os.ReadDir(path); len(below) == 0 {
				files[rel] = fmt.Sprintf("%o/", fi.Mode().Perm())
			}
		case fi.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			files[rel] = "-> " + target
		default:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files[rel] = fmt.Sprintf("%o %s", fi.Mode().Perm(), data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func sortedKeys(files tree) []string {
	keys := make([]string, 0, len(files))
	for k := range files {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func captured(t testing.TB, s cache.Store, files tree) []cache.Output {
	t.Helper()
	root := t.TempDir()
	makeTree(t, root, files)
	outputs, err := outputs.Capture(nil, s, root, sortedKeys(files))
	if err != nil {
		t.Fatal(err)
	}
	return outputs
}

var sample = tree{
	"dist/app":              "755 binary",
	"dist/app.js":           "644 js",
	"dist/empty":            "700/",
	"dist/lib/deep/er/x":    "600 x",
	"dist/lib/link":         "-> deep/er/x",
	"dist/lib/dangling":     "-> nowhere",
	"dist/lib/up":           "-> ../../src",
	"dist/name\nwith\xff":   "644 odd",
	"dist/read-only":        "444 fixed",
	"dist/read-only-dir":    "555/",
	"dist/zero":             "644 ",
	"other":                 "640 at the top",
	"dist/.hidden/.gitkeep": "644 ",
}

func TestRestoreAll(t *testing.T) {
	s, _ := openDisk(t)
	want := captured(t, s, sample)
	for _, stage := range []string{"", ".bento/tmp"} {
		root := t.TempDir()
		if stage != "" {
			stage = filepath.Join(root, stage)
		}
		stats, err := restore(s, root, stage, want, outputs.Options{})
		if err != nil || stats.Written != len(want) || stats.Kept != 0 || stats.Removed != 0 {
			t.Errorf("%+v, %v", stats, err)
		}
		if stage != "" {
			if left, _ := os.ReadDir(stage); len(left) != 0 {
				t.Errorf("left in the stage: %v", left)
			}
			os.RemoveAll(filepath.Join(root, ".bento"))
		}
		if diff := cmp.Diff(sample, readTree(t, root)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

// Concurrent restores share no buffer, even after one of them has ended.
func TestRestoresAtOnce(t *testing.T) {
	s, _ := openDisk(t)
	root := t.TempDir()
	r := outputs.NewRestorer(root, func() (*rawfile.File, error) { return rawfile.OpenDir(root) })
	defer r.Close()
	all := make([][]cache.Output, 8)
	for i := range all {
		files := tree{}
		for j := range 20 {
			files[fmt.Sprintf("%d/f%d", i, j)] = "644 " + strings.Repeat(fmt.Sprint(i, j), 2000)
		}
		all[i] = captured(t, s, files)
	}
	if _, err := r.Restore(s, all[0], outputs.Options{}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, want := range all[1:] {
		wg.Go(func() {
			if _, err := r.Restore(s, want, outputs.Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(readTree(t, root)); n != 8*20 {
		t.Errorf("%d files, want %d", n, 8*20)
	}
}

// stamp returns values of which one changes if a file is touched.
func stamp(t *testing.T, path string) [3]int64 {
	t.Helper()
	fi, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	st := fi.Sys().(*syscall.Stat_t)
	return [3]int64{fi.ModTime().UnixNano(), ctime(st), int64(st.Ino)}
}

func TestRestoreKeepsWhatIsRight(t *testing.T) {
	s, _ := openDisk(t)
	want := captured(t, s, sample)
	root := t.TempDir()
	if _, err := restore(s, root, "", want, outputs.Options{}); err != nil {
		t.Fatal(err)
	}
	before := make(map[string][3]int64)
	for p := range sample {
		before[p] = stamp(t, filepath.Join(root, p))
	}
	asked := 0
	for _, current := range []func(string) (cache.Digest, bool){
		nil,
		func(string) (cache.Digest, bool) { return cache.Digest{}, false },
		func(path string) (cache.Digest, bool) {
			asked++
			i := slices.IndexFunc(want, func(o cache.Output) bool { return o.Path == path })
			return want[i].Digest, true
		},
	} {
		stats, err := restore(s, root, "", want, outputs.Options{Current: current})
		if err != nil || stats.Written != 0 || stats.Kept != len(want) {
			t.Errorf("%+v, %v", stats, err)
		}
	}
	for p := range sample {
		if got := stamp(t, filepath.Join(root, p)); got != before[p] {
			t.Errorf("%q was touched", p)
		}
	}
	if asked != 8 {
		t.Errorf("asked for %d digests, want one for each of 8 files", asked)
	}
}

func TestRestoreTellsWhatItTouched(t *testing.T) {
	s, _ := openDisk(t)
	want := captured(t, s, tree{"a": "644 a", "b": "644 b", "c": "644 c", "d": "644 d", "e": "-> a"})
	root := t.TempDir()
	makeTree(t, root, tree{"a": "644 a", "b": "600 b", "c": "644 x"})
	var got []string
	stats, err := restore(s, root, "", want, outputs.Options{
		Current: func(path string) (cache.Digest, bool) {
			data, err := os.ReadFile(filepath.Join(root, path))
			return cache.Sum(data), err == nil
		},
		Restored: func(path string, d cache.Digest) {
			if data, _ := os.ReadFile(filepath.Join(root, path)); cache.Sum(data) != d {
				t.Errorf("%q is not in place yet", path)
			}
			got = append(got, path)
		},
	})
	if err != nil || stats != (outputs.Stats{Written: 3, Kept: 2, Bytes: 2}) {
		t.Errorf("%+v, %v", stats, err)
	}
	if want := []string{"b", "c", "d"}; !cmp.Equal(got, want) {
		t.Errorf("reported %q, want %q", got, want)
	}
}

// A case is a workspace before, the wanted outputs, the stale ones, and the workspace after. With a
// refused path nothing changes.
var restoreCases = map[string]struct {
	before, want, after tree
	stale               []string
	refused             string
}{
	"nothing": {
		before: tree{"a": "644 a"}, after: tree{"a": "644 a"},
	},
	"replace": {
		before: tree{"a": "644 old", "b": "644 b", "l": "-> a"},
		want:   tree{"a": "755 new", "l": "-> b"},
		after:  tree{"a": "755 new", "b": "644 b", "l": "-> b"},
	},
	"mode only": {
		before: tree{"a": "644 a", "ro": "444 a", "d": "755/"},
		want:   tree{"a": "755 a", "ro": "644 a", "d": "700/"},
		after:  tree{"a": "755 a", "ro": "644 a", "d": "700/"},
	},
	"over read-only files": {
		before: tree{"d/a": "444 old"}, want: tree{"d/a": "444 new"}, after: tree{"d/a": "444 new"},
	},
	"link over file and file over link": {
		before: tree{"a": "644 a", "b": "-> a"},
		want:   tree{"a": "-> b", "b": "644 b"}, stale: []string{"a", "b"},
		after: tree{"a": "-> b", "b": "644 b"},
	},
	"link over a foreign file": {
		before: tree{"a": "644 mine"}, want: tree{"a": "-> b"}, refused: "a",
	},
	"file over a foreign link": {
		before: tree{"b": "-> mine"}, want: tree{"a": "644 a", "b": "644 b"}, refused: "b",
	},
	"what a link leads to is not written": {
		before: tree{"src": "644 mine", "out": "-> src"},
		want:   tree{"out": "644 new"}, stale: []string{"out"},
		after: tree{"src": "644 mine", "out": "644 new"},
	},
	"stale": {
		before: tree{"d/a": "644 a", "d/b": "644 b", "d/mine": "644 mine", "e/l": "-> x"},
		want:   tree{"d/a": "644 a"},
		stale:  []string{"d/a", "d/b", "e/l", "gone", "gone/too", "d", "e"},
		after:  tree{"d/a": "644 a", "d/mine": "644 mine"},
	},
	"stale directory with something in it": {
		before: tree{"d/mine": "644 mine"}, stale: []string{"d"}, after: tree{"d/mine": "644 mine"},
	},
	"stale behind a link": {
		before: tree{"src/a": "644 mine", "d": "-> src"}, stale: []string{"d/a"},
		after: tree{"src/a": "644 mine", "d": "-> src"},
	},
	"directories emptied of what is stale": {
		before: tree{"d/e/a": "644 a", "d/e/f/b": "644 b", "d/g/mine": "644 mine", "h/a": "644 a"},
		want:   tree{"d/e": "755/", "h/b": "644 b"},
		stale:  []string{"d/e/a", "d/e/f/b", "h/a"},
		after:  tree{"d/e": "755/", "d/g/mine": "644 mine", "h/b": "644 b"},
	},
	"nothing but stale": {
		before: tree{"a": "644 a"}, stale: []string{"a"}, after: tree{},
	},
	"directory over file": {
		before: tree{"d": "644 was a file"}, want: tree{"d": "755/"}, stale: []string{"d"}, after: tree{"d": "755/"},
	},
	"directory over a foreign file": {
		before: tree{"d": "644 mine"}, want: tree{"d": "755/"}, refused: "d",
	},
	"file in the place of a directory above": {
		before: tree{"d": "644 was a file"}, want: tree{"d/e/f": "644 f", "d/g": "644 g"}, stale: []string{"d"},
		after: tree{"d/e/f": "644 f", "d/g": "644 g"},
	},
	"foreign file in the place of a directory above": {
		before: tree{"d": "644 mine"}, want: tree{"a": "644 a", "d/e/f": "644 f"}, refused: "d/e/f",
	},
	"file over directory": {
		before: tree{"d/a": "644 a", "d/e/b": "-> a", "d/e/f": "755/"}, want: tree{"d": "644 file"},
		stale: []string{"d/a", "d/e/b"}, after: tree{"d": "644 file"},
	},
	"link over directory": {
		before: tree{"d/a": "644 a"}, want: tree{"d": "-> x"}, stale: []string{"d/a"}, after: tree{"d": "-> x"},
	},
	"file over directory with foreign files": {
		before: tree{"d/a": "644 a", "d/e/mine": "644 mine"}, want: tree{"a": "644 a", "d": "644 file"},
		stale: []string{"d/a"}, refused: "d/e",
	},
	"behind a link": {
		before: tree{"src/a": "644 mine", "d": "-> src"}, want: tree{"d/a": "644 new"}, refused: "d/a",
	},
	"behind a link that is stale": {
		before: tree{"src/a": "644 mine", "d": "-> src"}, want: tree{"d/a": "644 new"}, stale: []string{"d"},
		after: tree{"src/a": "644 mine", "d/a": "644 new"},
	},
	"stale in a .git": {
		before: tree{"a": "644 a"}, want: tree{"a": "644 b"}, stale: []string{".git/config"}, refused: ".git/config",
	},
	"empty directory is there, not empty": {
		before: tree{"d/mine": "644 mine"}, want: tree{"d": "755/"}, after: tree{"d/mine": "644 mine"},
	},
	"directory that is filled too": {
		want: tree{"d": "755/", "d/a": "644 a", "d.a": "644 x"}, after: tree{"d/a": "644 a", "d.a": "644 x"},
	},
}

func TestRestoreCases(t *testing.T) {
	for name, tt := range restoreCases {
		t.Run(name, func(t *testing.T) {
			s, _ := openDisk(t)
			want := captured(t, s, tt.want)
			root := t.TempDir()
			makeTree(t, root, tt.before)
			_, err := restore(s, root, "", want, outputs.Options{Stale: tt.stale})
			var refused *cache.RefusedError
			switch {
			case tt.refused == "" && err != nil:
				t.Error(err)
			case tt.refused != "":
				tt.after = tt.before
				if !errors.As(err, &refused) || refused.Path != tt.refused {
					t.Errorf("%v, want %q refused", err, tt.refused)
				}
			}
			if diff := cmp.Diff(tt.after, readTree(t, root)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestRestoreHostileRecords(t *testing.T) {
	s, _ := openDisk(t)
	d := captured(t, s, tree{"a": "644 a"})[0]
	file := func(path string) cache.Output { d.Path = path; return d }
	link := func(path, to string) cache.Output { return cache.Output{Path: path, Kind: cache.Link, Target: to} }
	for name, want := range map[string][]cache.Output{
		"absolute":      {file("/tmp/x")},
		"up":            {file("../x")},
		"up inside":     {file("a/../../x")},
		"git":           {file(".git/hooks/pre-commit")},
		"deep git":      {file("a/.git/config")},
		"git by case":   {file(".Git/config")},
		"state":         {file(".bento/index")},
		"below a file":  {file("a"), file("a/b")},
		"below a link":  {link("a", "b"), file("a/b")},
		"unsorted":      {file("b"), file("a")},
		"link out":      {link("a", "../../etc")},
		"link absolute": {link("a", "/etc/passwd")},
		"link to \"\"":  {link("a", "")},
		"the root":      {file(".")},
		"empty":         {file("")},
		"NUL":           {file("a\x00b")},
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "ws")
			if err := os.Mkdir(root, 0o777); err != nil {
				t.Fatal(err)
			}
			var refused *cache.RefusedError
			if _, err := restore(s, root, "", want, outputs.Options{}); !errors.As(err, &refused) {
				t.Errorf("%v, want a RefusedError", err)
			}
			if got := readTree(t, filepath.Dir(root)); !cmp.Equal(got, tree{"ws": "755/"}) {
				t.Errorf("changed: %v", got)
			}
		})
	}
}

// If the store fails in any way, the restore changes nothing.
func TestRestoreFailsWhole(t *testing.T) {
	before := tree{"a": "644 old", "stale": "644 stale"}
	want := tree{"a": "644 new", "b": "644 " + strings.Repeat("b\n", 100_000), "c": "644 c"}
	for name, damage := range map[string]func(t *testing.T, s *cache.Disk, out []cache.Output){
		"a blob is gone": func(t *testing.T, s *cache.Disk, out []cache.Output) {
			removeBlob(t, s, out[2].Digest)
		},
		"a blob is damaged": func(t *testing.T, s *cache.Disk, out []cache.Output) {
			for _, path := range blobFiles(t, s) {
				if strings.Contains(path, out[1].Digest.String()[2:]) {
					damage(t, path, cutByOne)
				}
			}
		},
		"the record's size is wrong":  func(_ *testing.T, _ *cache.Disk, out []cache.Output) { out[2].Size++ },
		"the record's size is small":  func(_ *testing.T, _ *cache.Disk, out []cache.Output) { out[1].Size = 10 },
		"the store has another blob":  func(_ *testing.T, _ *cache.Disk, out []cache.Output) { out[2].Digest[5]++ },
		"everything is gone":          func(t *testing.T, s *cache.Disk, _ []cache.Output) { s.Clear(t.Context()) },
		"the stage cannot be written": nil,
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := openDisk(t)
			out := captured(t, s, want)
			root := t.TempDir()
			makeTree(t, root, before)
			o, stage := outputs.Options{Stale: []string{"stale"}}, ""
			if damage != nil {
				damage(t, s, out)
			} else {
				stage = filepath.Join(root, "a")
			}
			if _, err := restore(s, root, stage, out, o); err == nil {
				t.Error("no error")
			}
			if diff := cmp.Diff(before, readTree(t, root)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func removeBlob(t *testing.T, s *cache.Disk, d cache.Digest) {
	t.Helper()
	for _, path := range blobFiles(t, s) {
		if strings.Contains(path, d.String()[2:]) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestRemove(t *testing.T) {
	root := t.TempDir()
	makeTree(t, root, tree{"a": "644 a", "d/b": "644 b", "e": "755/", "l": "-> d"})
	for _, p := range []string{"a", "d", "e", "l", "gone", "a/b", "no/such", "l/b"} {
		if err := outputs.Remove(root, p); err != nil {
			t.Errorf("%q: %v", p, err)
		}
	}
	if got := readTree(t, root); !cmp.Equal(got, tree{"d/b": "644 b"}) {
		t.Errorf("left: %v", got)
	}
	for _, p := range []string{"../x", ".git/config", "/etc/passwd", ""} {
		if err := outputs.Remove(root, p); err == nil {
			t.Errorf("%q: no error", p)
		}
	}
}
