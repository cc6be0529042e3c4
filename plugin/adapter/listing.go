package adapter

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/plugin/host"
)

// listing is the state of a directory that a plugin refused: the names in it, and the stats
// of its marker files.
type listing struct {
	// Stat is the stat of the directory, in a short form. While it is the same, the names are. It is empty
	// if the directory may change again with the same stat.
	Stat    string            `json:"stat,omitempty"`
	Names   string            `json:"names"` // a digest
	Markers map[string]string `json:"markers,omitempty"`
}

// list reads a directory; globs match the plugin's markers. If the directory's stat equals the one in was,
// list does not read the names again.
func list(dir string, globs []string, was listing) listing {
	stat, settled := host.Stat(dir)
	if stat != "" && stat == was.Stat {
		now := listing{Stat: stat, Names: was.Names, Markers: make(map[string]string, len(was.Markers))}
		for name := range was.Markers {
			now.Markers[name], _ = host.Stat(filepath.Join(dir, name))
		}
		return now
	}
	now := listing{Markers: make(map[string]string)}
	if settled {
		now.Stat = stat
	}
	entries, err := os.ReadDir(dir)
	h := sha256.New()
	fmt.Fprintf(h, "%v", err)
	for _, e := range entries {
		fmt.Fprintf(h, "%d %s %d ", len(e.Name()), e.Name(), e.Type())
		if isMarker(globs, e.Name()) {
			now.Markers[e.Name()], _ = host.Stat(filepath.Join(dir, e.Name()))
		}
	}
	now.Names = hex.EncodeToString(h.Sum(nil)[:16])
	return now
}

// same reports whether nothing has changed on which the plugin's answer may depend.
func (l listing) same(was listing) bool {
	if l.Names != was.Names || len(l.Markers) != len(was.Markers) {
		return false
	}
	for name, stat := range l.Markers {
		if was.Markers[name] != stat {
			return false
		}
	}
	return true
}

// isMarker reports whether a name is the first element of a path that one of the globs
// matches.
func isMarker(globs []string, name string) bool {
	for _, glob := range globs {
		first, _, _ := strings.Cut(strings.TrimPrefix(glob, "./"), "/")
		if ok, err := doublestar.Match(first, name); ok || err != nil { // a brace may contain a slash
			return true
		}
	}
	return false
}
