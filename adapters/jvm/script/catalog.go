package script

import (
	"strconv"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Catalog is a version catalog
// (https://docs.gradle.org/current/userguide/version_catalogs.html).
type Catalog struct {
	Path string // absolute
	// Plugins maps the names in scripts, with dots, to ids.
	Plugins map[string]string
	// Java is the version called "java", or "", and its line.
	Java Place
}

// ParseCatalog reads a version catalog. path is absolute. The error is a
// diagnostics.Problems.
func ParseCatalog(path string, data []byte) (*Catalog, error) {
	f, problems := tomlfile.ParseManifest(path, data)
	if len(problems) > 0 {
		return nil, diagnostics.Problems(problems)
	}
	c := &Catalog{Path: path, Plugins: make(map[string]string)}
	if plugins := table(f.Root(), "plugins"); plugins != nil {
		for _, name := range plugins.Keys() {
			c.Plugins[accessor(name)] = pluginID(plugins.Child(name))
		}
	}
	if versions := table(f.Root(), "versions"); versions != nil {
		if v := versions.Child("java"); v != nil {
			c.Java = Place{scalar(v), v.Pos().Line}
		}
	}
	return c, nil
}

func table(v *tomlfile.Value, name string) *tomlfile.Value {
	if c := v.Child(name); c != nil && c.Kind() == tomlfile.Table {
		return c
	}
	return nil
}

// pluginID reads "id:version" and { id = "id", … }.
func pluginID(v *tomlfile.Value) string {
	if v.Kind() == tomlfile.Table {
		if v = v.Child("id"); v == nil {
			return ""
		}
	}
	text, _ := v.Text()
	id, _, _ := strings.Cut(text, ":")
	return id
}

// scalar returns a version, which may be a number.
func scalar(v *tomlfile.Value) string {
	switch x := v.Any().(type) {
	case string:
		return x
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return ""
}

// accessor returns the name of an alias in scripts.
func accessor(alias string) string { return strings.NewReplacer("-", ".", "_", ".").Replace(alias) }
