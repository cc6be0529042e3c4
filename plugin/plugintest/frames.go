package plugintest

import (
	"strings"
	"sync"

	"github.com/bentobuild/bento/plugin/wire"
)

// The bounds of the frames that are kept of a test.
const (
	keptFrames = 20
	keptBytes  = 2 << 10 // of each
)

// frames keeps the last frames of each test. Its methods may be called concurrently.
type frames struct {
	mu sync.Mutex
	by map[string][]string
}

// add keeps a body that was sent to the plugin or came from it.
func (f *frames) add(clause string, sent bool, body []byte) {
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

// of returns the frames of a test.
func (f *frames) of(clause string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.by[clause]
}

// frames returns the frames of a test that failed.
func (s *suite) frames(clause string, o outcome) []string {
	if o.status != Fail {
		return nil
	}
	return s.kept.of(clause)
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
