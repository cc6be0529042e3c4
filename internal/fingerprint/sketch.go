package fingerprint

import (
	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/state"
)

// Ingredients is what takes the ingredients of a key that are not files: a Builder,
// which keeps them to be shown, or a Sketch, which only wants to know whether they
// are as they were.
type Ingredients interface {
	Text(name, value string)
	List(name string, values []string)
	Env(name, value string, set bool)
	Task(id string, key cache.Key)
	Output(id string, d cache.Digest)
}

// Sketch is the digest of what is written to it, field by field. Unlike a key it
// never leaves the workspace, so it may be made of values as they are.
type Sketch struct{ w state.Writer }

// Reset forgets what was written.
func (s *Sketch) Reset() { s.w.Reset() }

// Digest gives the digest of everything written since Reset.
func (s *Sketch) Digest() [32]byte { return blake3.Sum256(s.w.Payload()) }

// Writer gives the writer of further fields.
func (s *Sketch) Writer() *state.Writer { return &s.w }

// The ingredients, told apart by a byte in front.

// Text adds a text.
func (s *Sketch) Text(name, value string) {
	s.w.Byte('t')
	s.w.String(name)
	s.w.String(value)
}

// List adds a list of texts.
func (s *Sketch) List(name string, values []string) {
	s.w.Byte('l')
	s.w.String(name)
	s.w.Strings(values)
}

// Env adds a variable.
func (s *Sketch) Env(name, value string, set bool) {
	s.w.Byte('e')
	s.w.String(name)
	s.w.Byte(flag(set))
	s.w.String(value)
}

// Task adds the key of another task.
func (s *Sketch) Task(id string, key cache.Key) {
	s.w.Byte('k')
	s.w.String(id)
	s.w.Raw(key[:])
}

// Output adds the digest of what another task made.
func (s *Sketch) Output(id string, d cache.Digest) {
	s.w.Byte('o')
	s.w.String(id)
	s.w.Raw(d[:])
}
