package main

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/tree"
)

// wrapperTool returns the tool whose wrapper fetches what the properties file at a path names, "" for
// another file.
func wrapperTool(path string) string {
	switch {
	case strings.HasSuffix("/"+path, "/gradle/wrapper/gradle-wrapper.properties"):
		return "Gradle"
	case strings.HasSuffix("/"+path, "/.mvn/wrapper/maven-wrapper.properties"):
		return "Maven"
	}
	return ""
}

// noteWrapper records the properties of a wrapper that a dish starts.
func (doc *initialised) noteWrapper(e tree.Entry) {
	if wrapperTool(e.Path) == "" || e.Kind != tree.File {
		return
	}
	dir := path.Dir(path.Dir(path.Dir(e.Path)))
	used := slices.ContainsFunc(doc.Dishes, func(d dishRow) bool {
		language := ""
		if d.Language != nil {
			language = *d.Language
		}
		return (language == "gradle" || language == "maven") && (d.Path == dir || dir == "." || strings.HasPrefix(d.Path, dir+"/"))
	})
	if used && doc.wrapper == "" {
		doc.wrapper = e.Path
	}
}

// toolchain returns the table [toolchain] of bento.toml for a workspace with a wrapper: on a machine that
// has never run the wrapper, no task would start.
func (doc *initialised) toolchain(comment func(format string, args ...any)) string {
	if doc.wrapper == "" {
		return ""
	}
	comment("%s names the %s of this project. A machine that lacks it cannot run", doc.wrapper, wrapperTool(doc.wrapper))
	comment("any task unless the wrapper may fetch it. Without this line bento lets no tool download another.")
	return "[toolchain]\nallow_download = true\n"
}
