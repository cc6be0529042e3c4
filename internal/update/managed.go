package update

import (
	"os"
	"path/filepath"
	"strings"
)

// Manager returns the command that updates the program at path, which another program has installed. It is "" for a
// program that nobody else looks after.
func Manager(path string) string {
	slashed := filepath.ToSlash(path)
	dir := filepath.Dir(path)
	switch {
	case strings.Contains(slashed, "/node_modules/"):
		return "npm install bento-build@latest, or the same with pnpm, yarn or bun"
	case has(filepath.Join(dir, "../lib/python*/site-packages/bento_build-*.dist-info")):
		return "pip install --upgrade bento-build, or uv tool upgrade bento-build"
	case slashed == "/usr/bin/bento" && has("/var/lib/dpkg/info/bento-build.list"):
		return "apt-get install ./bento-build_VERSION_ARCH.deb"
	case strings.Contains(slashed, "/Cellar/"):
		return "brew upgrade bento"
	case strings.Contains(slashed, "/mise/installs/"):
		return "mise use bento@latest"
	}
	return ""
}

// has reports whether a file matches a pattern.
func has(pattern string) bool {
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		return false
	}
	_, err = os.Lstat(found[0])
	return err == nil
}
