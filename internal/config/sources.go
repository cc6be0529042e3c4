package config

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// sources are the files that configure a workspace, without its dishes, each read once.
type sources struct {
	root      string
	own       string // the user's own file, absolute; "" for none
	clone     *clone.Clone
	bentos    []string // sorted, relative to the root
	adapters  []string // files of bentos/adapters/, likewise
	hasBentos bool     // the directory bentos/ exists, and has entries besides adapters/
	content   map[string]content
	problems  []diagnostics.Diagnostic
}

// content is the content of a file, or its error.
type content struct {
	data []byte
	err  error
}

func readSources(root, own string) *sources {
	s := &sources{root: root, own: own, clone: clone.At(root), content: make(map[string]content)}
	s.listBentos()
	for _, name := range slices.Concat([]string{dish.WorkspaceFile, LockFile}, s.bentos, s.adapters) {
		data, err := read(s.clone, name)
		s.content[name] = content{data, err}
	}
	if own != "" {
		data, err := read(nil, own) // without a clone: the user's own file may be a link
		s.content[own] = content{data, err}
	}
	s.problems = append(s.problems, s.clone.Warnings()...)
	return s
}

// listBentos lists the files of bentos/.
func (s *sources) listBentos() {
	if mode, err := s.clone.Mode(dish.BentosDir); err != nil || !mode.IsDir() {
		return
	}
	entries := s.list(dish.BentosDir)
	s.bentos, s.hasBentos = filesIn(dish.BentosDir, entries), true
	for _, e := range entries {
		if path.Join(dish.BentosDir, e.Name()) == dish.AdaptersDir && e.IsDir() {
			s.adapters = filesIn(dish.AdaptersDir, s.list(dish.AdaptersDir))
			s.hasBentos = len(entries) > 1
		}
	}
}

// list returns the entries of a directory, sorted.
func (s *sources) list(dir string) []fs.DirEntry {
	entries, err := s.clone.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		var perr *fs.PathError
		if errors.As(err, &perr) {
			err = perr.Err
		}
		s.problems = append(s.problems, diagnostics.Pos{File: dir}.Error(RuleUnreadable, "the directory cannot be read: %v", err))
	}
	return entries
}

// filesIn returns the paths of the TOML files among the entries of a directory.
func filesIn(dir string, entries []fs.DirEntry) (files []string) {
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".toml") && !strings.HasPrefix(e.Name(), ".") {
			files = append(files, path.Join(dir, e.Name()))
		}
	}
	return files
}

// parse parses one of the files. For a missing file it returns no result and no problem.
func (s *sources) parse(name string) (*tomlfile.File, []diagnostics.Diagnostic) {
	c := s.content[name]
	if errors.Is(c.err, fs.ErrNotExist) {
		return nil, nil
	}
	if c.err != nil {
		return nil, unreadable(name, c.err)
	}
	return tomlfile.Parse(name, c.data)
}

// digest returns the digest of all sources of the configuration; ok is false if a file could not be read.
func (s *sources) digest() (sum [32]byte, ok bool) {
	var w pack.Writer
	home, _ := os.UserHomeDir() // cache.dir may be relative to it
	w.Strings([]string{s.root, s.own, home})
	w.Strings(s.bentos) // the names, as a file may have been removed meanwhile
	w.Strings(s.adapters)
	if s.hasBentos {
		w.Byte(1)
	} else {
		w.Byte(0)
	}
	for _, name := range slices.Concat([]string{dish.WorkspaceFile, LockFile, s.own}, s.bentos, s.adapters) {
		c := s.content[name]
		if c.err != nil && !errors.Is(c.err, fs.ErrNotExist) {
			return sum, false
		}
		if c.err != nil {
			continue
		}
		w.String(name)
		w.String(string(c.data))
	}
	return blake3.Sum256(w.Payload()), len(s.problems) == 0
}
