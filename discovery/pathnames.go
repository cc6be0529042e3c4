package discovery

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// The names of plugins in the directories of PATH are one file of the workspace's state: a
// directory of programs has thousands of names, and seldom changes.
const (
	pathFile    = "path"
	pathVersion = 2
)

// pathNames has the names of plugins in directories. It is for one goroutine.
type pathNames struct {
	state   *state.Dir // nil saves nothing
	saved   map[string]pluginNames
	current map[string]pluginNames
	changed bool
}

// pluginNames are the names in a directory of plugins and tools, sorted.
type pluginNames struct {
	stamp tree.Stamp // of the directory; zero where it does not identify the names
	names []string
}

// openPathNames reads the names kept in dir.
func openPathNames(dir *state.Dir) *pathNames {
	p := &pathNames{state: dir, current: make(map[string]pluginNames)}
	if dir == nil {
		return p
	}
	payload, err := dir.Load(pathFile, pathVersion)
	if err == nil {
		p.saved, _ = decodePathNames(payload)
	}
	return p
}

// Of returns the names in a directory, which is free of links. They are read again unless the
// directory is the one whose names were saved, unchanged.
func (p *pathNames) Of(dir string) []string {
	stamp, settled := tree.ListStamp(dir)
	n, known := p.saved[dir]
	if !known || !settled || n.stamp != stamp {
		var err error
		n.names, err = readPluginNames(dir)
		n.stamp = tree.Stamp{}
		if again, _ := tree.ListStamp(dir); err == nil && settled && again == stamp {
			n.stamp, p.changed = stamp, true
		}
	}
	p.current[dir] = n
	return n.names
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

// Save saves the names if at least one directory that can be saved was read. Otherwise all are read again.
// It does not make the state's directory, because commands that change nothing search PATH too.
func (p *pathNames) Save() {
	if !p.changed || p.state == nil || p.state.Stamp(".gitignore") == (state.Stamp{}) {
		return
	}
	var w pack.Writer
	dirs := make([]string, 0, len(p.current))
	for dir, n := range p.current {
		if n.stamp != (tree.Stamp{}) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	w.Uint(uint64(len(dirs)))
	for _, dir := range dirs {
		n := p.current[dir]
		w.String(dir)
		w.Int(n.stamp.Mtime)
		w.Int(n.stamp.Ctime)
		w.Uint(n.stamp.Ino)
		w.Uint(n.stamp.Dev)
		w.Strings(n.names)
	}
	_ = p.state.Store(pathFile, pathVersion, w.Payload())
}

func decodePathNames(payload []byte) (map[string]pluginNames, error) {
	r := pack.NewReader(payload)
	saved := make(map[string]pluginNames)
	for range r.Count(6) {
		dir := r.String()
		n := pluginNames{stamp: tree.Stamp{Mtime: r.Int(), Ctime: r.Int(), Ino: r.Uint(), Dev: r.Uint()}, names: r.Strings()}
		if slices.ContainsFunc(n.names, func(name string) bool { return !isNamed(name) || strings.Contains(name, "/") }) {
			return nil, pack.ErrFormat
		}
		saved[dir] = n
	}
	return saved, r.End()
}

// isNamed reports whether a file has the name of a plugin or tool.
func isNamed(name string) bool {
	return strings.HasPrefix(name, PluginPrefix) || strings.HasPrefix(name, toolPrefix)
}
