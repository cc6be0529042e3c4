package golang

import (
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bentobuild/bento/adapters/snapshot"
)

// userSettings returns the path of the file that `go env -w` writes.
func (a *Adapter) userSettings() string {
	home, config := a.env.Get("HOME"), a.env.Get("XDG_CONFIG_HOME")
	switch file := a.env.Get("GOENV"); {
	case file != "":
		return file
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "go", "env")
	case config != "":
		return filepath.Join(config, "go", "env")
	default:
		return filepath.Join(home, ".config", "go", "env")
	}
}

// setting returns a variable of `go env` from the environment, or else from the user's
// file, or "". It reads through f.
func (a *Adapter) setting(f *snapshot.Files, name string) string {
	if v := a.env.Get(name); v != "" {
		return v
	}
	file := a.userSettings()
	if !filepath.IsAbs(file) {
		return ""
	}
	written, _ := f.Beyond().ReadIfExists(file) // go ignores a file that it cannot read
	last := ""
	for line := range strings.Lines(string(written)) {
		if v, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), name+"="); ok {
			last = v
		}
	}
	return last
}

// moduleCache returns the directory of downloaded modules, found as `go env GOMODCACHE`
// does without starting go; "" when that fails.
func (a *Adapter) moduleCache(f *snapshot.Files) string {
	cache := a.setting(f, "GOMODCACHE")
	if cache == "" {
		path := a.setting(f, "GOPATH")
		if list := filepath.SplitList(path); len(list) > 0 {
			path = list[0]
		} else {
			path = filepath.Join(a.env.Get("HOME"), "go")
		}
		cache = filepath.Join(path, "pkg", "mod")
	}
	if !filepath.IsAbs(cache) {
		return ""
	}
	return cache
}
