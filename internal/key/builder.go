package key

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/cache"
)

// domain separates task keys from every other use of the hash. A change of the meaning or the order
// of ingredients needs a new number.
const domain = "bento 2026-11 task key v5"

// Kind is the kind of an ingredient; it decides the meaning of the value.
type Kind byte

// The kinds of ingredient. They are part of recorded data: never renumber them.
const (
	kindText    Kind = 1 // the value itself
	KindEnv     Kind = 2 // a keyed digest of the value, or "unset"
	KindFiles   Kind = 3 // the digest of a fileSet, which the store may hold
	KindTask    Kind = 4 // the key of another task
	KindOutput  Kind = 5 // the digest of the outputs of another task
	KindSources Kind = 6 // the digest of the sources of another dish
)

// isDigest reports whether the value of an ingredient is a digest.
func (k Kind) isDigest() bool { return k != kindText && k != KindEnv }

// ingredient is one named part of a key.
type ingredient struct {
	Kind  Kind
	Name  string
	Value string // as shown to people; see Kind
}

// rawIngredient is an ingredient whose digest is not written in hex yet: most keys are keys of
// remembered hits, and their ingredients are not read.
type rawIngredient struct {
	ingredient              // Value is empty if the kind has a digest
	digest     cache.Digest // the value, before it is written in hex
}

// written returns the ingredients with their digests written in hex, nil for none.
func written(raw []rawIngredient) []ingredient {
	if len(raw) == 0 {
		return nil
	}
	list := make([]ingredient, len(raw))
	for i := range raw {
		list[i] = raw[i].ingredient
		if raw[i].Kind.isDigest() {
			list[i].Value = raw[i].digest.String()
		}
	}
	return list
}

// unset is the value of an Env ingredient whose variable is not set. A keyed digest is longer, so
// none is equal to it.
const unset = "unset"

// builderPool makes builders of keys and reuses their memory. It is for one goroutine.
type builderPool struct {
	// Secret keys the recorded digests of environment values, which are guessable without it.
	// It is not in the key, so that two machines agree on the key.
	Secret [32]byte

	hash       *blake3.Hasher    // for keys, derived from domain; nil before its first use
	secret     *blake3.Hasher    // keyed with Secret; nil before its first use
	secretName string            // identifies Secret, in hex; "" before its first use
	concealed  map[string]string // keyed digests, by name and value: most tasks have the same variables
	free       []byte            // the buffer of the last key, for reuse
	list       []rawIngredient   // of a finished key, for reuse
}

// usualIngredients is the initial capacity of a list of ingredients.
const usualIngredients = 24

// New returns an empty builder.
func (m *builderPool) New() *builder {
	b := &builder{from: m, buf: m.free, list: m.list}
	if m.free, m.list = nil, nil; b.list == nil {
		b.list = make([]rawIngredient, 0, usualIngredients)
	}
	return b
}

// Free lets the next builder reuse the memory of list, which the caller no longer uses.
func (m *builderPool) Free(list []rawIngredient) { m.list = list[:0] }

// Fit returns a list that is kept, in memory of its own size, and lets the next builder reuse that of list.
func (m *builderPool) Fit(list []rawIngredient) []rawIngredient {
	if list == nil {
		return nil
	}
	kept := make([]rawIngredient, len(list))
	copy(kept, list)
	m.Free(list)
	return kept
}

// keyed returns an empty hash that is keyed with the secret.
func (m *builderPool) keyed() *blake3.Hasher {
	if m.secret == nil {
		var err error
		if m.secret, err = blake3.NewKeyed(m.Secret[:]); err != nil {
			panic(err) // only for a key that is not 32 bytes
		}
	}
	m.secret.Reset()
	return m.secret
}

// builder collects the ingredients of one key, in order.
type builder struct {
	from *builderPool
	list []rawIngredient
	buf  []byte // the bytes that are hashed
}

// mix adds one ingredient to the hash: kind, then name and value each with its length in front, so
// that different lists of ingredients have different bytes.
func (b *builder) mix(kind Kind, name, value string) {
	b.begin(kind, name, len(value))
	b.buf = append(b.buf, value...)
}

// begin mixes the start of an ingredient whose value follows: size bytes, or size values of a list.
// Lengths are varints, so that the hashed bytes stay few.
func (b *builder) begin(kind Kind, name string, size int) {
	b.buf = append(b.buf, byte(kind))
	b.buf = binary.AppendUvarint(b.buf, uint64(len(name)))
	b.buf = append(b.buf, name...)
	b.buf = binary.AppendUvarint(b.buf, uint64(size))
}

func (b *builder) add(kind Kind, name, value string) {
	b.mix(kind, name, value)
	b.note(kind, name, value)
}

// note lists an ingredient that is mixed already.
func (b *builder) note(kind Kind, name, value string) {
	b.list = append(b.list, rawIngredient{ingredient: ingredient{Kind: kind, Name: name, Value: value}})
}

// digest adds an ingredient whose value is a digest: hashed as its bytes, listed in hex.
func (b *builder) digest(kind Kind, name string, d cache.Digest) {
	b.begin(kind, name, len(d))
	b.buf = append(b.buf, d[:]...)
	b.list = append(b.list, rawIngredient{ingredient: ingredient{Kind: kind, Name: name}, digest: d})
}

// Text adds a value that may be shown.
func (b *builder) Text(name, value string) { b.add(kindText, name, value) }

// list is the kind of a list in the hash, where it differs from a text. Records have kindText for it.
const list Kind = 255

// List adds values in their order. The empty list differs from a list of "".
func (b *builder) List(name string, values []string) {
	b.begin(list, name, len(values))
	for _, v := range values {
		b.buf = binary.AppendUvarint(b.buf, uint64(len(v)))
		b.buf = append(b.buf, v...)
	}
	b.note(kindText, name, strings.Join(values, "\n"))
}

// Env adds an environment variable: the key depends on its value, the record
// holds only a keyed digest. Unset differs from empty.
func (b *builder) Env(name, value string, set bool) {
	if !set {
		b.add(KindEnv, name, unset)
		return
	}
	b.mix(KindEnv, name, "="+value)
	b.note(KindEnv, name, b.from.conceal(name, value))
}

// conceal returns the keyed digest of a variable, after the name of the secret: digests with
// different secrets cannot be compared.
func (m *builderPool) conceal(name, value string) string {
	if m.secretName == "" {
		m.secretName = hex.EncodeToString(m.keyed().Sum(nil)[:4])
	}
	what := name + "\x00" + value
	known, ok := m.concealed[what]
	if ok {
		return known
	}
	h := m.keyed()
	h.WriteString(what) //nolint:errcheck // a hash does not fail
	known = m.secretName + ":" + hex.EncodeToString(h.Sum(nil)[:16])
	if m.concealed == nil {
		m.concealed = make(map[string]string)
	}
	if len(m.concealed) < maxConcealed {
		m.concealed[what] = known
	}
	return known
}

// maxConcealed is how many digests a pool keeps.
const maxConcealed = 1024

// sameSecret reports whether two values of an Env ingredient can be compared: they are digests with
// the same secret, or one of them is no digest.
func sameSecret(before, after string) bool {
	one, _, concealed := strings.Cut(before, ":")
	other, _, both := strings.Cut(after, ":")
	return !concealed || !both || one == other
}

// lockPrefix is in front of the path in the name of a Lock ingredient.
const lockPrefix = "lock:"

// toolPrefix is in front of the id in the name of the ingredient that is the digest of a tool.
const toolPrefix = "tool:"

// Lock adds the part of a lockfile that a dish uses, an opaque text that replaces the file.
func (b *builder) Lock(path, digest string) { b.add(kindText, lockPrefix+path, digest) }

// Files adds the digest of a set of files.
func (b *builder) Files(name string, d cache.Digest) { b.digest(KindFiles, name, d) }

// Task adds the key of a task that this one depends on.
func (b *builder) Task(id string, key cache.Key) { b.digest(KindTask, id, cache.Digest(key)) }

// Output adds the digest of the outputs of a task that this one depends on.
func (b *builder) Output(id string, d cache.Digest) { b.digest(KindOutput, id, d) }

// Key returns the key of the ingredients. The caller adds nothing afterwards.
func (b *builder) Key() cache.Key {
	key := b.sum()
	b.from.free, b.buf = b.buf[:0], nil
	return key
}

// sum returns the key of the ingredients so far.
func (b *builder) sum() cache.Key {
	m := b.from
	if m.hash == nil {
		m.hash = blake3.NewDeriveKey(domain)
	}
	m.hash.Reset()
	m.hash.Write(b.buf) //nolint:errcheck // a hash does not fail
	var key cache.Key
	m.hash.Sum(key[:0])
	return key
}

// Ingredients returns the ingredients so far, in order.
func (b *builder) Ingredients() []ingredient { return written(b.list) }

// Sources adds the digest of the sources of another dish. It is the digest of a list of Files and
// further Sources ingredients, which the store may hold.
func (b *builder) Sources(dish string, d cache.Digest) { b.digest(KindSources, dish, d) }
