package config

import (
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config/parsed"
	"github.com/bentobuild/bento/internal/state"
)

// Memory is what the files of a workspace said when they were last parsed. It is for
// one goroutine. Nil remembers nothing.
type Memory struct {
	*parsed.Memory[settings, dishOf]
}

// settings are what bento.toml and bentos/*.toml say.
type settings struct {
	Workspace Workspace
	Problems  []diagnostics.Diagnostic
}

// dishOf is what one dish.toml says, in a workspace with certain settings.
type dishOf struct {
	Dish     Dish
	Problems []diagnostics.Diagnostic
}

// Remember opens the memory in dir. Program says which executable this is: another
// one may make something else of the same files.
func Remember(dir *state.Dir, program string) *Memory {
	return &Memory{parsed.Open[settings, dishOf](dir, "config", 2, program)}
}

// Load is like the function LoadWith, and parses nothing that has not changed.
// LoadDishes of the result, and of nothing else, may be given m.
func (m *Memory) Load(root, own string) (*Workspace, []diagnostics.Diagnostic) {
	s := readSources(root, own)
	sum, ok := s.digest()
	if m == nil || !ok {
		return s.workspace() // of which nothing can be remembered
	}
	head, ok := m.Head(sum)
	if !ok {
		w, problems := s.workspace()
		m.SetHead(sum, settings{*w, problems})
		return w, problems
	}
	return &head.Workspace, head.Problems
}

// recall gives what is remembered of a dish.toml.
func (m *Memory) recall(f Found) (parsed.File[dishOf], bool) {
	if m == nil || !f.Known {
		return parsed.File[dishOf]{}, false
	}
	value, ok := m.File(f.Dir, f.Sum)
	return parsed.File[dishOf]{Path: f.Dir, Sum: f.Sum, Value: value}, ok
}

func (m *Memory) keep(files []parsed.File[dishOf]) {
	if m != nil {
		m.Keep(files)
	}
}
