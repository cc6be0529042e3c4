package config

import (
	"sync"

	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
)

// parsedFiles is a file of the workspace's state. It has a value of type H, the head, and values of type F for any
// number of files, which depend on the head. It is for one goroutine. A nil parsedFiles saves nothing.
type parsedFiles[H, F any] struct {
	state   *state.Dir
	name    string
	version uint32
	program string

	sources [32]byte // digest of the sources of the head
	head    []byte   // packed; nil when there is none
	files   []byte   // packed; nil when there are none yet
	read    func() map[string]*parsedFile[F]
	ahead   sync.WaitGroup // reads that were started ahead
}

// parsedFile is the parsed content of one file.
type parsedFile[F any] struct {
	Path  string
	Sum   [32]byte // digest of the file; zero for an unreadable one
	Value F
}

// front precedes the head.
type front struct {
	Program string
	Sources [32]byte
}

// openParsed opens the file with this name. program identifies the executable: results of another executable are
// ignored.
func openParsed[H, F any](dir *state.Dir, name string, version uint32, program string) *parsedFiles[H, F] {
	m := &parsedFiles[H, F]{state: dir, name: name, version: version, program: program}
	m.setFiles(nil)
	payload, err := dir.Load(name, version)
	if err != nil {
		return m
	}
	r := pack.NewReader(payload)
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
	read := m.read
	m.ahead.Go(func() { read() }) // in the background: the caller has other work first
	return m
}

// Wait waits for the reads that openParsed started.
func (m *parsedFiles[H, F]) Wait() {
	if m != nil {
		m.ahead.Wait()
	}
}

// setFiles sets the packed files.
func (m *parsedFiles[H, F]) setFiles(files []byte) {
	m.files, m.read = files, sync.OnceValue(func() map[string]*parsedFile[F] { return unpack[F](files) })
}

// Head returns the head if it was made from sources with this digest.
func (m *parsedFiles[H, F]) Head(sources [32]byte) (head H, ok bool) {
	if m == nil || m.head == nil || m.sources != sources {
		return head, false
	}
	var kept H
	if r := pack.NewReader(m.head); r.Next(&kept) != nil || r.End() != nil {
		return head, false
	}
	return kept, true
}

// SetHead replaces the head, and drops the files.
func (m *parsedFiles[H, F]) SetHead(sources [32]byte, head H) {
	if m != nil {
		m.ahead.Wait()
		m.sources, m.head = sources, packed(head)
		m.setFiles(nil)
	}
}

// File returns the file at path, nil unless its content had the digest sum. The caller does not
// change it.
func (m *parsedFiles[H, F]) File(path string, sum [32]byte) *parsedFile[F] {
	if m == nil {
		return nil
	}
	if f := m.read()[path]; f != nil && f.Sum == sum {
		return f
	}
	return nil
}

// unpack returns files by path, none if they are unreadable.
func unpack[F any](files []byte) map[string]*parsedFile[F] {
	var list []parsedFile[F]
	if r := pack.NewReader(files); files == nil || r.Next(&list) != nil || r.End() != nil {
		return nil
	}
	byPath := make(map[string]*parsedFile[F], len(list))
	for i := range list {
		byPath[list[i].Path] = &list[i]
	}
	return byPath
}

// Keep saves files, the complete list, if they changed. If the write fails, the next command parses the files
// again.
func (m *parsedFiles[H, F]) Keep(files []*parsedFile[F]) {
	if m == nil || m.head == nil || !m.news(files) {
		return
	}
	var list []parsedFile[F]
	for _, f := range files {
		if f.Sum != [32]byte{} {
			list = append(list, *f)
		}
	}
	m.setFiles(packed(list))
	var w pack.Writer
	for _, part := range [][]byte{packed(front{m.program, m.sources}), m.head, m.files} {
		w.Uint(uint64(len(part)))
		w.Raw(part)
	}
	_ = m.state.Store(m.name, m.version, w.Payload())
}

// news reports whether files differ from the saved ones.
func (m *parsedFiles[H, F]) news(files []*parsedFile[F]) bool {
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
