package project

import (
	"bytes"
	"strings"

	"github.com/bentobuild/bento/adapters/node/settings"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Generation is one of the two programs that are called yarn.
type Generation int

// The generations: yarn 1, and its successors.
const (
	UnknownGeneration Generation = iota // no file identifies it
	Classic
	Berry
)

// Generation returns the yarn of the project in dir.
func (s *Shelf) Generation(f *snapshot.Files, dir string) (Generation, error) {
	return s.generations.Get(f, dir, func(f *snapshot.Files) (Generation, error) { return s.findGeneration(f, dir) })
}

// findGeneration decides by the lockfile, then by the settings, then by package.json.
func (s *Shelf) findGeneration(f *snapshot.Files, dir string) (Generation, error) {
	data, err := f.ReadIfExists("yarn.lock")
	if err != nil {
		return UnknownGeneration, nil // too large, or not a file: yarn reports it
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

// YarnSettings returns the settings of the project in dir, overridden by variables.
func (s *Shelf) YarnSettings(f *snapshot.Files, dir string) (settings.Yarn, error) {
	y, err := s.yarns.Get(f, dir, func(f *snapshot.Files) (settings.Yarn, error) {
		return settings.ReadYarn(f, dir)
	})
	if linker := s.env.Get("YARN_NODE_LINKER"); linker != "" {
		y.Linker = linker
	}
	return y, err
}
