package git

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/growth"
)

// indexOf is an index of n files, in version 2 or 4.
func indexOf(version uint32, n int) string {
	var b bytes.Buffer
	b.WriteString("DIRC")
	_ = binary.Write(&b, binary.BigEndian, []uint32{version, uint32(n)})
	before := ""
	for i := range n {
		name := fmt.Sprintf("d%d/f%d", i%7, i)
		b.Write(make([]byte, 24))
		_ = binary.Write(&b, binary.BigEndian, uint32(0o100644))
		b.Write(make([]byte, 12+20))
		_ = binary.Write(&b, binary.BigEndian, uint16(len(name)))
		if version == 4 {
			b.WriteByte(byte(len(before))) // no part of the name before is kept
		}
		b.WriteString(name + "\x00")
		for version == 2 && (62+len(name)+1)%8 != 0 && (b.Len()-12)%8 != 0 {
			b.WriteByte(0)
		}
		before = name
	}
	b.Write(make([]byte, 20))
	return b.String()
}

// Reading the tracked files, from git's index and from its answer, takes at most n log n.
func TestTrackedGrowsWithTheList(t *testing.T) {
	for _, version := range []uint32{2, 4} {
		if files, err := parseIndex([]byte(indexOf(version, 100)), 20); err != nil || len(list(files)) != 100 {
			t.Fatalf("version %d: %v", version, err)
		}
	}
	index := func(data []byte) any { files, err := parseIndex(data, 20); return []any{files, err} }
	answer := func(data []byte) any { files, err := ParseTracked(data); return []any{files, err} }
	const entry = "100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 0\t"
	growth.Check(t, map[string]growth.Reader{
		"version 2": growth.Of(index, func(n int) string { return indexOf(2, n) }),
		"version 4": growth.Of(index, func(n int) string { return indexOf(4, n) }),
		"extensions": growth.Of(index, func(n int) string {
			return indexOf(2, 0)[:12] + strings.Repeat("XXXX\x00\x00\x00\x00", n) + strings.Repeat("\x00", 20)
		}),
		"answer":     growth.Of(answer, growth.List("", entry+"d/f%d\x00", "", "")),
		"submodules": growth.Of(answer, growth.List("", strings.Replace(entry, "100644", "160000", 1)+"s%d\x00", "", "")),
	})
}
