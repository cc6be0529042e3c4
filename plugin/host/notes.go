package host

import (
	"bytes"
	"encoding/json"
	"maps"
	"sync"

	"github.com/bentobuild/bento/internal/state"
)

// Notes keep a note of each plugin from one invocation to the next, in the state of the
// workspace. They are safe for concurrent use.
type Notes struct {
	dir  *state.Dir
	load sync.Once
	old  map[string]json.RawMessage // by path

	mu  sync.Mutex
	new map[string]json.RawMessage
}

const (
	notesFile    = "plugin-notes"
	notesVersion = 1
	maxNote      = 4 << 20 // bytes
)

// NewNotes returns the notes kept in dir.
func NewNotes(dir *state.Dir) *Notes { return &Notes{dir: dir} }

// Recall returns the note of the last invocation about the executable at path.
func (n *Notes) Recall(path string) (note json.RawMessage, ok bool) {
	n.load.Do(func() {
		if payload, err := n.dir.Load(notesFile, notesVersion); err == nil {
			_ = json.Unmarshal(payload, &n.old) // a damaged file is empty
		}
	})
	n.mu.Lock()
	defer n.mu.Unlock()
	note, ok = n.old[path]
	return note, ok
}

// Leave leaves a note for the next invocation, unless it is larger than 4 MiB.
func (n *Notes) Leave(path string, note json.RawMessage) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.new == nil {
		n.new = make(map[string]json.RawMessage)
	}
	if len(note) <= maxNote {
		n.new[path] = note
	}
}

// Save replaces the notes of the last invocation by those of this one. Callers may ignore
// the error.
func (n *Notes) Save() error {
	n.Recall("") // reads the old notes: equal ones are not written again
	n.mu.Lock()
	notes, old := maps.Clone(n.new), n.old
	n.mu.Unlock()
	same := func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }
	if maps.EqualFunc(notes, old, same) {
		return nil
	}
	payload, err := json.Marshal(notes)
	if err != nil {
		return err
	}
	if err := n.dir.Store(notesFile, notesVersion, payload); err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.old = notes
	return nil
}
