package adapters

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/zeebo/blake3"
)

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
