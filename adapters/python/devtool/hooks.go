package devtool

import (
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters/snapshot"
)

// hooksFile is the configuration of pre-commit (https://pre-commit.com/#pre-commit-configyaml---repos).
const hooksFile = ".pre-commit-config.yaml"

// hookRepo returns the last element of the address of the repository of hooks whose revisions are the
// versions of a tool.
func hookRepo(tool string) string {
	if tool == "ruff" {
		return "ruff-pre-commit"
	}
	return tool
}

// hookVersion returns "==" and the version of a tool in the configuration of pre-commit, in f's directory
// or at the root of the workspace; "" without one.
func hookVersion(f *snapshot.Files, tool string) string {
	dirs := []string{f.Dir()}
	if root := f.Root(); root != "" && root != f.Dir() {
		dirs = append(dirs, root)
	}
	for _, dir := range dirs {
		data, err := f.ReadIfExists(filepath.Join(dir, hooksFile))
		if err != nil {
			continue
		}
		if version := versionIn(string(data), tool); version != "" {
			return "==" + version
		}
	}
	return ""
}

// versionIn returns the revision of a tool's repository in a configuration of pre-commit, as a version.
func versionIn(text, tool string) string {
	here := false
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimLeft(line, " \t-"), ":")
		value, _, _ = strings.Cut(value, " #")
		value = strings.Trim(strings.TrimSpace(value), "\"'")
		switch key {
		case "repo":
			here = strings.HasSuffix(strings.TrimSuffix(value, ".git"), "/"+hookRepo(tool))
		case "rev":
			version := strings.TrimPrefix(value, "v")
			if here && isVersion(version) {
				return version
			}
		}
	}
	return ""
}

// isVersion reports whether a text is a plain version such as 0.4.10.
func isVersion(text string) bool {
	return text != "" && len(text) <= 32 && strings.Trim(text, "0123456789.") == "" && text[0] != '.' && strings.Contains(text, ".")
}
