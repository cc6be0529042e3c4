package adapters

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/clone"
)

// View is the state of the files of a workspace after a walk. The package does not depend on the
// walk: plugins are built on it.
type View interface {
	// State returns the state of an absolute path, with the Sum of a file if whole is set; known is
	// false if only the disk has it. It reads no file whose digest is known.
	State(path string, whole bool) (s State, known bool)
	// Now returns the state of a file as it is on the disk, with its Sum. It reads no file
	// whose digest is known.
	Now(path string) (s State, known bool)
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
func (s *Snapshot) list(path string, look func() State) State {
	if !s.held() {
		return look()
	}
	at := agedPath{path, s.age()}
	known, ok := s.lists.Load(at)
	if !ok {
		known, _ = s.lists.LoadOrStore(at, look())
	}
	return known.(State)
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
func (s *Snapshot) state(path string, whole bool) (State, bool) {
	switch {
	case !s.held():
		return State{}, false
	case s.age() == 0:
		state, known := s.view.State(path, whole)
		return state, known && (state.Kind != Absent || !s.acts.Load())
	case whole:
		return s.view.Now(path)
	}
	return State{}, false
}

// held reports whether s shows something. A nil Snapshot does not.
func (s *Snapshot) held() bool { return s != nil && s.view != nil }

// Kind is the kind of the file at a path, behind links.
type Kind uint8

// The kinds of State. Answers are saved with them.
const (
	Unseen    Kind = iota // a plugin noted it
	Absent                // nothing
	Regular               // a regular file
	Directory             // a directory
	Other                 // a device, pipe or socket
	Unsteady              // it changed meanwhile, or cannot be read
)

// State is the state of a path that an answer saw. Sum is the digest of a file's content, or of the
// names in a directory; zero if the answer depends only on the kind.
type State struct {
	Kind Kind
	Sum  [32]byte
}

// Reads are the files that an answer depends on by absolute path: those that were read or looked for,
// and directories that were listed. The answer is valid until one of them changes. Paths outside the
// workspace are allowed. JSON has the paths alone.
type Reads map[string]State

// MarshalJSON implements json.Marshaler.
func (r Reads) MarshalJSON() ([]byte, error) { return json.Marshal(slices.Sorted(maps.Keys(r))) }

// UnmarshalJSON implements json.Unmarshaler.
func (r *Reads) UnmarshalJSON(data []byte) error {
	var paths []string
	if err := json.Unmarshal(data, &paths); err != nil {
		return err
	}
	*r = ReadsOf(paths...)
	return nil
}

// ReadsOf returns the Reads of an adapter that depends on all of each path.
func ReadsOf(paths ...string) Reads {
	r := make(Reads, len(paths))
	for _, path := range paths {
		r[path] = State{}
	}
	return r
}

// Merge adds the states of other. A path with two states is Unsteady.
func (r Reads) Merge(other Reads) {
	for path, state := range other {
		was, known := r[path]
		if state = was.And(state, known); !known || state != was {
			r[path] = state
		}
	}
}

// And returns the combination of two states of one path that were seen; known is false if s was not
// seen.
func (s State) And(o State, known bool) State {
	switch {
	case !known || s == o:
		return o
	case s.Kind != o.Kind || s.Sum != o.Sum && s.Sum != [32]byte{} && o.Sum != [32]byte{}:
		return State{Kind: Unsteady}
	case o.Sum == [32]byte{}:
		return s
	}
	return o
}

// Holds reports whether an answer that saw s is valid in the state now, which has a Sum if s has one.
func (s State) Holds(now State) bool { return s == now && s.Kind != Unsteady && s.Kind != Unseen }

// IsEmpty reports whether s is that of a file without content.
func (s State) IsEmpty() bool { return s == State{Regular, blake3.Sum256(nil)} }

// State returns the state of an absolute path, also of one outside of the workspace, with
// its Sum if whole is set.
func (s Source) State(path string, whole bool) State {
	s.beyond = s.clone != nil
	if state, known := s.snapshot.state(path, whole); known {
		return state
	}
	kind := s.kind(path)
	switch {
	case whole && kind == Regular:
		return stateOf(s.of(path).Read(path, MaxManifest))
	case whole && kind == Directory:
		if entries, err := s.of(path).List(path); err == nil {
			return stateOfList(entries)
		}
		return State{Kind: Unsteady}
	}
	return State{Kind: kind}
}

// look returns the kind of a path.
func (s Source) look(path string) Kind {
	if state, known := s.snapshot.state(path, false); known {
		return state.Kind
	}
	return s.kind(path)
}

// kind is look on the disk.
func (s Source) kind(path string) Kind {
	mode, err := s.of(path).Mode(path)
	switch {
	case err != nil:
		return stateOf(nil, err).Kind
	case mode.IsRegular():
		return Regular
	case mode.IsDir():
		return Directory
	}
	return Other
}

// stateOf returns the state of a file with this content, or error.
func stateOf(data []byte, err error) State {
	var irregular *clone.IrregularError
	switch {
	case err == nil:
		return State{Regular, blake3.Sum256(data)}
	case errors.As(err, new(*clone.StrayError)):
		return State{Kind: Unsteady} // the user gets a warning each time
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return State{Kind: Absent}
	case errors.As(err, &irregular) && irregular.Dir:
		return State{Kind: Directory}
	case irregular != nil:
		return State{Kind: Other}
	}
	return State{Kind: Unsteady}
}

// stateOfList returns the state of a directory with these entries.
func stateOfList(entries []fs.DirEntry) State {
	var names strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&names, "%s\x00%d\x00", e.Name(), e.Type())
	}
	return State{Directory, blake3.Sum256([]byte(names.String()))}
}
