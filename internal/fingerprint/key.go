// Package fingerprint makes the key of a task: a BLAKE3 hash over an ordered list
// of named ingredients, each of which is kept so that it can be shown and compared
// later. It also knows the digests of input files and the fingerprints of
// toolchains, each worked out once and remembered across invocations.
package fingerprint

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/cache"
)

// Domain separates task keys from every other use of the hash. Changing what
// an ingredient means, or their order, needs a new number.
const Domain = "bento 2026-11 task key v3"

// Kind says what an Ingredient is, and so how its value is to be read.
type Kind byte

// The kinds of ingredient. They are part of recorded data: never renumber them.
const (
	Text    Kind = 1 // the value itself
	Env     Kind = 2 // a keyed digest of the value, or "unset"
	Files   Kind = 3 // the digest of a FileSet, which the store may hold
	Task    Kind = 4 // the key of another task
	Output  Kind = 5 // the digest of what another task made
	Sources Kind = 6 // the digest of the sources of another dish
)

// Ingredient is one named part of a key.
type Ingredient struct {
	Kind  Kind
	Name  string
	Value string // for people; see Kind
}

// unset is the value of an Env ingredient whose variable is not set. A digest is
// longer, so no value reads like it.
const unset = "unset"

// Builders makes builders of keys. It is for one goroutine.
type Builders struct {
	// Secret keys the recorded digests of environment values, which would otherwise be
	// guessable; it does not enter the key, so that two machines agree on it.
	Secret [32]byte

	free   []*blake3.Hasher // each takes 10 KiB
	secret *blake3.Hasher   // keyed with it
}

// New gives an empty builder.
func (m *Builders) New() *Builder {
	b := &Builder{from: m}
	if n := len(m.free); n > 0 {
		b.hash, m.free = m.free[n-1], m.free[:n-1]
		b.hash.Reset()
	} else {
		b.hash = blake3.NewDeriveKey(Domain)
	}
	return b
}

// keyed gives an empty hash that is keyed with the secret.
func (m *Builders) keyed() *blake3.Hasher {
	if m.secret == nil {
		var err error
		if m.secret, err = blake3.NewKeyed(m.Secret[:]); err != nil {
			panic(err) // only for a key that is not 32 bytes
		}
	}
	m.secret.Reset()
	return m.secret
}

// Builder collects the ingredients of one key, in the order in which they are
// added.
type Builder struct {
	from *Builders
	hash *blake3.Hasher // nil when the key was made
	list []Ingredient
	buf  []byte
}

// mix adds one ingredient to the hash: kind, then name and value each with its
// length in front, so that no two lists of ingredients read the same.
func (b *Builder) mix(kind Kind, name, value string) {
	b.buf = append(b.buf[:0], byte(kind))
	b.buf = binary.LittleEndian.AppendUint64(b.buf, uint64(len(name)))
	b.buf = append(b.buf, name...)
	b.buf = binary.LittleEndian.AppendUint64(b.buf, uint64(len(value)))
	b.buf = append(b.buf, value...)
	b.hash.Write(b.buf) //nolint:errcheck // a hash does not fail
}

func (b *Builder) add(kind Kind, name, value string) {
	b.mix(kind, name, value)
	b.list = append(b.list, Ingredient{Kind: kind, Name: name, Value: value})
}

// Text adds a value that may be shown.
func (b *Builder) Text(name, value string) { b.add(Text, name, value) }

// list is Text in records; keys tell a list from a text.
const list Kind = 255

// List adds values in their order. The empty list differs from a list of "".
func (b *Builder) List(name string, values []string) {
	var flat []byte
	for _, v := range values {
		flat = binary.LittleEndian.AppendUint64(flat, uint64(len(v)))
		flat = append(flat, v...)
	}
	b.mix(list, name, string(flat))
	b.list = append(b.list, Ingredient{Kind: Text, Name: name, Value: strings.Join(values, "\n")})
}

// Env adds an environment variable: the key depends on its value, the record
// holds only a keyed digest. Unset differs from empty.
func (b *Builder) Env(name, value string, set bool) {
	if !set {
		b.add(Env, name, unset)
		return
	}
	b.mix(Env, name, "="+value)
	b.list = append(b.list, Ingredient{Kind: Env, Name: name, Value: b.conceal(name, value)})
}

func (b *Builder) conceal(name, value string) string {
	h := b.from.keyed()
	h.WriteString(name + "\x00" + value) //nolint:errcheck // a hash does not fail
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// lockPrefix is in front of the path in the name of a Lock ingredient.
const lockPrefix = "lock:"

// Lock adds what a dish gets from a lockfile, in place of the file: an opaque text.
func (b *Builder) Lock(path, digest string) { b.add(Text, lockPrefix+path, digest) }

// Files adds the digest of a set of files.
func (b *Builder) Files(name string, d cache.Digest) { b.add(Files, name, d.String()) }

// Task adds the key of a task that this one depends on.
func (b *Builder) Task(id string, key cache.Key) { b.add(Task, id, key.String()) }

// Output adds the digest of what a task that this one depends on has made.
func (b *Builder) Output(id string, d cache.Digest) { b.add(Output, id, d.String()) }

// Key gives the key of the ingredients that were added. Nothing may be added then.
func (b *Builder) Key() cache.Key {
	var key cache.Key
	b.hash.Sum(key[:0])
	b.from.free = append(b.from.free, b.hash)
	b.hash = nil
	return key
}

// Ingredients gives what was added so far, in order.
func (b *Builder) Ingredients() []Ingredient { return b.list }

// Sources adds the digest of the sources of another dish: that of a list of
// ingredients, Files and further Sources, which the store may hold.
func (b *Builder) Sources(dish string, d cache.Digest) { b.add(Sources, dish, d.String()) }
