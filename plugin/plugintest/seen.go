package plugintest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/wire"
)

// seen collects errors that every test looks for: by clause, the first that was found. Its
// methods may be called concurrently.
type seen struct {
	mu    sync.Mutex
	wrong map[string]string
	test  map[string]string // by clause, the test in which it was found; "" for none
}

// in notes an error of one test.
func (s *seen) in(test, clause, format string, args ...any) {
	s.note(clause, format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.test == nil {
		s.test = make(map[string]string)
	}
	if s.test[clause] == "" {
		s.test[clause] = test
	}
}

// testOf returns the test in which the error of a clause was found, "" for none.
func (s *seen) testOf(clause string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.test[clause]
}

func (s *seen) note(clause, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrong == nil {
		s.wrong = make(map[string]string)
	}
	if s.wrong[clause] == "" {
		s.wrong[clause] = fmt.Sprintf(format, args...)
	}
}

// members records members that bento would ignore in the result of a method.
func (s *seen) members(method string, result json.RawMessage) {
	for _, stranger := range answer.Unknown(method, result) {
		name := stranger.Path[strings.LastIndexByte(stranger.Path, '.')+1:]
		s.note("5.12", "%s: %q is no member of the protocol; %s", method, stranger.Path, diagnostics.Suggest(name, stranger.Known))
	}
}

func (s *seen) outcome(clause string) outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return when(s.wrong[clause] == "", "%s", s.wrong[clause])
}

// notification reports whether m is a valid log.
func (s *seen) notification(test string, m *wire.Message) bool {
	var l adapters.Log
	switch err := wire.Decode(m.Params, &l); {
	case m.Method != wire.NotifyLog:
		s.in(test, "3.8", "a notification %.60q", m.Method)
	case err != nil:
		s.in(test, "3.8", "params of a log that are not {level, message, stream}: %v", err)
	case !slices.Contains([]string{"trace", "debug", "info", "warn", "error"}, l.Level):
		s.in(test, "3.8", "a log with the level %.40q", l.Level)
	case l.Stream != "" && l.Stream != "stdout" && l.Stream != "stderr":
		s.in(test, "3.8", "a log with the stream %.40q", l.Stream)
	default:
		return true
	}
	return false
}

// recorder keeps the beginning of the bytes that are read through it.
type recorder struct {
	r    io.ReadCloser
	kept []byte
}

// maxKept is how many bytes of a stream are searched for malformed headers.
const maxKept = 1 << 16

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.kept = append(r.kept, p[:min(n, maxKept-len(r.kept))]...)
	return n, err
}

func (r *recorder) Close() error { return r.r.Close() }

// oddHeader reports whether a header line among the kept bytes ends with LF alone. It reads until the end
// of the frames.
func (r *recorder) oddHeader() bool {
	rest := r.kept
	for length := 0; ; {
		line, after, ok := bytes.Cut(rest, []byte("\n"))
		if !ok {
			return false
		}
		text, whole := strings.CutSuffix(string(line), "\r")
		name, value, isHeader := strings.Cut(text, ":")
		if text != "" && !isHeader {
			return false
		}
		if !whole {
			return true
		}
		if rest = after; text == "" {
			rest = rest[min(length, len(rest)):]
		} else if strings.EqualFold(name, "Content-Length") {
			length, _ = strconv.Atoi(strings.TrimSpace(value))
			length = max(length, 0)
		}
	}
}
