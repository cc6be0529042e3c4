package jvm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Home is an installed JDK.
type Home struct {
	Dir     string
	Version Version
	Text    string // version and build, from its release file
}

// places returns the usual directories of JDKs, as Gradle looks for them; "~" is the home
// directory (https://docs.gradle.org/current/userguide/toolchains.html#sec:auto_detection).
func places() []string {
	return []string{
		"/usr/lib/jvm/*", "/usr/java/*", "/opt/java/*", "/opt/jdk*",
		"/Library/Java/JavaVirtualMachines/*/Contents/Home",
		"~/Library/Java/JavaVirtualMachines/*/Contents/Home",
		"~/.sdkman/candidates/java/*", "~/.asdf/installs/java/*", "~/.local/share/mise/installs/java/*",
		"~/.jdks/*", "~/.gradle/jdks/*", "~/.jabba/jdk/*",
	}
}

// Installed returns the JDKs that are found without starting them, the newest first. It
// ignores JAVA_HOME.
func Installed(env adapters.Environ) []Home {
	var homes []Home
	seen := make(map[string]bool)
	for _, pattern := range places() {
		if rest, ok := strings.CutPrefix(pattern, "~"); ok {
			if env.Get("HOME") == "" {
				continue
			}
			pattern = env.Get("HOME") + rest
		}
		dirs, _ := filepath.Glob(pattern)
		for _, dir := range dirs {
			real, err := filepath.EvalSymlinks(dir)
			if err != nil || seen[real] {
				continue
			}
			seen[real] = true
			if h := Look(real); h.Version != nil {
				homes = append(homes, h)
			}
		}
	}
	slices.SortStableFunc(homes, func(a, b Home) int { return b.Version.Compare(a.Version) })
	return homes
}

// maxRelease is the size limit of a release file, in bytes.
const maxRelease = 64 << 10

// Look reads the release file of a JDK. Without the file, or without a compiler, the
// Version is nil.
func Look(dir string) Home {
	h := Home{Dir: dir}
	if fi, err := os.Stat(filepath.Join(dir, "bin", "javac")); err != nil || !fi.Mode().IsRegular() {
		return h
	}
	data, err := snapshot.Source{}.Read(filepath.Join(dir, "release"))
	if err != nil || len(data) > maxRelease {
		return h
	}
	properties := ParseProperties(data)
	get := func(name string) string { return strings.Trim(properties[name].Value, `"`) }
	h.Version = ParseVersion(get("JAVA_VERSION"))
	h.Text = strings.TrimSpace(get("JAVA_VERSION") + " " + get("IMPLEMENTOR") + " " + get("JAVA_RUNTIME_VERSION"))
	return h
}
