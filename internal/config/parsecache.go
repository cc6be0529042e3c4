package config

import (
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/state"
)

// ParseCache is the saved result of parsing the files of a workspace. It is for one goroutine. A nil
// ParseCache saves nothing.
type ParseCache struct {
	*parsedFiles[settings, dishOf]
}

// settings are the content of all files except those of dishes.
type settings struct {
	Workspace Workspace
	Problems  []diagnostics.Diagnostic
}

// dishOf is the content of one dish.toml, in a workspace with certain settings.
type dishOf struct {
	Dish     dish.Settings
	Problems []diagnostics.Diagnostic
}

// OpenParseCache opens the cache in dir. program identifies the executable: another executable may parse the same
// files differently.
func OpenParseCache(dir *state.Dir, program string) *ParseCache {
	return &ParseCache{openParsed[settings, dishOf](dir, "config", 9, program)}
}

// Wait waits for the reads that OpenParseCache started. The owner calls it at the end.
func (m *ParseCache) Wait() {
	if m != nil {
		m.parsedFiles.Wait()
	}
}

// Load is like the function Load, but parses only changed files. The caller must pass m to LoadDishes only with the
// workspace that Load returned.
func (m *ParseCache) Load(root, own string) (*Workspace, []diagnostics.Diagnostic) {
	s := readSources(root, own)
	sum, ok := s.digest()
	if m == nil || !ok {
		return s.workspace() // a source could not be read
	}
	head, ok := m.Head(sum)
	if !ok {
		w, problems := s.workspace()
		m.SetHead(sum, settings{*w, problems})
		return w, problems
	}
	return &head.Workspace, head.Problems
}

// recall returns the saved content of a dish.toml, nil when there is none.
func (m *ParseCache) recall(f Found) *parsedFile[dishOf] {
	if m == nil || !f.Known {
		return nil
	}
	return m.File(f.Dir, f.Sum)
}

func (m *ParseCache) keep(files []*parsedFile[dishOf]) {
	if m != nil {
		m.Keep(files)
	}
}
