package config

import (
	"sync"

	"github.com/bentobuild/bento/internal/state"
)

// parsedFiles is a file of the workspace's state. It has a value of type H, the head, and values of type F for any
// number of files, which depend on the head. It is for one goroutine. A nil parsedFiles saves nothing.
type parsedFiles[H, F any] struct {
	parts *state.Parts
	front front
	known bool                             // there is a head
	files func() map[string]*parsedFile[F] // by path; nil when there are none yet
	ahead sync.WaitGroup                   // reads that were started ahead
}

// parsedFile is the parsed content of one file.
type parsedFile[F any] struct {
	Path  string
	Sum   [32]byte // digest of the file; zero for an unreadable one
	Value F
}

// front identifies the head.
type front struct {
	Program string
	Sources [32]byte // digest of the sources
}

// The names of the parts.
const (
	frontPart = "front"
	headPart  = "head"
	filesPart = "files"
)

// openParsed opens the file with this name. program identifies the executable: results of another executable are
// ignored.
func openParsed[H, F any](dir *state.Dir, name string, version uint32, program string) *parsedFiles[H, F] {
	m := &parsedFiles[H, F]{parts: dir.OpenParts(name, version)}
	if !m.parts.Get(frontPart, &m.front) || m.front.Program != program {
		m.front = front{Program: program}
		return m
	}
	read := sync.OnceValue(m.read)
	m.known, m.files = true, read
	m.ahead.Go(func() { read() }) // in the background: the caller has other work first
	return m
}

// Wait waits for the reads that openParsed started.
func (m *parsedFiles[H, F]) Wait() {
	if m != nil {
		m.ahead.Wait()
	}
}

// Head returns the head if it was made from sources with this digest.
func (m *parsedFiles[H, F]) Head(sources [32]byte) (head H, ok bool) {
	var kept H
	if m == nil || !m.known || m.front.Sources != sources || !m.parts.Get(headPart, &kept) {
		return head, false
	}
	return kept, true
}

// SetHead replaces the head, and drops the files.
func (m *parsedFiles[H, F]) SetHead(sources [32]byte, head H) {
	if m == nil {
		return
	}
	m.ahead.Wait()
	m.front.Sources, m.known, m.files = sources, true, nil
	m.parts.Set(frontPart, m.front)
	m.parts.Set(headPart, head)
}

// File returns the file at path, nil unless its content had the digest sum. The caller does not
// change it.
func (m *parsedFiles[H, F]) File(path string, sum [32]byte) *parsedFile[F] {
	if m == nil || m.files == nil {
		return nil
	}
	if f := m.files()[path]; f != nil && f.Sum == sum {
		return f
	}
	return nil
}

// read returns the saved files by path, none if they are unreadable.
func (m *parsedFiles[H, F]) read() map[string]*parsedFile[F] {
	var list []parsedFile[F]
	if !m.parts.Get(filesPart, &list) {
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
	if m == nil || !m.known || !m.news(files) {
		return
	}
	var list []parsedFile[F]
	for _, f := range files {
		if f.Sum != [32]byte{} {
			list = append(list, *f)
		}
	}
	m.parts.Set(filesPart, list)
	m.files = sync.OnceValue(m.read)
	_ = m.parts.Save()
}

// news reports whether files differ from the saved ones.
func (m *parsedFiles[H, F]) news(files []*parsedFile[F]) bool {
	if m.files == nil {
		return true
	}
	count, known := 0, m.files()
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
