// Package imports finds what the modules of a directory import.
package imports

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/pattern"
)

// Bounds of what is looked into.
const (
	maxDirs  = 5_000
	maxFiles = 5_000
)

// Import is a specifier that stands in a module.
type Import struct {
	Specifier string
	File      string // absolute
	Line      int
	Test      bool // in a test or a benchmark
}

// Modules are those of a directory and below it.
type Modules struct {
	Files    []string // absolute, sorted
	Tests    bool     // "deno test" finds some
	Benches  bool     // "deno bench" does
	Complete bool     // all directories have been looked into
}

var (
	module = pattern.New(`\.(ts|tsx|mts|cts|js|jsx|mjs|cjs)$`)
	// tests are named as https://docs.deno.com/runtime/fundamentals/testing/ says.
	test  = pattern.New(`(^|[._])test\.(ts|tsx|mts|js|jsx|mjs)$`)
	bench = pattern.New(`(^|[._])bench\.(ts|tsx|mts|js|jsx|mjs)$`)
	// imported is what stands in front of a specifier, also in comments that say
	// which types belong to what is imported. A text that looks like it counts, too.
	imported = pattern.New(`(?:\b(?:from|import|require)\s*\(?\s*|@deno-types\s*=\s*|<reference\s+(?:path|types)\s*=\s*)["']([^"'\r\n]{1,1000})["']`)
)

// In lists the modules in f's directory and below, less those of other packages:
// where a deno.json is. Directories whose names begin with a dot, node_modules,
// vendor and those for which skip is true are passed over.
func In(f *adapters.Files, skip func(dir string) bool) Modules {
	m := Modules{Complete: true}
	queue := []string{f.Dir()}
	for i := 0; i < len(queue); i++ {
		if i == maxDirs || len(m.Files) > maxFiles {
			m.Complete = false
			break
		}
		entries := f.List(queue[i])
		names := make([]string, len(entries))
		for j, e := range entries {
			names[j] = e.Name()
		}
		if i > 0 && (slices.Contains(names, "deno.json") || slices.Contains(names, "deno.jsonc")) {
			continue
		}
		for _, e := range entries {
			at := filepath.Join(queue[i], e.Name())
			switch {
			case e.Type().IsRegular() && module.MatchString(e.Name()):
				m.add(at)
			case e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "node_modules" && e.Name() != "vendor" && !skip(at):
				queue = append(queue, at)
			}
		}
	}
	slices.Sort(m.Files)
	return m
}

func (m *Modules) add(file string) {
	m.Files = append(m.Files, file)
	m.Tests = m.Tests || isTest(file)
	m.Benches = m.Benches || bench.MatchString(filepath.Base(file))
}

// isTest tells of files that "deno test" takes for tests.
func isTest(file string) bool {
	return test.MatchString(filepath.Base(file)) || path.Base(filepath.ToSlash(filepath.Dir(file))) == "__tests__"
}

// Of gives what a module imports, each specifier once.
func Of(f *adapters.Files, file string) []Import {
	data, err := f.Read(file)
	if err != nil {
		return nil
	}
	return find(file, string(data))
}

func find(file, text string) []Import {
	var list []Import
	seen := make(map[string]bool)
	line, counted := 1, 0
	for _, at := range imported.FindAllStringSubmatchIndex(text, -1) {
		specifier := text[at[2]:at[3]]
		if seen[specifier] {
			continue
		}
		seen[specifier] = true
		line += strings.Count(text[counted:at[2]], "\n")
		counted = at[2]
		list = append(list, Import{
			Specifier: specifier, File: file, Line: line,
			Test: isTest(file) || bench.MatchString(filepath.Base(file)),
		})
	}
	return list
}
