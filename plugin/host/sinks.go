package host

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// sinks are who hears the progress that a plugin tells.
type sinks struct {
	rest  adapters.LogFunc // hears what nobody else does
	shape *shape.Shape     // of progress

	mu   sync.Mutex
	list []*sink // of the calls in flight that listen, oldest first
}

// sink is the listener of one call. Its lock is held while the listener runs: that
// is what keeps progress from coming after the call has returned.
type sink struct {
	mu   sync.Mutex
	to   adapters.LogFunc
	done bool
}

// listen adds a listener until stop is called.
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

// tell gives l to the oldest call that listens, or to the rest.
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

// notified takes a notification. Progress with an unknown level counts as info,
// with an unknown stream as the plugin's own words, which cannot steer a terminal;
// other notifications, and progress that cannot be read, are passed over, and ok is
// false.
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
