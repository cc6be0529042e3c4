package discovery

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// namesPart is the part of the saved answers with the names of plugins in the directories of PATH: a directory of
// programs has thousands of names, and seldom changes.
const namesPart = "path"

// pathNames has the names of plugins in directories.
type pathNames struct{ saved, current map[string]pluginNames }

// pluginNames are the names in a directory of plugins and tools, sorted.
type pluginNames struct {
	Stamp tree.Stamp // of the directory
	Names []string
}

// openPathNames returns the saved names.
func openPathNames(saved *state.Parts) *pathNames {
	p := &pathNames{current: make(map[string]pluginNames)}
	if !saved.Get(namesPart, &p.saved) {
		p.saved = nil
	}
	return p
}

// Of returns the names in a directory, which is free of links. They are read again unless the
// directory is the one whose names were saved, unchanged.
func (p *pathNames) Of(dir string) []string {
	stamp, settled := tree.ListStamp(dir)
	n, known := p.saved[dir]
	if !known || !settled || n.Stamp != stamp || slices.ContainsFunc(n.Names, func(name string) bool { return !isNamed(name) }) {
		names, err := readPluginNames(dir)
		if again, _ := tree.ListStamp(dir); err != nil || !settled || again != stamp {
			return names
		}
		n = pluginNames{stamp, names}
	}
	p.current[dir] = n
	return n.Names
}

// readPluginNames reads the names in a directory; with an error, those that could be read.
func readPluginNames(dir string) ([]string, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0) // waits for no named pipe
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	names = slices.DeleteFunc(names, func(n string) bool { return !isNamed(n) })
	slices.Sort(names)
	return names, err
}

// isNamed reports whether a file has the name of a plugin or tool.
func isNamed(name string) bool {
	return (strings.HasPrefix(name, PluginPrefix) || strings.HasPrefix(name, toolPrefix)) && !strings.Contains(name, "/")
}
