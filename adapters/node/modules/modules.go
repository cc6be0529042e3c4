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
// good install of its members has filled, the sign that one has begun, and the mark of
// one whose tool left none where it is known to.
const (
	record   = Dir + "/.bento-installed"
	begun    = Dir + "/.bento-begun"
	unmarked = Dir + "/.bento-unmarked"
)

// maxRecord bounds the record, in directories.
const maxRecord = 50_000

// Made gives what is gone when the install of the scope in dir is, by paths relative
// to it: what the tool is known to leave, or our mark where it leaves something else,
// and the modules of members.
func Made(f *adapters.Files, dir string, known []string) []string {
	if f.IsFile(filepath.Join(dir, unmarked)) {
		known = []string{unmarked}
	}
	return slices.Concat(known, Recorded(f, dir))
}

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
	adapters.Source
	Dir     string   // of the scope, absolute
	Members []string // absolute
	Known   []string // what the tool is known to leave in the scope, relative to it
	Mark    string   // of that, what it writes last; "" for nothing
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
	mark := in.Mark
	if mark == "" || isThere(filepath.Join(in.Dir, unmarked)) {
		mark = record
	}
	if isThere(filepath.Join(in.Dir, begun)) || !isThere(filepath.Join(in.Dir, mark)) {
		return false
	}
	return !slices.ContainsFunc(Recorded(in.Files(in.Dir), in.Dir), func(name string) bool {
		return !isThere(filepath.Join(in.Dir, name))
	})
}

// End notes what a good install has made.
func (in *Install) End() error {
	if err := in.mark(); err != nil {
		return fmt.Errorf("end the install of %q: %w", in.Dir, err)
	}
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

// mark leaves a mark where the tool has left none of what is known: its settings may
// say otherwise, and without one it would be installed again and again.
func (in *Install) mark() error {
	gone := slices.ContainsFunc(in.Known, func(name string) bool { return !isThere(filepath.Join(in.Dir, name)) })
	if !gone {
		if err := os.Remove(filepath.Join(in.Dir, unmarked)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Join(in.Dir, Dir), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(in.Dir, unmarked), nil, 0o644)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
