// Package modules manages the directories that an install fills: it records which exist
// after a finished install, and removes what an interrupted one made. It never writes to a
// file in them: several package managers link the files to a store that all projects of the
// machine share.
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
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Dir is the name of such a directory.
const Dir = "node_modules"

// The files of bento in the node_modules of a scope. They list the directories that the last finished install of its
// members has filled, mark an install that has begun, and mark a finished install whose tool leaves no mark.
const (
	record   = Dir + "/.bento-installed"
	begun    = Dir + "/.bento-begun"
	unmarked = Dir + "/.bento-unmarked"
)

// maxRecord is how many directories the record may hold.
const maxRecord = 50_000

// Made returns the paths that a finished install leaves, relative to the scope in dir: the install runs again if one
// is missing. They are the tool's own mark, else bento's, and the modules of members.
func Made(f *snapshot.Files, dir string, known []string) []string {
	if f.IsFile(filepath.Join(dir, unmarked)) {
		known = []string{unmarked}
	}
	return slices.Concat(known, Recorded(f, dir))
}

// Recorded returns the directories, relative to the scope in dir, that the last finished
// install filled besides the scope's own.
func Recorded(f *snapshot.Files, dir string) []string {
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
	snapshot.Source
	Dir     string           // of the scope, absolute
	Members []string         // absolute
	Known   []string         // the paths that the tool makes in the scope, relative to it
	Mark    string           // of Known, the one that the tool writes last, or ""
	Discard bool             // discard the old install
	Claims  *adapters.Claims // the directories that may be removed
	Log     adapters.LogFunc // or nil
}

// Begin prepares an install: it removes what an interrupted one has left. The tools treat existing
// directories as complete, even if files are missing in them. Directories that no recorded install has
// made stay.
func (in *Install) Begin() error {
	dirs := in.dirs()
	if in.Discard || !in.isWhole() {
		for _, dir := range dirs {
			if err := in.Claims.Tracks(dir); err != nil && in.Claims.Owns(dir) {
				in.warn(fmt.Sprintf("%s stays as it is: %v", dir, err))
			} else if err := in.Claims.Remove(dir); err != nil {
				return fmt.Errorf("begin the install of %q: %w", in.Dir, err)
			}
		}
	}
	in.Claims.Begin(dirs)
	err := in.Put(filepath.Join(in.Dir, begun), nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // node_modules is missing: an install without a mark is not complete
	}
	return err
}

func (in *Install) warn(text string) {
	if in.Log != nil {
		in.Log(adapters.Log{Level: "warn", Message: text})
	}
}

// dirs returns the directories of the scope and its members that an install fills, without those
// behind a link.
func (in *Install) dirs() []string {
	list := make([]string, 0, len(in.Members)+1)
	for _, dir := range append([]string{in.Dir}, in.Members...) {
		if in.holds(dir) {
			list = append(list, filepath.Join(dir, Dir))
		}
	}
	return list
}

// TracksAny reports whether git tracks, or may track, a file in one of the directories.
func (in *Install) TracksAny() bool {
	return slices.ContainsFunc(in.dirs(), func(dir string) bool { return in.Claims.Tracks(dir) != nil })
}

// holds reports whether dir, without links, is the scope or below it.
func (in *Install) holds(dir string) bool {
	scope, err := filepath.EvalSymlinks(in.Dir)
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	return adapters.Within(scope, real)
}

// isWhole reports whether the last install finished and still exists.
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
	return !slices.ContainsFunc(Recorded(in.Now().Files(in.Dir), in.Dir), func(name string) bool {
		return !isThere(filepath.Join(in.Dir, name))
	})
}

// End records the directories that a finished install has made.
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
	if err := in.Put(filepath.Join(in.Dir, record), []byte(b.String())); err != nil {
		return fmt.Errorf("end the install of %q: %w", in.Dir, err)
	}
	if err := in.Remove(filepath.Join(in.Dir, begun)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end the install of %q: %w", in.Dir, err)
	}
	return nil
}

// mark writes a mark if the tool left none of Known: its settings may move them, and without a mark
// bento would install again and again.
func (in *Install) mark() error {
	gone := slices.ContainsFunc(in.Known, func(name string) bool { return !isThere(filepath.Join(in.Dir, name)) })
	if !gone {
		if err := in.Remove(filepath.Join(in.Dir, unmarked)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Join(in.Dir, Dir), 0o755); err != nil {
		return err
	}
	return in.Put(filepath.Join(in.Dir, unmarked), nil)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
