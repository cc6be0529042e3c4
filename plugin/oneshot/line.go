package oneshot

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"sync/atomic"
	"unicode/utf8"
)

// maxLine is the size limit of a line without the white space around it, in bytes.
const maxLine = 1 << 20

// blanks are the white space that may surround an object.
const blanks = " \t\r\n"

// lines is how many lines an exchange reads. Later lines are drained.
const lines = 2

// line is one line of a tool, or the error in its place.
type line struct {
	text []byte
	err  error // *badLine, or io.EOF at the end
}

// badLine is the error of a line that is not one of the contract.
type badLine struct{ why string }

func (e *badLine) Error() string { return e.why }

func bad(format string, args ...any) error { return &badLine{fmt.Sprintf(format, args...)} }

// receiver reads the standard output of a tool. Read runs on one goroutine, the other methods may
// be called at any time.
type receiver struct {
	came     chan line // never blocks
	over     chan struct{}
	received atomic.Int64 // bytes of the lines
	trailing atomic.Int64 // bytes after them
	begun    atomic.Int64 // bytes of the incomplete line
}

func newReceiver() *receiver {
	return &receiver{came: make(chan line, lines+1), over: make(chan struct{})}
}

// read reads the lines of an exchange, then drains the stream, so that the tool can write to it
// until it exits. A malformed line is the last one.
func (r *receiver) read(stdout io.Reader, trace func(sent bool, body []byte)) {
	defer close(r.over)
	br := bufio.NewReaderSize(stdout, 16<<10)
	for range lines {
		text, err := r.line(br)
		if err == nil {
			trace(false, text)
			err = judge(text)
		}
		r.came <- line{text, err}
		if err != nil {
			break
		}
	}
	n, _ := br.WriteTo(io.Discard)
	r.trailing.Add(n)
	r.came <- line{err: io.EOF}
}

// line returns the next line without the white space around it. It keeps at most maxLine bytes,
// also while it reads. A last line needs no newline; the error is io.EOF where nothing is left.
func (r *receiver) line(br *bufio.Reader) ([]byte, error) {
	var kept []byte
	full := false // only white space may follow
	defer r.begun.Store(0)
	for {
		part, whole, err := piece(br)
		r.received.Add(int64(len(part)))
		r.begun.Add(int64(len(part)))
		if len(kept) == 0 {
			part = bytes.TrimLeft(part, blanks)
		}
		if full || len(kept)+len(part) > maxLine {
			part = bytes.TrimRight(part, blanks)
			if full && len(part) > 0 || len(kept)+len(part) > maxLine {
				return nil, bad("a line of more than %d bytes", maxLine)
			}
			full = true
		}
		kept = append(kept, part...)
		switch {
		case err == nil && !whole:
		case whole && len(bytes.TrimSpace(kept)) == 0:
			return nil, bad("a blank line")
		case whole || len(bytes.TrimSpace(kept)) > 0:
			return bytes.TrimSpace(kept), nil
		default:
			return nil, io.EOF
		}
	}
}

// piece returns the part of a line that has arrived, at once, and reports whether it is the end of the
// line.
func piece(br *bufio.Reader) (part []byte, whole bool, err error) {
	if _, err := br.Peek(1); err != nil {
		return nil, false, err
	}
	part, _ = br.Peek(br.Buffered())
	if end := bytes.IndexByte(part, '\n'); end >= 0 {
		part, whole = part[:end+1], true
	}
	_, _ = br.Discard(len(part)) // it is in the buffer, where it stays until the next read
	return part, whole, nil
}

// judge returns the fault of the text of a line, before its members are read.
func judge(text []byte) error {
	switch {
	case bytes.HasPrefix(text, []byte("\ufeff")):
		return bad("a line that begins with a byte order mark, want plain UTF-8")
	case !utf8.Valid(text):
		return bad("a line that is not UTF-8: %.60q", text)
	case bytes.IndexByte(text, 0) >= 0:
		return bad("a line with a NUL byte: %.60q", text)
	case text[0] != '{':
		return bad("a line that is not a JSON object: %.60q", text)
	}
	return nil
}
