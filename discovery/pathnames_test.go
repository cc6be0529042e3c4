package discovery

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// longAgo returns a directory of the system that has not changed for some seconds.
func longAgo(t *testing.T) (dir string, stamp tree.Stamp) {
	t.Helper()
	for _, dir := range []string{"/usr/lib", "/usr", "/etc"} {
		if stamp, settled := tree.ListStamp(dir); settled {
			return dir, stamp
		}
	}
	t.Skip("no directory of this system identifies its names by its times")
	return "", tree.Stamp{}
}

func keepNames(t *testing.T, st *state.Dir, dir string, stamp tree.Stamp, names ...string) {
	t.Helper()
	if err := st.Store("other", 1, nil); err != nil { // makes the directory of the state
		t.Fatal(err)
	}
	p := openPathNames(st)
	p.current[dir], p.changed = pluginNames{stamp: stamp, names: names}, true
	p.Save()
}

func TestPathNamesAreSaved(t *testing.T) {
	dir, stamp := longAgo(t)
	st := state.Open(t.TempDir())
	p := openPathNames(st)
	if got := p.Of(dir); len(got) > 0 || !p.changed {
		t.Fatalf("%s has %q, changed %v", dir, got, p.changed)
	}
	p.Save()
	if st.Stamp(pathFile) != (state.Stamp{}) {
		t.Error("a search made the directory of the state")
	}
	keepNames(t, st, dir, stamp, PluginPrefix+"saved")
	p = openPathNames(st)
	if got := p.Of(dir); !cmp.Equal(got, []string{PluginPrefix + "saved"}) {
		t.Errorf("of an unchanged directory: %q, want the saved name", got)
	}
	if p.changed {
		t.Error("an unchanged directory is saved again")
	}
	stamp.Ctime++
	keepNames(t, st, dir, stamp, PluginPrefix+"saved")
	p = openPathNames(st)
	if got := p.Of(dir); len(got) > 0 || !p.changed {
		t.Errorf("of a changed directory: %q, changed %v, want the names on disk and true", got, p.changed)
	}
	p.Save()
	if p = openPathNames(st); p.saved[dir].stamp == stamp || p.saved[dir].stamp == (tree.Stamp{}) {
		t.Errorf("saved after a change: %+v", p.saved[dir])
	}
}

// TestPathNamesOfAFreshDirectory: a directory that has just changed may change again with the same times.
// So its names are never taken from the saved ones.
func TestPathNamesOfAFreshDirectory(t *testing.T) {
	dir, st := executables(t, map[string]os.FileMode{PluginPrefix + "a": 0o755}), state.Open(t.TempDir())
	stamp, settled := tree.ListStamp(dir)
	if settled || stamp == (tree.Stamp{}) {
		t.Fatalf("%v, settled %v", stamp, settled)
	}
	keepNames(t, st, dir, stamp, PluginPrefix+"saved")
	p := openPathNames(st)
	if got := p.Of(dir); !cmp.Equal(got, []string{PluginPrefix + "a"}) {
		t.Errorf("got %q, want the name on disk", got)
	}
	if p.changed {
		t.Error("the names of a fresh directory are saved")
	}
	if err := os.Chtimes(dir, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, settled := tree.ListStamp(dir); settled {
		t.Error("an mtime that was set back settles a directory")
	}
}

func TestPathNamesThatLeadElsewhere(t *testing.T) {
	dir, stamp := longAgo(t)
	for _, name := range []string{"../" + PluginPrefix + "x", PluginPrefix + "x/y", "sh"} {
		st := state.Open(t.TempDir())
		keepNames(t, st, dir, stamp, name)
		if got := openPathNames(st).Of(dir); len(got) > 0 {
			t.Errorf("saved %q: got %q", name, got)
		}
	}
	if got := openPathNames(state.Open(t.TempDir())).Of(filepath.Join(dir, "missing")); len(got) > 0 {
		t.Errorf("a missing directory has %q", got)
	}
}

func FuzzPathNames(f *testing.F) {
	var w pack.Writer
	w.Uint(1)
	w.String("/usr/bin")
	w.Raw([]byte{1, 1, 1, 1})
	w.Strings([]string{PluginPrefix + "x"})
	f.Add(w.Payload())
	f.Fuzz(func(t *testing.T, data []byte) {
		saved, err := decodePathNames(data)
		for dir, n := range saved {
			for _, name := range n.names {
				if err == nil && filepath.Dir(filepath.Join(dir, name)) != filepath.Clean(dir) {
					t.Errorf("%q leads out of %q", name, dir)
				}
			}
		}
	})
}
