package config

import (
	"sync"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/state"
)

// ParseCache is the saved result of parsing the files of a workspace: settings, and the content of dishes, which
// depends on the settings. It is for one goroutine. A nil ParseCache saves nothing.
type ParseCache struct {
	parts *state.Parts
	front front
	known bool                          // there are settings
	files func() map[string]*parsedDish // by path; nil when there are none yet
	ahead sync.WaitGroup                // reads that were started ahead
}

// settings are the content of all files except those of dishes.
type settings struct {
	Workspace Workspace
	Problems  []diagnostics.Diagnostic
}

// parsedDish is the parsed content of one dish.toml.
type parsedDish struct {
	Path  string
	Sum   [32]byte // digest of the file; zero for an unreadable one
	Value dishOf
}

// dishOf is the content of one dish.toml.
type dishOf struct {
	Dish     dish.Settings
	Problems []diagnostics.Diagnostic
}

// front identifies the settings.
type front struct {
	Program string
	Sources [32]byte // digest of the sources
}

// The file and its parts. The version changes with a type of them.
const (
	parsedFile    = "config"
	parsedVersion = 15
	frontPart     = "front"
	settingsPart  = "settings"
	dishesPart    = "dishes"
)

// OpenParseCache opens the cache in dir. program identifies the executable: another executable may parse the same
// files differently.
func OpenParseCache(dir *state.Dir, program string) *ParseCache {
	m := &ParseCache{parts: dir.OpenParts(parsedFile, parsedVersion)}
	if !m.parts.Get(frontPart, &m.front) || m.front.Program != program {
		m.front = front{Program: program}
		return m
	}
	read := sync.OnceValue(m.read)
	m.known, m.files = true, read
	m.ahead.Go(func() { read() }) // in the background: the caller has other work first
	return m
}

// Wait waits for the reads that OpenParseCache started. The owner calls it at the end.
func (m *ParseCache) Wait() {
	if m != nil {
		m.ahead.Wait()
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
	var kept settings
	if m.known && m.front.Sources == sum && m.parts.Get(settingsPart, &kept) {
		return &kept.Workspace, kept.Problems
	}
	w, problems := s.workspace()
	m.set(sum, settings{*w, problems})
	return w, problems
}

// set replaces the settings, and drops the dishes.
func (m *ParseCache) set(sources [32]byte, s settings) {
	m.ahead.Wait()
	m.front.Sources, m.known, m.files = sources, true, nil
	m.parts.Set(frontPart, m.front)
	m.parts.Set(settingsPart, s)
}

// recall returns the saved content of a dish.toml, nil when there is none. The caller does not change it.
func (m *ParseCache) recall(f Found) *parsedDish {
	if m == nil || m.files == nil || !f.Known {
		return nil
	}
	if d := m.files()[f.Dir]; d != nil && d.Sum == f.Sum {
		return d
	}
	return nil
}

// read returns the saved dishes by path, none if they are unreadable.
func (m *ParseCache) read() map[string]*parsedDish {
	var list []parsedDish
	if !m.parts.Get(dishesPart, &list) {
		return nil
	}
	byPath := make(map[string]*parsedDish, len(list))
	for i := range list {
		byPath[list[i].Path] = &list[i]
	}
	return byPath
}

// keep saves the dishes, the complete list, if they changed. If the write fails, the next command parses the files
// again.
func (m *ParseCache) keep(dishes []*parsedDish) {
	if m == nil || !m.known || !m.news(dishes) {
		return
	}
	var list []parsedDish
	for _, d := range dishes {
		if d.Sum != [32]byte{} {
			list = append(list, *d)
		}
	}
	m.parts.Set(dishesPart, list)
	m.files = sync.OnceValue(m.read)
	_ = m.parts.Save()
}

// news reports whether dishes differ from the saved ones.
func (m *ParseCache) news(dishes []*parsedDish) bool {
	if m.files == nil {
		return true
	}
	count, known := 0, m.files()
	for _, d := range dishes {
		if d.Sum == [32]byte{} {
			continue
		}
		count++
		if k := known[d.Path]; k == nil || k.Sum != d.Sum {
			return true
		}
	}
	return count != len(known)
}
