// Package modules looks after the directories that an install fills: it knows which
// are there after a good one, and takes away what an interrupted one left. No file
// in them is ever written to: several package managers link them to a store that
// all projects of the machine share.
package modules

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

// Dir is the name of such a directory.
const Dir = "node_modules"

// The files of bento in the node_modules of a scope: the directories that the last
// good install of its members has filled, and the sign that one has begun.
const (
	record = Dir + "/.bento-installed"
	begun  = Dir + "/.bento-begun"
)

// maxRecord bounds the record, in directories.
const maxRecord = 50_000

// Recorded gives the directories, relative to the scope in dir, that the last good
// install filled besides the scope's own.
func Recorded(f *adapters.Files, dir string) []string {
	data, err := f.ReadIfExists(filepath.Join(dir, record))
	if err != nil {
		return nil
	}
	var list []string
	for line := range strings.Lines(string(data)) {
		name := strings.TrimSuffix(line, "\n")
		if filepath.IsLocal(name) && filepath.Base(name) == Dir && len(list) < maxRecord {
			list = append(list, name)
		}
	}
	return list
}

// Install is one install of a scope.
type Install struct {
	Dir     string   // of the scope, absolute
	Members []string // absolute
	Mark    string   // what the tool writes last into the scope, relative to it; "" for none
	Anew    bool     // nothing of the old is to be trusted
}

// Begin prepares an install: what cannot be trusted is taken away. The tools
// themselves take what is there for whole, even if files are missing in it.
func (in *Install) Begin() error {
	if in.Anew || !in.isWhole() {
		for _, dir := range append([]string{in.Dir}, in.Members...) {
			if !in.holds(dir) {
				continue // behind a link
			}
			if err := os.RemoveAll(filepath.Join(dir, Dir)); err != nil {
				return fmt.Errorf("begin the install of %q: %w", in.Dir, err)
			}
		}
	}
	err := os.WriteFile(filepath.Join(in.Dir, begun), nil, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there is no node_modules yet: what has no mark is not whole
	}
	return err
}

// holds tells whether dir really is at or below the scope.
func (in *Install) holds(dir string) bool {
	scope, err := filepath.EvalSymlinks(in.Dir)
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(scope, real)
	return err == nil && filepath.IsLocal(rel)
}

// isWhole tells whether the last install has come to its end, and is still there.
func (in *Install) isWhole() bool {
	if !isThere(filepath.Join(in.Dir, Dir)) {
		return true // nothing is
	}
	if isThere(filepath.Join(in.Dir, begun)) || in.Mark != "" && !isThere(filepath.Join(in.Dir, in.Mark)) {
		return false
	}
	if in.Mark == "" && !isThere(filepath.Join(in.Dir, record)) {
		return false
	}
	return !slices.ContainsFunc(Recorded(adapters.NewFiles(in.Dir), in.Dir), func(name string) bool {
		return !isThere(filepath.Join(in.Dir, name))
	})
}

// End notes what a good install has made.
func (in *Install) End() error {
	if !isThere(filepath.Join(in.Dir, Dir)) {
		return nil // it needs none
	}
	var b strings.Builder
	for _, dir := range in.Members {
		rel, err := filepath.Rel(in.Dir, filepath.Join(dir, Dir))
		if err == nil && isThere(filepath.Join(dir, Dir)) && !strings.Contains(rel, "\n") {
			b.WriteString(rel + "\n")
		}
	}
	if err := os.WriteFile(filepath.Join(in.Dir, record), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("end the install of %q: %w", in.Dir, err)
	}
	if err := os.Remove(filepath.Join(in.Dir, begun)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end the install of %q: %w", in.Dir, err)
	}
	return nil
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
