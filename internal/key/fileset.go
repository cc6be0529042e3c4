package key

import (
	"encoding/binary"
	"fmt"
	"io/fs"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/pack"
)

// File is one input: the properties of a file that enter the key.
type File struct {
	Path string // relative to the workspace, forward slashes, any bytes
	// Exec reports whether the owner may execute it. A clone keeps no other mode bit, so other bits
	// may differ between machines.
	Exec bool
	// Target is the text of a symbolic link, "" for a regular file.
	Target string
	// Sum is the digest of the content; for a link, of its target if that is inside the workspace,
	// else zero.
	Sum cache.Digest
}

// fileSet is a list of files sorted by path.
type fileSet []File

// Digest returns the digest of the set, which is that of its blob.
func (s fileSet) Digest() cache.Digest { return cache.Sum(s.Encode()) }

// Encode returns the blob of the set.
func (s fileSet) Encode() []byte {
	var w pack.Writer
	size := len(fileSetMagic) + binary.MaxVarintLen64
	for i := range s {
		size += len(s[i].Path) + len(s[i].Target) + 2*binary.MaxVarintLen64 + 1 + len(s[i].Sum)
	}
	w.Grow(size)
	w.Raw([]byte(fileSetMagic))
	w.Uint(uint64(len(s)))
	for _, f := range s {
		w.String(f.Path)
		w.Byte(flag(f.Exec))
		w.String(f.Target)
		w.Raw(f.Sum[:])
	}
	return w.Payload()
}

// decodeFileSet reads a blob that Encode returned.
func decodeFileSet(blob []byte) (fileSet, error) {
	r, err := open(blob, fileSetMagic)
	if err != nil {
		return nil, fmt.Errorf("file set: %w", err)
	}
	var set fileSet
	for range r.Count(35) {
		f := File{Path: r.String(), Exec: r.Byte() == 1, Target: r.String()}
		copy(f.Sum[:], r.Raw(uint64(len(f.Sum))))
		set = append(set, f)
	}
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("file set: %w", err)
	}
	return set, nil
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// Executable reports whether the owner of a file with this mode may execute it.
func Executable(mode fs.FileMode) bool { return mode&0o100 != 0 }
