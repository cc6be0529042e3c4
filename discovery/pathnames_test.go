package discovery

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// namesWith returns names as they are opened after those of dir were saved.
func namesWith(t *testing.T, dir string, stamp tree.Stamp, names ...string) *pathNames {
	parts := state.Open(t.TempDir()).OpenParts("answers", 1)
	parts.Set(namesPart, map[string]pluginNames{dir: {stamp, names}})
	return openPathNames(parts)
}

func TestPathNamesAreSaved(t *testing.T) {
	dir, stamp := longAgo(t)
	p := openPathNames(nil)
	if got := p.Of(dir); len(got) > 0 || p.current[dir].Stamp != stamp {
		t.Fatalf("%s has %q, to be saved: %v", dir, got, p.current)
	}
	if got := namesWith(t, dir, stamp, PluginPrefix+"saved").Of(dir); !cmp.Equal(got, []string{PluginPrefix + "saved"}) {
		t.Errorf("of an unchanged directory: %q, want the saved name", got)
	}
	before := stamp
	stamp.Ctime++
	p = namesWith(t, dir, stamp, PluginPrefix+"saved")
	if got := p.Of(dir); len(got) > 0 || p.current[dir].Stamp != before {
		t.Errorf("of a changed directory: %q, want the names on disk; to be saved: %v", got, p.current)
	}
}

// TestPathNamesOfAFreshDirectory: a directory that has just changed may change again with the same times.
// So its names are never taken from the saved ones.
func TestPathNamesOfAFreshDirectory(t *testing.T) {
	dir := executables(t, map[string]os.FileMode{PluginPrefix + "a": 0o755})
	stamp, settled := tree.ListStamp(dir)
	if settled || stamp == (tree.Stamp{}) {
		t.Fatalf("%v, settled %v", stamp, settled)
	}
	p := namesWith(t, dir, stamp, PluginPrefix+"saved")
	if got := p.Of(dir); !cmp.Equal(got, []string{PluginPrefix + "a"}) {
		t.Errorf("got %q, want the name on disk", got)
	}
	if len(p.current) > 0 {
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
		if got := namesWith(t, dir, stamp, name).Of(dir); len(got) > 0 {
			t.Errorf("saved %q: got %q", name, got)
		}
	}
	if got := openPathNames(nil).Of(filepath.Join(dir, "missing")); len(got) > 0 {
		t.Errorf("a missing directory has %q", got)
	}
}
