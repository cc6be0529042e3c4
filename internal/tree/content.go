package tree

import (
	"encoding/binary"

	"github.com/zeebo/blake3"

	"github.com/bentobuild/bento/internal/tree/disk"
)

// tableContent computes a digest of everything below a directory: of the names, modes and digests
// of the files directly in it, and of the names and digests of its directories. The zero value is
// an empty directory.
type tableContent struct{ out []byte }

// File adds a file, in order of names. Without a digest (nil sum) it uses the stat, if the last
// change was long before looked. It returns false when it cannot identify the content, or for an
// entry that is no file: then the directory has no digest.
func (c *tableContent) File(name string, e *disk.Entry, sum *[sumSize]byte, looked int64) bool {
	if e.Kind != disk.File || sum == nil && !e.LongAgo(looked) {
		return false
	}
	if sum != nil {
		c.add(contentKnown, name)
		c.out = append(binary.LittleEndian.AppendUint32(c.out, modeOf(e)), sum[:]...)
		return true
	}
	c.add(contentStat, name)
	c.out = binary.LittleEndian.AppendUint32(c.out, modeOf(e))
	c.out = binary.LittleEndian.AppendUint64(c.out, uint64(e.Size))
	c.out = appendStamp(c.out, e.Stamp())
	return true
}

// Dir adds a directory, in order, after all files.
func (c *tableContent) Dir(name string, sum *[sumSize]byte) {
	c.add(contentDir, name)
	c.out = append(c.out, sum[:]...)
}

// Each item starts with its kind, so that different lists of items have different bytes.
const (
	contentStat = iota
	contentKnown
	contentDir
)

func (c *tableContent) add(item byte, name string) {
	c.out = binary.LittleEndian.AppendUint32(append(c.out, item), uint32(len(name)))
	c.out = append(c.out, name...)
}

// Sum returns the digest and resets c.
func (c *tableContent) Sum() [sumSize]byte {
	sum := blake3.Sum256(c.out)
	c.out = c.out[:0]
	return sum
}

// digest sets the digests of the directories in dirty, and of their parents. looked is the time of
// the last stat of the files, or later.
func (t *indexTable) digest(looked int64, dirty func(i int) bool) {
	var c tableContent
	done := make([]bool, t.Dirs())
	for i := t.Dirs() - 1; i >= 0; i-- { // children before parents
		done[i] = dirty(i)
		for k := i + 1; k < t.Below(i); k = t.Below(k) {
			done[i] = done[i] || done[k]
		}
		if done[i] {
			t.setDigest(i, &c, looked)
		}
	}
}

func (t *indexTable) setDigest(i int, c *tableContent, looked int64) {
	known := t.content(i, c, looked)
	sum, at := c.Sum(), headSize+i*dirSize
	flags := t.dirNumber(i, 4) &^ knownBit
	if known {
		flags |= knownBit
	} else {
		sum = [sumSize]byte{}
	}
	binary.LittleEndian.PutUint32(t.payload[at+stampSize+4*4:], flags)
	copy(t.payload[at+dirSumAt:], sum[:])
}

// content adds directory i to c. It returns false when the directory has no digest.
func (t *indexTable) content(i int, c *tableContent, looked int64) bool {
	dir := t.Dir(i).Path
	skip := 0
	if dir != "" {
		skip = len(dir) + 1
	}
	for k, to := t.FilesOf(i); k < to; k++ {
		e := t.Entry(k)
		sum, known := t.Sum(k)
		if known && !c.File(e.Path[skip:], &e, &sum, looked) || !known && !c.File(e.Path[skip:], &e, nil, looked) {
			return false
		}
	}
	for k := i + 1; k < t.Below(i); k = t.Below(k) {
		sum, known := t.Digest(k)
		if !known {
			return false
		}
		c.Dir(t.Dir(k).Path[skip:], &sum)
	}
	return true
}
