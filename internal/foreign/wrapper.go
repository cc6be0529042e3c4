package foreign

import (
	"path"
	"slices"
	"strings"
)

// Wrapper returns the tool that a dish starts by a wrapper, Gradle or Maven, if name is the path of the properties
// that name what the wrapper fetches. It returns "" for any other file.
func Wrapper(name string, dishes []Dish) (tool string) {
	switch {
	case strings.HasSuffix("/"+name, "/gradle/wrapper/gradle-wrapper.properties"):
		tool = "Gradle"
	case strings.HasSuffix("/"+name, "/.mvn/wrapper/maven-wrapper.properties"):
		tool = "Maven"
	default:
		return ""
	}
	dir := path.Dir(path.Dir(path.Dir(name)))
	for _, d := range dishes {
		starts := slices.Contains(d.Languages, "gradle") || slices.Contains(d.Languages, "maven")
		if starts && (d.Path == dir || dir == "." || strings.HasPrefix(d.Path, dir+"/")) {
			return tool
		}
	}
	return ""
}
