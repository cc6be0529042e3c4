//go:build linux

package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// TestHostileSuiteIsWhole counts the traps of each kind: files in a clone for the commands that only look,
// replacements of bento's own files, texts that steer a terminal, and manifests that are links out of the
// clone.
func TestHostileSuiteIsWhole(t *testing.T) {
	for _, kind := range []struct {
		name   string
		traps  []string
		wanted int
	}{
		{"commands that only look, by files of tools", lookingTraps(t), 100},
		{"commands that only look, by tools of tasks", toolTraps(t), 6},
		{"commands that only look, by git", slices.Concat(slices.Collect(maps.Values(gitTraps())), []string{gitIncluded, gitAttributes, gitHooks}), 25},
		{"bento's own directories and the cache", ownTraps(t), 100},
		{"terminals", nasty(), 15},
		{"manifests out of the clone", manifestTraps(), 100},
	} {
		slices.Sort(kind.traps)
		n := len(slices.Compact(kind.traps))
		t.Logf("%s: %d", kind.name, n)
		if n < kind.wanted {
			t.Errorf("%s: %d different traps, want %d", kind.name, n, kind.wanted)
		}
	}
}

// lookingTraps lists the traps of testdata/traps by their content, so that a copy of a trap does not
// count twice.
func lookingTraps(t *testing.T) (list []string) {
	t.Helper()
	for _, tr := range traps(t) {
		var b strings.Builder
		for _, line := range tr.env {
			b.WriteString(line + "\n")
		}
		for _, f := range tr.files {
			b.WriteString(f.Name + "\n" + strings.ReplaceAll(string(f.Data), strings.ReplaceAll(tr.name, "_", "-"), ""))
		}
		list = append(list, b.String())
	}
	return list
}

// toolTraps lists the traps of lookingTraps that a task or a parser would start.
func toolTraps(t *testing.T) (list []string) {
	t.Helper()
	for _, tr := range traps(t) {
		if strings.HasPrefix(tr.name, "tool_of_") && tr.key != "" {
			list = append(list, tr.name)
		}
	}
	return list
}

// ownTraps lists the paths that TestOwnDirectories and TestOwnDirectory replace, each with each kind of
// replacement. It leaves out the entries of the cache and files with random names: they are alike.
func ownTraps(t *testing.T) (list []string) {
	t.Helper()
	w := newOwnWorld(t, false)
	w.fill()
	kinds := slices.Collect(maps.Keys(w.plants()))
	for _, paths := range w.ownPaths() {
		for _, path := range paths {
			rel, err := filepath.Rel(w.dir, path)
			w.must(err)
			if strings.HasPrefix(rel, "cache/") && strings.Count(rel, "/") > 2 {
				continue
			}
			for _, kind := range kinds {
				list = append(list, kind+" at "+rel)
			}
		}
	}
	return list
}

// manifestTraps lists the links of TestManifestsBehindLinksOut by the file that they replace.
func manifestTraps() (list []string) {
	for _, a := range builtin.All(snapshot.Options{}) {
		list = append(list, namesOf(a)...)
	}
	return list
}
