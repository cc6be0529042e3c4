// Package imports finds what the modules of a directory import.
package imports

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/specifier"
)

// Bounds of what In and Of read.
const (
	maxDirs  = 5_000
	maxFiles = 5_000
)

// Import is a specifier in a module.
type Import struct {
	Specifier string
	File      string // absolute
	Line      int
	Test      bool // in a test or a benchmark
}

// Modules are the modules in a directory and below it.
type Modules struct {
	Files    []string // absolute, sorted
	Tests    bool     // has files for "deno test"
	Benches  bool     // has files for "deno bench"
	Complete bool     // all directories were read
}

var (
	module = pattern.New(`\.(ts|tsx|mts|cts|js|jsx|mjs|cjs)$`)
	// Tests are named as in https://docs.deno.com/runtime/fundamentals/testing/.
	test  = pattern.New(`(^|[._])test\.(ts|tsx|mts|js|jsx|mjs)$`)
	bench = pattern.New(`(^|[._])bench\.(ts|tsx|mts|js|jsx|mjs)$`)
)

// In returns the modules in f's directory and below. It leaves out other packages
// (directories with a deno.json), directories whose names begin with a dot, node_modules,
// vendor and those for which skip returns true.
func In(f *snapshot.Files, skip func(dir string) bool) Modules {
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

// isTest reports whether "deno test" runs a file.
func isTest(file string) bool {
	return test.MatchString(filepath.Base(file)) || path.Base(filepath.ToSlash(filepath.Dir(file))) == "__tests__"
}

// IsTest reports whether a module is a test or a benchmark by its name.
func IsTest(file string) bool { return isTest(file) || bench.MatchString(filepath.Base(file)) }

// Of returns what a module imports, each specifier once.
func Of(f *snapshot.Files, file string) []Import {
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
	for from, to := range specifier.All(text) {
		name := text[from:to]
		if seen[name] {
			continue
		}
		seen[name] = true
		line += strings.Count(text[counted:from], "\n")
		counted = from
		list = append(list, Import{
			Specifier: name, File: file, Line: line,
			Test: IsTest(file),
		})
	}
	return list
}
