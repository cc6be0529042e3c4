package probe

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters"
)

// The limits of a Transcript.
const (
	maxLogLine = 16 << 10 // bytes; a longer line becomes several events
	tailLines  = 20
	errorLines = 10 // of Errors
	otherLines = 5  // of Errors, where no line names an error
)

// Transcript turns the output of a tool into log events, one a line, and keeps the last
// lines for an InstallError. Its two writers may be used from two goroutines.
type Transcript struct {
	mu      sync.Mutex
	log     adapters.LogFunc
	streams [2]stream
	tail    []string
}

// NewTranscript returns a transcript that calls log, which may be nil.
func NewTranscript(log adapters.LogFunc) *Transcript {
	t := &Transcript{log: log}
	t.streams = [2]stream{{t: t, name: "stdout"}, {t: t, name: "stderr"}}
	return t
}

// Stdout returns the writer for the tool's standard output.
func (t *Transcript) Stdout() io.Writer { return &t.streams[0] }

// Stderr returns the writer for the tool's standard error.
func (t *Transcript) Stderr() io.Writer { return &t.streams[1] }

// Close logs the rest of a last line without an end. The writers must not be used any more.
func (t *Transcript) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.streams {
		t.streams[i].flush()
	}
}

// Errors returns the lines of both streams from the first that names an error, at most
// errorLines: the first, which says what is wrong, and the last. Without such a line it returns
// the last few. Lines of progress are left out.
func (t *Transcript) Errors() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.tail
	if first := slices.IndexFunc(lines, speaksOfError); first >= 0 {
		lines = lines[first:]
		if more := len(lines) - errorLines; more > 0 {
			lines = append([]string{lines[0]}, lines[1+more:]...)
		}
	} else {
		lines = lines[max(0, len(lines)-otherLines):]
	}
	return strings.Join(lines, "\n")
}

// errorWords are in lines about errors, in lower case. Tools write them in many ways.
func errorWords() []string {
	return []string{"error", "err!", "err_", "fatal", "failed", "failure", "cannot", "can't", "could not", "couldn't", "not found", "no such", "denied", "refused", "unable to", "invalid", "conflict", "missing", "mismatch"}
}

func speaksOfError(line string) bool {
	line = strings.ToLower(line)
	return slices.ContainsFunc(errorWords(), func(word string) bool { return strings.Contains(line, word) })
}

// isProgress reports whether a line only shows the progress of a tool: a bar, or a fetched file.
func isProgress(line string) bool {
	line = strings.TrimSpace(line)
	if strings.ContainsAny(line, "━█▓░⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏") || strings.HasSuffix(line, ": started") || strings.Contains(line, ": finished with status 'done'") {
		return true
	}
	return slices.ContainsFunc([]string{
		"Collecting ", "Downloading ", "Downloaded ", "Obtaining ", "Using cached ", "Fetching ", "Looking in links:", "Looking in indexes:",
		"Requirement already satisfied:", "Progress: ", "reify:", "Resolving ",
	}, func(start string) bool { return strings.HasPrefix(line, start) && !speaksOfError(line) })
}

type stream struct {
	t    *Transcript
	name string
	line []byte // an unfinished line
}

// Write never fails.
func (s *stream) Write(p []byte) (int, error) {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	rest := p
	for {
		// A progress bar ends its line with a carriage return.
		i := bytes.IndexAny(rest, "\r\n")
		if i < 0 {
			break
		}
		s.add(rest[:i])
		s.flush()
		rest = rest[i+1:]
	}
	s.add(rest)
	return len(p), nil
}

// add appends to the unfinished line and logs what exceeds its bound.
func (s *stream) add(text []byte) {
	for len(s.line)+len(text) > maxLogLine {
		n := maxLogLine - len(s.line)
		s.line = append(s.line, text[:n]...)
		text = text[n:]
		s.flush()
	}
	s.line = append(s.line, text...)
}

func (s *stream) flush() {
	text := strings.ToValidUTF8(strings.TrimRight(string(s.line), " \t"), "\uFFFD")
	s.line = s.line[:0]
	if text == "" {
		return
	}
	if !isProgress(text) {
		if len(s.t.tail) == tailLines {
			s.t.tail = append(s.t.tail[:0], s.t.tail[1:]...)
		}
		s.t.tail = append(s.t.tail, text)
	}
	if s.t.log != nil {
		s.t.log(adapters.Log{Level: "info", Stream: s.name, Message: text})
	}
}
