package tier

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/internal/state"
)

// The bounds of a breaker.
const (
	maxFaults = 3                // in a row
	maxTotal  = 20               // of a run
	maxLost   = 2 * time.Second  // of a run
	offTime   = 30 * time.Second // after which one question is asked again
)

// offFile has the time when the remote cache was last given up.
const (
	offFile    = "remote/off"
	offVersion = 1
)

// breaker decides whether the server is asked. Once it is off, it is off for the run, and for offTime in later runs.
// After that the first question is a probe: the others are asked when it is answered.
type breaker struct {
	state *state.Dir

	mu       sync.Mutex
	begun    bool // the state was read
	faults   int  // since the last answer
	total    int
	lost     time.Duration
	off      chan struct{} // closed when it is off
	isNowOff bool
	probing  bool
	healthy  bool // the server has answered
}

// begin reads the state before the first question of a run.
func (b *breaker) begin() {
	if b.begun {
		return
	}
	b.begun, b.off = true, make(chan struct{})
	at, off := OffSince(b.state)
	if !off {
		return
	}
	since := time.Since(at)
	b.probing = since >= offTime || since < -time.Minute // else the clock was set back
	if !b.probing {
		b.isNowOff = true
		close(b.off)
	}
}

// renew forgets what happened in the last run.
func (b *breaker) renew() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun, b.faults, b.total, b.lost, b.isNowOff, b.probing, b.healthy = false, 0, 0, 0, false, false, false
}

// forget forgets that the server was given up.
func (b *breaker) forget() {
	_ = b.state.Remove(offFile)
	b.renew()
}

// OffSince returns when the server of a workspace was given up, if it has not answered since.
func OffSince(d *state.Dir) (since time.Time, off bool) {
	data, err := d.Load(offFile, offVersion)
	if err != nil || len(data) != 8 {
		return time.Time{}, false
	}
	return time.Unix(0, int64(binary.LittleEndian.Uint64(data))), true
}

// isOff reports whether the server is not asked.
func (b *breaker) isOff() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	return b.isNowOff
}

// ended returns a channel that is closed when the server is not asked any more.
func (b *breaker) ended() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	return b.off
}

// isProbing reports whether the one question that is asked has no answer yet.
func (b *breaker) isProbing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	return b.probing
}

// answered notes an answer, of whatever kind. It reports whether it is that of the probe.
func (b *breaker) answered() (probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	b.healthy, b.faults, probe, b.probing = true, 0, b.probing, false
	if probe {
		_ = b.state.Remove(offFile) // else there is one more probe
	}
	return probe
}

// isHealthy reports whether the server has answered in this run.
func (b *breaker) isHealthy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.healthy
}

// fault counts a fault, and reports whether it is the one after which the server is not asked any more.
func (b *breaker) fault() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	b.faults++
	b.total++
	return !b.isNowOff && (b.probing || b.faults >= maxFaults || b.total >= maxTotal)
}

// lose counts lost time, and reports whether it is too much.
func (b *breaker) lose(d time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	b.lost += d
	return !b.isNowOff && b.lost >= maxLost
}

// trip turns it off.
func (b *breaker) trip(remember bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begin()
	b.probing = false
	if !b.isNowOff {
		b.isNowOff = true
		close(b.off)
	}
	if remember {
		_ = b.state.Store(offFile, offVersion, binary.LittleEndian.AppendUint64(nil, uint64(time.Now().UnixNano())))
	}
}

// fault is an error that is no answer.
type fault struct {
	why           string
	denied, local bool // the credentials were refused; the disk is at fault
}

func faultOf(err error) fault {
	var local *remote.LocalError
	return fault{why: err.Error(), denied: errors.Is(err, remote.ErrDenied), local: errors.As(err, &local)}
}
