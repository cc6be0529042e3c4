package action

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// shorten keeps about the last rest bytes of the file, from the start of a line, after a line with
// the number of missing bytes.
func (l *Log) shorten(rest int64) error {
	rest = min(rest, l.size)
	tail := make([]byte, rest)
	if _, err := l.file.ReadAt(tail, l.size-rest); err != nil && err != io.EOF {
		return err
	}
	cut := bytes.IndexByte(tail, '\n') + 1 // 0: one long line, cut anywhere
	tail = tail[cut:]
	gone := l.size - int64(len(tail))
	segments := lastSegments(l.segments, int64(len(tail)))
	counted := int64(0)
	if l.dropped > 0 { // the removed part includes the line of the last time
		counted = int64(len(missingLine(l.dropped)))
	}
	l.dropped += gone - counted
	head := missingLine(l.dropped)
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for _, part := range [][]byte{[]byte(head), tail} {
		if _, err := l.file.Write(part); err != nil {
			return err
		}
	}
	l.segments = append([]segment{{Stdout, uint64(len(head))}}, segments...)
	l.size = int64(len(head) + len(tail))
	return nil
}

func missingLine(bytes int64) string {
	return fmt.Sprintf("[bento left out %d bytes before this line]\n", bytes)
}

// lastSegments returns the segments of the last size bytes.
func lastSegments(list []segment, size int64) []segment {
	var last []segment
	for i := len(list) - 1; i >= 0 && size > 0; i-- {
		seg := list[i]
		seg.Size = min(seg.Size, uint64(size))
		size -= int64(seg.Size)
		last = append(last, seg)
	}
	slices.Reverse(last)
	return last
}
