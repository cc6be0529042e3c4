package modules

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
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
	in := &Install{Dir: dir, Members: []string{filepath.Join(dir, "p/a"), filepath.Join(dir, "p/b")}, Mark: mark}
	write(t, filepath.Join(dir, "p/b/package.json"))
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
	return in
}

func TestAGoodInstallIsKept(t *testing.T) {
	for _, mark := range []string{"", Dir + "/.done"} {
		in := scope(t, mark)
		if diff := cmp.Diff([]string{"p/a/node_modules"}, Recorded(adapters.NewFiles(in.Dir), in.Dir)); diff != "" {
			t.Error(diff)
		}
		if err := in.Begin(); err != nil || !isThere(filepath.Join(in.Dir, "node_modules/x/index.js")) {
			t.Errorf("what is whole was taken away: %v", err)
		}
	}
}

func TestWhatIsNotWholeIsMadeAnew(t *testing.T) {
	for name, harm := range map[string]func(*Install){
		"asked for":           func(in *Install) { in.Anew = true },
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
	made := func() []string { return Made(adapters.NewFiles(in.Dir), in.Dir, in.Known) }
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

func TestNothingBehindALinkIsTakenAway(t *testing.T) {
	in, other := scope(t, ""), t.TempDir()
	write(t, filepath.Join(other, "node_modules/z/index.js"))
	if err := os.Symlink(other, filepath.Join(in.Dir, "p/c")); err != nil {
		t.Fatal(err)
	}
	in.Members, in.Anew = append(in.Members, filepath.Join(in.Dir, "p/c")), true
	if err := in.Begin(); err != nil || !isThere(filepath.Join(other, "node_modules/z/index.js")) {
		t.Errorf("files of somebody else are gone: %v", err)
	}
}

func TestARecordIsNotBelieved(t *testing.T) {
	in := scope(t, "")
	if err := os.WriteFile(filepath.Join(in.Dir, record), []byte("../../etc/node_modules\np/a\n/node_modules\np/a/node_modules\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"p/a/node_modules"}, Recorded(adapters.NewFiles(in.Dir), in.Dir)); diff != "" {
		t.Error(diff)
	}
}
