// Package snapshot shows a workspace's files to the adapters that are part of bento, as the walk found them, and notes
// which of them an answer depends on, so that discovery knows when the answer is out of date.
package snapshot

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
)

// View is the state of the files of a workspace after a walk. The package does not depend on the
// walk: plugins are built on it.
type View interface {
	// State returns the state of an absolute path, with the Sum of a file if whole is set; known is
	// false if only the disk has it. It reads no file whose digest is known.
	State(path string, whole bool) (s adapters.State, known bool)
	// Now returns the state of a file as it is on the disk, with its Sum. It reads no file
	// whose digest is known.
	Now(path string) (s adapters.State, known bool)
	// Ignored reports whether git ignores a path, of a directory if dir is set.
	Ignored(path string, dir bool) bool
}

// Snapshot is the state of a workspace and of the machine from which all questions of one invocation
// are answered. Values that adapters have made of it are valid as long as it is. The zero value is
// empty: files are read from the disk.
type Snapshot struct {
	view    View
	changes atomic.Uint64
	acts    atomic.Bool
	tops    sync.Map // by directory, what isTop returned
	lists   sync.Map // by agedPath, what list returned
}

// agedPath is a path after a number of changes.
type agedPath struct {
	path string
	age  uint64
}

// list returns the state of a directory with its names, which look finds once until the next change.
func (s *Snapshot) list(path string, look func() adapters.State) adapters.State {
	if !s.held() {
		return look()
	}
	at := agedPath{path, s.age()}
	known, ok := s.lists.Load(at)
	if !ok {
		known, _ = s.lists.LoadOrStore(at, look())
	}
	return known.(adapters.State)
}

// Hold makes the snapshot show view from now on. It is called once, before adapters are
// asked.
func (s *Snapshot) Hold(view View) { s.view = view }

// Changed notes that files of the workspace have changed, such as by an install: from now on files
// are read from the disk, and each value that was made of files is compared with it once. It is safe
// for concurrent use; a nil Snapshot has nothing to note.
func (s *Snapshot) Changed() {
	if s != nil {
		s.changes.Add(1)
	}
}

// Acts ends the time in which every file that the walk did not find is missing: from now on tasks and
// installs may make files, or a run that this one has waited for. It is safe for concurrent use; a nil
// Snapshot has nothing to note.
func (s *Snapshot) Acts() {
	if s != nil {
		s.acts.Store(true)
	}
}

// Acted reports whether files of the workspace may have been made since the walk: Acts was called, or there
// is no walk.
func (s Source) Acted() bool {
	return !s.snapshot.held() || s.snapshot.age() > 0 || s.snapshot.acts.Load()
}

// age returns the number of changes so far.
func (s *Snapshot) age() uint64 {
	if s == nil {
		return 0
	}
	return s.changes.Load()
}

// state is that of the view, and after a change that of the disk.
func (s *Snapshot) state(path string, whole bool) (adapters.State, bool) {
	switch {
	case !s.held():
		return adapters.State{}, false
	case s.age() == 0:
		state, known := s.view.State(path, whole)
		return state, known && (state.Kind != adapters.Absent || !s.acts.Load())
	case whole:
		return s.view.Now(path)
	}
	return adapters.State{}, false
}

// held reports whether s shows something. A nil Snapshot does not.
func (s *Snapshot) held() bool { return s != nil && s.view != nil }

// State returns the state of an absolute path, also of one outside of the workspace, with
// its Sum if whole is set.
func (s Source) State(path string, whole bool) adapters.State {
	s.beyond = s.clone != nil
	if state, known := s.snapshot.state(path, whole); known {
		return state
	}
	kind := s.kind(path)
	switch {
	case whole && kind == adapters.Regular:
		return stateOf(s.of(path).Read(path, MaxManifest))
	case whole && kind == adapters.Directory:
		if entries, err := s.of(path).List(path); err == nil {
			return stateOfList(entries)
		}
		return adapters.State{Kind: adapters.Unsteady}
	}
	return adapters.State{Kind: kind}
}

// look returns the kind of a path.
func (s Source) look(path string) adapters.Kind {
	if state, known := s.snapshot.state(path, false); known {
		return state.Kind
	}
	return s.kind(path)
}

// kind is look on the disk.
func (s Source) kind(path string) adapters.Kind {
	mode, err := s.of(path).Mode(path)
	switch {
	case err != nil:
		return stateOf(nil, err).Kind
	case mode.IsRegular():
		return adapters.Regular
	case mode.IsDir():
		return adapters.Directory
	}
	return adapters.Other
}

// stateOf returns the state of a file with this content, or error.
func stateOf(data []byte, err error) adapters.State {
	var irregular *clone.IrregularError
	switch {
	case err == nil:
		return adapters.State{Kind: adapters.Regular, Sum: blake3.Sum256(data)}
	case errors.As(err, new(*clone.StrayError)):
		return adapters.State{Kind: adapters.Unsteady} // the user gets a warning each time
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return adapters.State{Kind: adapters.Absent}
	case errors.As(err, &irregular) && irregular.Dir:
		return adapters.State{Kind: adapters.Directory}
	case irregular != nil:
		return adapters.State{Kind: adapters.Other}
	}
	return adapters.State{Kind: adapters.Unsteady}
}

// stateOfList returns the state of a directory with these entries.
func stateOfList(entries []fs.DirEntry) adapters.State {
	var names strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&names, "%s\x00%d\x00", e.Name(), e.Type())
	}
	return adapters.State{Kind: adapters.Directory, Sum: blake3.Sum256([]byte(names.String()))}
}
