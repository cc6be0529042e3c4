package project

import (
	"bytes"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/settings"
)

// Generation tells apart the two programs that are called yarn.
type Generation int

// The generations: yarn 1, and what came after it.
const (
	UnknownGeneration Generation = iota // nothing says which
	Classic
	Berry
)

// Generation tells which yarn the project in dir is for.
func (s *Shelf) Generation(f *adapters.Files, dir string) (Generation, error) {
	return s.generations.Get(f, dir, func(f *adapters.Files) (Generation, error) { return s.findGeneration(f, dir) })
}

// findGeneration goes by the lockfile, then by the settings, then by what
// package.json asks for.
func (s *Shelf) findGeneration(f *adapters.Files, dir string) (Generation, error) {
	data, err := f.ReadIfExists("yarn.lock")
	if err != nil {
		return UnknownGeneration, nil // too large, or no file: yarn will tell
	}
	head := data[:min(len(data), 256)]
	switch {
	case bytes.Contains(head, []byte("yarn lockfile v1")):
		return Classic, nil
	case bytes.Contains(data, []byte("__metadata:")), f.IsFile(settings.YarnFile):
		return Berry, nil
	}
	m, err := s.Read(f, dir)
	if m == nil || err != nil {
		return UnknownGeneration, err
	}
	switch name, version := m.Manager(); {
	case Manager(name) != Yarn || version == "":
		return UnknownGeneration, nil
	case version == "1" || strings.HasPrefix(version, "1."):
		return Classic, nil
	}
	return Berry, nil
}

// YarnSettings reads the settings of the project in dir, and what variables say in
// their place.
func (s *Shelf) YarnSettings(f *adapters.Files, dir string) (settings.Yarn, error) {
	y, err := s.yarns.Get(f, dir, func(f *adapters.Files) (settings.Yarn, error) {
		return settings.ReadYarn(f, dir)
	})
	if linker := s.env.Get("YARN_NODE_LINKER"); linker != "" {
		y.Linker = linker
	}
	return y, err
}
