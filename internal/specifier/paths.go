package specifier

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// maxPath bounds a path in bytes, and maxName a name: no system has longer ones.
const (
	maxPath = 4096
	maxName = 255
)

// The ends of the names of files that a tool adds to a specifier, and those of modules, which it also
// replaces: a source of TypeScript names ./a.js and means ./a.ts.
const (
	ends       = "{ts,tsx,mts,cts,js,jsx,mjs,cjs,json,node,vue,svelte,d.ts,d.mts,d.cts}"
	moduleEnds = "{ts,tsx,mts,cts,js,jsx,mjs,cjs,d.ts,d.mts,d.cts}"
)

// Sources returns the ends of the names of files that Paths reads.
func Sources() []string {
	return []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".astro", ".mdx", ".css", ".scss", ".less"}
}

// Paths returns the files that a source may import by relative paths, as adapters.SourceImporter has them:
// the named file, or one with a usual end, or the index of a directory.
func Paths(file string, data []byte) (list []adapters.Embed) {
	text := string(data)
	line, counted := 1, 0
	seen := make(map[string]bool)
	for from, to := range All(text) {
		to := text[from:to]
		if i := strings.IndexAny(to, "?#"); i >= 0 {
			to = to[:i] // ./a.svg?raw
		}
		if !isRelative(to) || seen[to] {
			continue
		}
		seen[to] = true
		line += strings.Count(text[counted:from], "\n")
		counted = from
		if e, ok := resolve(filepath.Dir(file), to); ok {
			e.File, e.Line = file, line
			list = append(list, e)
		}
	}
	return list
}

func isRelative(s string) bool {
	return s == "." || s == ".." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../")
}

// resolve returns the files that a relative path in a source in dir may mean.
func resolve(dir, to string) (e adapters.Embed, ok bool) {
	if len(to) > maxPath || strings.ContainsRune(to, 0) {
		return e, false
	}
	at := filepath.Join(dir, filepath.FromSlash(to))
	switch path.Base(to) {
	case ".", "..":
		return adapters.Embed{Path: at, Glob: "{index." + ends + ",package.json}"}, true
	}
	name := filepath.Base(at)
	if len(name) > maxName || name == string(filepath.Separator) {
		return e, false
	}
	quoted := Quote(name)
	arms := []string{quoted, quoted + "." + ends, quoted + "/index." + ends, quoted + "/package.json"}
	switch end := path.Ext(name); end {
	case ".js", ".jsx", ".mjs", ".cjs":
		arms = append(arms, Quote(strings.TrimSuffix(name, end))+"."+moduleEnds)
	}
	return adapters.Embed{Path: filepath.Dir(at), Glob: "{" + strings.Join(arms, ",") + "}"}, true
}

// Quote returns a name as a glob that matches it alone.
func Quote(name string) string {
	if !strings.ContainsAny(name, `\*?[]{},!`) {
		return name
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`, `,`, `\,`, `!`, `\!`).Replace(name)
}
