package adaptertest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
)

// Follows checks that an adapter that has answered before answers like a new one when a
// file of the project at root changes in place: an adapter must note every file that a
// remembered value depends on. Follows leaves out each line of each file whose name matches
// one of globs, once, and puts it back. It dates the files in the past, so that no change
// is too recent to be remembered.
func Follows(t *testing.T, start func() adapters.Adapter, root string, globs []string) {
	t.Helper()
	dirs, files := settle(t, root, globs)
	synctest.Test(t, func(t *testing.T) {
		warm, last := start(), time.Now().Add(-24*time.Hour)
		answersOf(t, warm, dirs)
		look := func(about string) {
			time.Sleep(time.Minute) // answers kept for a moment have expired
			if diff := cmp.Diff(answersOf(t, start(), dirs), answersOf(t, warm, dirs)); diff != "" {
				t.Errorf("%s: an adapter that has answered before answers differently (-new +old):\n%s", about, diff)
			}
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(string(data), "\n")
			for i := range lines {
				about := Relative(root, path) + ": " + strings.TrimSpace(lines[i])
				for _, text := range []string{strings.Join(slices.Delete(slices.Clone(lines), i, i+1), ""), string(data)} {
					last = last.Add(time.Second)
					write(t, path, text, last)
					look(about)
				}
				if t.Failed() {
					return
				}
			}
		}
	})
}

// write writes a file with this modification time, and does not change its directory's time.
func write(t *testing.T, path, text string, at time.Time) {
	t.Helper()
	Write(t, path, text)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// settle dates the whole project before the clock of the test and returns its directories
// and the files to change.
func settle(t *testing.T, root string, globs []string) (dirs, files []string) {
	t.Helper()
	long := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() != ".git":
			dirs = append(dirs, path)
		case slices.ContainsFunc(globs, func(g string) bool { ok, _ := filepath.Match(g, d.Name()); return ok }):
			files = append(files, path)
		}
		return os.Chtimes(path, long, long)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs, files
}

// answers are an adapter's answers for one directory.
type answers struct {
	Tasks  adapters.TasksAnswer
	Links  adapters.LinksAnswer
	Scope  adapters.Scope
	Lock   adapters.LockAnswer
	Pin    *adapters.Toolchain
	Errors []string
}

func answersOf(t *testing.T, a adapters.Adapter, dirs []string) map[string]answers {
	t.Helper()
	all := make(map[string]answers)
	for _, dir := range dirs {
		if is, err := a.Detect(t.Context(), dir); err != nil || !is {
			continue
		}
		var one answers
		var errs [5]error
		one.Tasks, errs[0] = adapters.Tasks(t.Context(), a, dir)
		one.Links, errs[1] = adapters.Links(t.Context(), a, dir)
		one.Scope, errs[2] = adapters.InstallScope(t.Context(), a, dir)
		one.Lock, errs[3] = adapters.LockDigest(t.Context(), a, dir)
		one.Pin, errs[4] = a.RequiredToolchain(t.Context(), dir)
		for _, err := range errs {
			if err != nil {
				one.Errors = append(one.Errors, err.Error())
			}
		}
		all[dir] = one
	}
	return all
}
