package composer

import (
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
)

// autoload returns a package's autoload settings in a form that does not depend on the order of
// names.
func autoload(root *jsonfile.Value) string {
	v := root.Get("autoload")
	if len(v.Members()) == 0 {
		return "" // same as a missing value
	}
	var b strings.Builder
	write(&b, v)
	return b.String()
}

// write writes a value with sorted names. An empty list and an empty object are the same to
// PHP.
func write(b *strings.Builder, v *jsonfile.Value) {
	switch v.Kind() {
	case jsonfile.Object:
		members := slices.Clone(v.Members())
		slices.SortFunc(members, func(x, y jsonfile.Member) int { return strings.Compare(x.Name, y.Name) })
		b.WriteByte('(')
		for _, m := range members {
			b.WriteString(quote(m.Name))
			b.WriteByte('=')
			write(b, m.Value)
			b.WriteByte(',')
		}
		b.WriteByte(')')
	case jsonfile.Array:
		b.WriteByte('(')
		for _, item := range v.Items() {
			write(b, item)
			b.WriteByte(',')
		}
		b.WriteByte(')')
	default:
		b.WriteString(quote(v.Text() + v.Literal()))
	}
}

func quote(s string) string { return "\"" + strings.ReplaceAll(s, "\"", "\\\"") + "\"" }

// outside returns the directories in autoload and autoload-dev outside of the package,
// relative to it, with forward slashes.
func outside(root *jsonfile.Value) []string {
	var dirs []string
	add := func(v *jsonfile.Value) {
		name := v.Text()
		if name == "" || path.IsAbs(name) {
			return
		}
		if name = path.Clean(name); name == ".." || strings.HasPrefix(name, "../") {
			dirs = append(dirs, name)
		}
	}
	for _, key := range []string{"autoload", "autoload-dev"} {
		for _, kind := range root.Get(key).Members() { // psr-4, psr-0, classmap, files
			for _, v := range kind.Value.Items() {
				add(v)
			}
			for _, m := range kind.Value.Members() {
				add(m.Value)
				for _, v := range m.Value.Items() {
					add(v)
				}
			}
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}
