package host

import (
	"context"
	"time"

	"github.com/bentobuild/bento/adapters"
)

// rekill is the time between two looks for a process that is to be killed.
const rekill = 10 * time.Millisecond

// CloseBy is Close, but kills the process when ctx is done, or, if it is done already, at once.
func (r *Resident) CloseBy(ctx context.Context) {
	r.stop()
	select {
	case <-r.ended:
		return
	case <-ctx.Done():
	}
	tick := time.NewTicker(rekill)
	defer tick.Stop()
	for {
		r.mu.Lock()
		c := r.current
		r.mu.Unlock()
		if c != nil {
			c.closing.Store(true)
			c.end(adapters.Crashed, "it was killed, since nothing waits for it any more")
		}
		select {
		case <-r.ended:
			return
		case <-tick.C: // a process may just have been launched
		}
	}
}
