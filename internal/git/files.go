package git

import (
	"bytes"
	"slices"
	"sort"

	"github.com/zeebo/blake3"
)

// Files is a sorted list of the paths that git tracks. A nil Files is empty. It does not change.
type Files struct {
	text   []byte // contains the paths
	at     []span // positions in text
	prefix string // removed from each path: "" or "a/b/"
	hidden []hidden
	asked  bool // from git itself: hidden is unknown
}

type span struct {
	off, len uint32
	link     bool // another repository: a submodule
}

// Len returns the number of paths.
func (f *Files) Len() int {
	if f == nil {
		return 0
	}
	return len(f.at)
}

// Path returns path i.
func (f *Files) Path(i int) string { return string(f.bytes(i)) }

// Has reports whether path is a tracked file or link.
func (f *Files) Has(path string) bool {
	i := f.search(path)
	return i < f.Len() && !f.at[i].link && string(f.bytes(i)) == path
}

// HasLink reports whether path is the directory of a submodule.
func (f *Files) HasLink(path string) bool {
	i := f.search(path)
	return i < f.Len() && f.at[i].link && string(f.bytes(i)) == path
}

// Links returns the directories of submodules, sorted.
func (f *Files) Links() (paths []string) {
	for i := range f.Len() {
		if f.at[i].link {
			paths = append(paths, f.Path(i))
		}
	}
	return paths
}

// HasIn reports whether git tracks a path below the directory dir.
func (f *Files) HasIn(dir string) bool {
	dir += "/"
	i := f.search(dir)
	return i < f.Len() && bytes.HasPrefix(f.bytes(i), []byte(dir))
}

// Below returns the paths below the directory dir, relative to it; "" returns all.
func (f *Files) Below(dir string) *Files {
	if f == nil || dir == "" {
		return f
	}
	from, to := f.search(dir+"/"), f.search(dir+"0") // "0" is the byte after "/"
	return &Files{text: f.text, at: f.at[from:to], prefix: f.prefix + dir + "/"}
}

func (f *Files) bytes(i int) []byte {
	s := f.at[i]
	return f.text[int(s.off)+len(f.prefix) : s.off+s.len]
}

// search returns the first position whose path is not before path.
func (f *Files) search(path string) int {
	return sort.Search(f.Len(), func(i int) bool { return string(f.bytes(i)) >= path })
}

// sorted sorts the list for search and removes duplicates (an unmerged path occurs up to three
// times).
func sorted(text []byte, at []span) *Files {
	f := &Files{text: text, at: at}
	get := func(s span) []byte { return text[s.off : s.off+s.len] }
	order := func(a, b span) int { return bytes.Compare(get(a), get(b)) }
	if !slices.IsSortedFunc(at, order) {
		slices.SortStableFunc(at, order)
	}
	f.at = slices.CompactFunc(at, func(a, b span) bool { return order(a, b) == 0 })
	return f
}

// Digest returns a digest of the results of all other methods.
func (f *Files) Digest() [32]byte {
	h := blake3.New()
	for i := range f.Len() {
		kind := byte(0)
		if f.at[i].link {
			kind = 1
		}
		h.Write(f.bytes(i))
		h.Write([]byte{0, kind})
	}
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}
