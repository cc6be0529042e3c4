package modules

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/clone"
)

func write(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// scope makes an installed scope with two members, of which one has modules of its
// own.
func scope(t *testing.T, mark string) *Install {
	t.Helper()
	dir := t.TempDir()
	in := &Install{Dir: dir, Members: []string{filepath.Join(dir, "p/a"), filepath.Join(dir, "p/b")}, Mark: mark, Claims: &adapters.Claims{}}
	write(t, filepath.Join(dir, "p/a/package.json"), filepath.Join(dir, "p/b/package.json"))
	if err := in.Begin(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "node_modules/x/index.js"), filepath.Join(dir, "p/a/node_modules/y/index.js"))
	if mark != "" {
		write(t, filepath.Join(dir, mark))
	}
	if err := in.End(); err != nil {
		t.Fatal(err)
	}
	in.Claims.End()
	return in
}

func TestAGoodInstallIsKept(t *testing.T) {
	for _, mark := range []string{"", Dir + "/.done"} {
		in := scope(t, mark)
		if diff := cmp.Diff([]string{"p/a/node_modules"}, Recorded(snapshot.NewFiles(in.Dir), in.Dir)); diff != "" {
			t.Error(diff)
		}
		if err := in.Begin(); err != nil || !isThere(filepath.Join(in.Dir, "node_modules/x/index.js")) {
			t.Errorf("what is whole was taken away: %v", err)
		}
	}
}

func TestWhatIsNotWholeIsMadeAnew(t *testing.T) {
	for name, harm := range map[string]func(*Install){
		"asked for":           func(in *Install) { in.Discard = true },
		"begun and not ended": func(in *Install) { _ = in.Begin() },
		"no mark of the tool": func(in *Install) { os.Remove(filepath.Join(in.Dir, in.Mark)) },
		"modules of a member": func(in *Install) { os.RemoveAll(filepath.Join(in.Dir, "p/a/node_modules")) },
		"made by somebody":    func(in *Install) { in.Mark = ""; os.Remove(filepath.Join(in.Dir, record)) },
	} {
		in := scope(t, Dir+"/.done")
		harm(in)
		if err := in.Begin(); err != nil {
			t.Fatal(err)
		}
		for _, gone := range []string{"node_modules", "p/a/node_modules"} {
			if isThere(filepath.Join(in.Dir, gone)) {
				t.Errorf("%s: %s is left", name, gone)
			}
		}
	}
}

// TestAToolThatLeavesSomethingElse is not run again and again.
func TestAToolThatLeavesSomethingElse(t *testing.T) {
	in := scope(t, Dir+"/.done")
	in.Known = []string{Dir + "/.other"}
	in.Mark = in.Known[0]
	made := func() []string { return Made(snapshot.NewFiles(in.Dir), in.Dir, in.Known) }
	if err := in.End(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{unmarked, "p/a/node_modules"}, made()); diff != "" {
		t.Error(diff)
	}
	if err := in.Begin(); err != nil || !isThere(filepath.Join(in.Dir, "node_modules/x/index.js")) {
		t.Errorf("what is whole was taken away: %v", err)
	}
	write(t, filepath.Join(in.Dir, in.Mark))
	if err := in.End(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{in.Mark, "p/a/node_modules"}, made()); diff != "" {
		t.Error(diff)
	}
	// Nothing at all was to be installed.
	empty := &Install{Dir: t.TempDir(), Known: in.Known}
	if err := empty.End(); err != nil || !isThere(filepath.Join(empty.Dir, unmarked)) {
		t.Error(err)
	}
}

// TestWhatNoInstallHasMadeStays: also after an interrupted or forced install.
func TestWhatNoInstallHasMadeStays(t *testing.T) {
	dir := t.TempDir()
	mine, tracked := filepath.Join(dir, "p/a/node_modules/mine.js"), filepath.Join(dir, "p/b/node_modules/tracked.js")
	write(t, mine, filepath.Join(dir, "p/b/package.json"), filepath.Join(dir, "p/c/package.json"))
	claims := &adapters.Claims{Tracked: func(path string) error {
		if path == filepath.Dir(tracked) {
			return errors.New("git tracks it")
		}
		return nil
	}}
	for range 3 {
		in := &Install{Dir: dir, Members: []string{filepath.Join(dir, "p/a"), filepath.Join(dir, "p/b"), filepath.Join(dir, "p/c")}, Discard: true, Claims: claims}
		if err := in.Begin(); err != nil {
			t.Fatal(err)
		}
		if isThere(filepath.Join(dir, "p/c/node_modules")) {
			t.Error("what the last install has made is left")
		}
		// The install makes these, and is interrupted.
		write(t, filepath.Join(dir, "node_modules/x/index.js"), tracked, filepath.Join(dir, "p/c/node_modules/y.js"))
	}
	for _, path := range []string{mine, tracked} {
		if !isThere(path) {
			t.Errorf("%s is gone", path)
		}
	}
	// The user has made it again by hand.
	claims.End()
	again := filepath.Join(dir, "p/c/node_modules/mine.js")
	if err := os.Rename(filepath.Join(dir, "p/c/node_modules"), filepath.Join(dir, "p/c/old")); err != nil {
		t.Fatal(err)
	}
	write(t, again)
	in := &Install{Dir: dir, Members: []string{filepath.Join(dir, "p/c")}, Discard: true, Claims: claims}
	if err := in.Begin(); err != nil || !isThere(again) {
		t.Errorf("%s is gone: %v", again, err)
	}
}

func TestNothingBehindALinkIsTakenAway(t *testing.T) {
	in, other := scope(t, ""), t.TempDir()
	write(t, filepath.Join(other, "node_modules/z/index.js"))
	if err := os.Symlink(other, filepath.Join(in.Dir, "p/c")); err != nil {
		t.Fatal(err)
	}
	in.Members, in.Discard = append(in.Members, filepath.Join(in.Dir, "p/c")), true
	if err := in.Begin(); err != nil || !isThere(filepath.Join(other, "node_modules/z/index.js")) {
		t.Errorf("files of another program are gone: %v", err)
	}
}

func TestARecordIsNotBelieved(t *testing.T) {
	in := scope(t, "")
	if err := os.WriteFile(filepath.Join(in.Dir, record), []byte("../../etc/node_modules\np/a\n/node_modules\np/a/node_modules\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"p/a/node_modules"}, Recorded(snapshot.NewFiles(in.Dir), in.Dir)); diff != "" {
		t.Error(diff)
	}
}

// outside is a directory that no install of a workspace may touch.
const outside = "of somebody"

// No mark is written, and none removed, behind a link that leads out of the workspace, and
// a mark that is a link is replaced and not followed.
func TestMarksAreNotWrittenBehindLinks(t *testing.T) {
	for name, link := range map[string]string{
		"modules elsewhere": Dir, "a mark that is a link": begun, "a record that is a link": record, "another mark that is one": unmarked,
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			root, there := filepath.Join(dir, "ws"), filepath.Join(dir, "there")
			names := []string{filepath.Base(begun), filepath.Base(record), filepath.Base(unmarked)}
			for _, name := range names {
				adaptertest.Write(t, filepath.Join(there, name), outside)
			}
			target := there
			if link != Dir {
				target = filepath.Join(there, filepath.Base(link))
			}
			path := filepath.Join(root, link)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(target, path)); err != nil {
				t.Fatal(err)
			}
			in := &Install{Source: snapshot.Options{Clone: clone.At(root)}.Source(), Dir: root, Known: []string{Dir + "/.gone"}, Members: []string{filepath.Join(root, "p")}}
			_ = in.mark()
			_ = in.End()
			if link == Dir {
				_ = os.Remove(filepath.Join(there, filepath.Base(begun))) // so that the install is complete
			}
			err = in.Begin()
			if link == begun && err != nil {
				t.Error(err)
			}
			for _, name := range names {
				if data, err := os.ReadFile(filepath.Join(there, name)); (err != nil || string(data) != outside) && !(link == Dir && name == filepath.Base(begun) && errors.Is(err, os.ErrNotExist)) {
					t.Errorf("%s: %q, %v", name, data, err)
				}
			}
		})
	}
}
