package devtool

import (
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// ManifestFiles returns the names of the files that Upward reads.
func ManifestFiles() []string { return []string{"pyproject.toml", "setup.py"} }

// Upward returns the paths in a manifest that lead out of the project: a README, a version file,
// packages from elsewhere. Dependencies by path are links already.
func Upward(dir, file string, data []byte) []adapters.Embed {
	dependency := func(line string) bool {
		return strings.Contains(line, "{") && strings.Contains(line, "path") || strings.Contains(line, "members")
	}
	return snapshot.UpwardPaths(dir, file, data, dependency, "#")
}
