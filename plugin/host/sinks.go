package host

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// sinks are the receivers of a plugin's progress.
type sinks struct {
	rest  adapters.LogFunc // receives progress outside of calls
	shape *shape.Shape     // of progress

	mu   sync.Mutex
	list []*sink // of the running calls with a Log, oldest first
}

// sink is the receiver of one call. It runs with its lock held, so that no progress arrives after the call
// has returned.
type sink struct {
	mu   sync.Mutex
	to   adapters.LogFunc
	done bool
}

// listen adds a receiver until stop is called.
func (s *sinks) listen(to adapters.LogFunc) (stop func()) {
	if to == nil {
		return func() {}
	}
	k := &sink{to: to}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, k)
	return func() {
		s.mu.Lock()
		s.list = slices.DeleteFunc(s.list, func(other *sink) bool { return other == k })
		s.mu.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		k.done = true
	}
}

// tell passes l to the oldest running call with a Log, or to rest.
func (s *sinks) tell(l adapters.Log) {
	s.mu.Lock()
	var k *sink
	if len(s.list) > 0 {
		k = s.list[0]
	}
	s.mu.Unlock()
	if k == nil {
		if s.rest != nil {
			s.rest(l)
		}
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.done {
		k.to(l)
	}
}

// notified handles a notification. Progress with an unknown level is info; with an unknown
// stream it is a message of the plugin, which cannot steer a terminal. Other notifications,
// and progress that cannot be read, are ignored, and ok is false.
func (s *sinks) notified(method string, params json.RawMessage) (ok bool) {
	var l adapters.Log
	if method != wire.NotifyLog || shape.Decode(params, s.shape, &l) != nil {
		return false
	}
	if !slices.Contains([]string{"trace", "debug", "info", "warn", "error"}, l.Level) {
		l.Level = "info"
	}
	if l.Stream != "stdout" && l.Stream != "stderr" {
		l.Stream = ""
	}
	if l.Verbatim = l.Stream != ""; !l.Verbatim {
		l.Message = wire.Plain(l.Message)
	}
	s.tell(l)
	return true
}

func logShape() *shape.Shape {
	return shape.Record(
		shape.May("level", shape.Text(64)),
		shape.May("stream", shape.Text(64)),
		shape.Must("message", shape.Text(16<<20)),
	)
}
