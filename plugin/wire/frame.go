package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// preview is how many bytes of a peer a message quotes.
const preview = 60

// readFrame returns the body of the next frame. The error is io.EOF only if the stream ends between two
// frames, else io.ErrUnexpectedEOF. While it blocks, come has the received part.
func readFrame(br *bufio.Reader, l Limits, come *part) ([]byte, error) {
	length, err := readHeader(br, l, come)
	if err != nil {
		return nil, err
	}
	// The buffer grows with the received bytes, not with the announced length.
	body := make([]byte, 0, min(length, 64<<10))
	for len(body) < length {
		have := len(body)
		if have == cap(body) {
			body = slices.Grow(body, min(length-have, have))
		}
		if br.Buffered() < length-have {
			come.body(have+br.Buffered(), length)
		}
		// A read returns buffered bytes, or waits for more.
		n, err := br.Read(body[have:min(length, cap(body))])
		body = body[:have+n]
		if err == io.EOF {
			return nil, fmt.Errorf("%w after %d of %d bytes of a body", io.ErrUnexpectedEOF, len(body), length)
		}
		if err != nil {
			return nil, err
		}
	}
	come.whole()
	return body, nil
}

// readBodyLine returns the next line that has more than spaces. The error is io.EOF only if the stream ends
// between two lines.
func readBodyLine(br *bufio.Reader, most int) ([]byte, error) {
	var body []byte
	for {
		part, err := br.ReadSlice('\n')
		if body = append(body, part...); len(body) > most {
			return nil, fmt.Errorf("%w: %w: a line of more than %d bytes", ErrMalformed, ErrTooLarge, most)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && len(bytes.TrimSpace(body)) > 0:
			return nil, fmt.Errorf("%w inside a line", io.ErrUnexpectedEOF)
		case err != nil:
			return nil, err
		case len(bytes.TrimSpace(body)) > 0:
			return body, nil
		}
		body = body[:0]
	}
}

// readHeader reads a header block and returns the length that it announces.
func readHeader(br *bufio.Reader, l Limits, come *part) (int, error) {
	length, seen := -1, 0
	for {
		come.awaitLine(br, seen == 0)
		line, err := readLine(br, seen == 0)
		if seen += len(line); seen > l.Header {
			return 0, fmt.Errorf("%w: a header of more than %d bytes", ErrMalformed, l.Header)
		}
		if err != nil {
			return 0, err
		}
		bare := !bytes.HasSuffix(line, []byte("\r\n"))
		if l.Strict && bare {
			return 0, fmt.Errorf("%w: a header line without CR LF at its end: %.*q", ErrMalformed, preview, line)
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) == 0 {
			come.bare = come.bare || bare
			break
		}
		n, isLength, err := parseLine(line, l)
		come.bare = come.bare || bare && err == nil
		switch {
		case err != nil:
			return 0, err
		case isLength && length >= 0 && !l.Strict:
			return 0, fmt.Errorf("%w: two Content-Length headers in one frame", ErrMalformed)
		case isLength:
			length = n
		}
	}
	if length < 0 {
		return 0, fmt.Errorf("%w: a header without Content-Length", ErrMalformed)
	}
	return length, nil
}

// readLine returns a header line with its end, valid until the next read. The buffer of br
// is larger than a header may be, so a full one is too much.
func readLine(br *bufio.Reader, first bool) ([]byte, error) {
	line, err := br.ReadSlice('\n')
	switch {
	case err == io.EOF && first && len(line) == 0:
		return nil, io.EOF
	case err == io.EOF:
		return line, fmt.Errorf("%w inside a header, after %.*q", io.ErrUnexpectedEOF, preview, line)
	}
	return line, err
}

// parseLine reads one header line; it ignores all but Content-Length, unless the limits are
// strict.
func parseLine(line []byte, l Limits) (n int, isLength bool, err error) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || !isHeaderName(bytes.TrimSpace(name)) {
		return 0, false, fmt.Errorf("%w: %s, got %.*q", ErrMalformed, NoHeader, preview, line)
	}
	if !bytes.EqualFold(bytes.TrimSpace(name), []byte("content-length")) {
		if l.Strict {
			return 0, false, fmt.Errorf("%w: a header %.*q, expected only Content-Length", ErrMalformed, preview, name)
		}
		return 0, false, nil
	}
	value = bytes.TrimSpace(value)
	u, err := strconv.ParseUint(string(value), 10, 31)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && int(u) > l.Body:
		return 0, false, fmt.Errorf("%w: %w: a body of %.*s bytes, at most %d", ErrMalformed, ErrTooLarge, preview, value, l.Body)
	case err != nil:
		return 0, false, fmt.Errorf("%w: a Content-Length of %.*q, expected decimal digits", ErrMalformed, preview, value)
	}
	return int(u), true, nil
}

// isHeaderName reports whether name may be the name of a header: JSON without a header may
// contain a colon too.
func isHeaderName(name []byte) bool {
	for _, c := range name {
		if !(c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
			return false
		}
	}
	return len(name) > 0
}

// appendFrame appends the frame of body to dst.
func appendFrame(dst, body []byte) []byte {
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(body)), 10)
	dst = append(dst, "\r\n\r\n"...)
	return append(dst, body...)
}
