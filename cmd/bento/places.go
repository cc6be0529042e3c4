package main

import (
	"path/filepath"
	"strings"
	"sync"

	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// places shows the places of problems in the files of a workspace. It finds the workspace only when
// the first problem is shown.
type places struct {
	find func() (root, cwd string, err error)
	once sync.Once
	root string
	cwd  string
	ok   bool

	mu   sync.Mutex
	last string // the last read file, kept because it may have many problems
	data []byte
}

func (p *places) known() bool {
	p.once.Do(func() {
		var err error
		p.root, p.cwd, err = p.find()
		p.ok = err == nil
	})
	return p.ok
}

// Shown converts file, a path relative to the workspace, to a path relative to the current directory.
func (p *places) Shown(file string) string {
	if file == "" || filepath.IsAbs(file) || !p.known() {
		return file
	}
	path := filepath.Join(p.root, filepath.FromSlash(file))
	if rel, err := filepath.Rel(p.cwd, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// Line returns a line of a configuration file of the workspace, or of the user's own.
func (p *places) Line(file string, line int) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last != file {
		p.last, p.data = file, p.read(file)
	}
	text := strings.TrimPrefix(string(p.data), "\xef\xbb\xbf")
	for n := 1; n < line; n++ {
		_, rest, ok := strings.Cut(text, "\n")
		if !ok {
			return "", false
		}
		text = rest
	}
	text, _, _ = strings.Cut(text, "\n")
	return strings.TrimSuffix(text, "\r"), true
}

// read returns the content of a file, nil if it cannot be read.
func (p *places) read(file string) []byte {
	var files *clone.Clone // of the machine
	if !filepath.IsAbs(file) {
		if !p.known() {
			return nil
		}
		files = clone.At(p.root)
	}
	data, err := files.Read(file, tomlfile.MaxConfig)
	if err != nil {
		return nil
	}
	return data
}
