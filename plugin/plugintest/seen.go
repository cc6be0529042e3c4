package plugintest

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	"github.com/bentobuild/bento/plugin/wire"
)

// seen collects faults that every test looks for: by clause, the first that was found. Its methods may be
// called concurrently.
type seen struct {
	mu    sync.Mutex
	first map[string]fault
}

// fault is what was found, and the first test that found it; "" for the first handshake.
type fault struct{ what, test string }

func (s *seen) note(test, clause, format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == nil {
		s.first = make(map[string]fault)
	}
	f, known := s.first[clause]
	if !known {
		f.what = fmt.Sprintf(format, args...)
	}
	f.test = cmp.Or(f.test, test)
	s.first[clause] = f
}

// testOf returns the test in which the fault of a clause was found, "" for none.
func (s *seen) testOf(clause string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first[clause].test
}

func (s *seen) outcome(clause string) outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, found := s.first[clause]
	return when(!found, "%s", f.what)
}

// The bounds of the frames that are kept of a test.
const (
	keptFrames = 20
	keptBytes  = 2 << 10 // of each
)

// frames keeps the last frames of each test. Its methods may be called concurrently, and of nil.
type frames struct {
	mu sync.Mutex
	by map[string][]string
}

// add keeps a body that was sent to the plugin or came from it.
func (f *frames) add(clause string, sent bool, body []byte) {
	if f == nil {
		return
	}
	arrow := "< "
	if sent {
		arrow = "> "
	}
	text := strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(wire.Plain(string(body[:min(len(body), keptBytes)])))
	if len(body) > keptBytes {
		text += "…"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by == nil {
		f.by = make(map[string][]string)
	}
	list := append(f.by[clause], arrow+text)
	f.by[clause] = list[max(0, len(list)-keptFrames):]
}

// about returns the frames of a test that failed.
func (f *frames) about(clause string, o outcome) []string {
	if f == nil || o.status != Fail {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.by[clause]
}

// lastExchange returns the last message of bento and those after it.
func lastExchange(list []string) []string {
	for i := len(list) - 1; i > 0; i-- {
		if strings.HasPrefix(list[i], "> ") {
			return list[i:]
		}
	}
	return list
}
