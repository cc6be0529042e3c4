// Package parsed remembers what was made of files when they were last parsed: with
// the same content, the same program makes the same of them.
package parsed

import (
	"sync"

	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
)

// Memory is a file of the workspace's state. It holds a value of type H, the head,
// and behind it one of type F for each of any number of files, which depend on the
// head. It is for one goroutine. Nil remembers nothing.
type Memory[H, F any] struct {
	state   *state.Dir
	name    string
	version uint32
	program string

	sources [32]byte // digest of what the head was made from
	head    []byte   // packed; nil when there is none
	files   []byte   // packed; nil when there are none yet
	read    func() map[string]*File[F]
}

// File is what was made of one file.
type File[F any] struct {
	Path  string
	Sum   [32]byte // the digest of its content; zero for one that could not be read
	Value F
}

// front is what stands in front of the head.
type front struct {
	Program string
	Sources [32]byte
}

// Open reads the memory with this name. Program says which executable this is:
// what another one made of files does not count.
func Open[H, F any](dir *state.Dir, name string, version uint32, program string) *Memory[H, F] {
	m := &Memory[H, F]{state: dir, name: name, version: version, program: program}
	m.setFiles(nil)
	payload, err := dir.Load(name, version)
	if err != nil {
		return m
	}
	r := state.NewReader(payload)
	parts := [3][]byte{}
	for i := range parts {
		parts[i] = r.Raw(r.Uint())
	}
	var f front
	if r.End() != nil || pack.NewReader(parts[0]).Next(&f) != nil || f.Program != program {
		return m
	}
	m.sources, m.head = f.Sources, parts[1]
	m.setFiles(parts[2])
	go m.read() // it takes a while, and there is something to do until it is needed
	return m
}

// setFiles has m hold packed files.
func (m *Memory[H, F]) setFiles(files []byte) {
	m.files, m.read = files, sync.OnceValue(func() map[string]*File[F] { return unpack[F](files) })
}

// Head gives what was made from something with the digest sources.
func (m *Memory[H, F]) Head(sources [32]byte) (head H, ok bool) {
	if m == nil || m.head == nil || m.sources != sources {
		return head, false
	}
	var kept H
	if r := pack.NewReader(m.head); r.Next(&kept) != nil || r.End() != nil {
		return head, false
	}
	return kept, true
}

// SetHead replaces the head, and forgets the files.
func (m *Memory[H, F]) SetHead(sources [32]byte, head H) {
	if m != nil {
		m.sources, m.head = sources, packed(head)
		m.setFiles(nil)
	}
}

// File gives what was made of the file at path when its content had the digest sum.
func (m *Memory[H, F]) File(path string, sum [32]byte) (value F, ok bool) {
	if m == nil {
		return value, false
	}
	f := m.read()[path]
	if f == nil || f.Sum != sum {
		return value, false
	}
	return f.Value, true
}

// unpack gives files by their paths, none when it cannot read them.
func unpack[F any](files []byte) map[string]*File[F] {
	var list []File[F]
	if r := pack.NewReader(files); files == nil || r.Next(&list) != nil || r.End() != nil {
		return nil
	}
	byPath := make(map[string]*File[F], len(list))
	for i := range list {
		byPath[list[i].Path] = &list[i]
	}
	return byPath
}

// Keep remembers files, which are all that there are, for the next time. It writes
// only if they are others than before. A memory that cannot be written costs no
// more than that they are parsed again.
func (m *Memory[H, F]) Keep(files []File[F]) {
	if m == nil || m.head == nil || !m.news(files) {
		return
	}
	var list []File[F]
	for _, f := range files {
		if f.Sum != [32]byte{} {
			list = append(list, f)
		}
	}
	m.setFiles(packed(list))
	var w state.Writer
	for _, part := range [][]byte{packed(front{m.program, m.sources}), m.head, m.files} {
		w.Uint(uint64(len(part)))
		w.Raw(part)
	}
	_ = m.state.Store(m.name, m.version, w.Payload())
}

// news tells whether files are others than those that are remembered.
func (m *Memory[H, F]) news(files []File[F]) bool {
	if m.files == nil {
		return true
	}
	count, known := 0, m.read()
	for i := range files {
		if files[i].Sum == [32]byte{} {
			continue
		}
		count++
		if k := known[files[i].Path]; k == nil || k.Sum != files[i].Sum {
			return true
		}
	}
	return count != len(known)
}

func packed(v any) []byte {
	var w pack.Writer
	w.Add(v)
	return w.Payload()
}
