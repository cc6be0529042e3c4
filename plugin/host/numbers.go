package host

import (
	"cmp"
	"time"

	"github.com/bentobuild/bento/plugin/wire"
)

// Numbers are the timeouts and limits of a contract. Zero fields mean the defaults, which are those of the
// bento adapter protocol.
type Numbers struct {
	Handshake time.Duration // from the launch to the end of the handshake; 30 s
	Query     time.Duration // for a call without its own timeout; 30 s

	Respawn []time.Duration // the pause after each exit in a row; 1 s, 4 s
	Exits   int             // this many within Window are too many; 3
	Window  time.Duration   // 60 s
	Stable  time.Duration   // an exit after this long is the first in a row; 60 s
	Idle    time.Duration   // a resident unused for this long is ended; 0: never

	Cancel   time.Duration // for the answer to a cancelled call; 2 s
	Shutdown time.Duration // from the request to SIGTERM; 2 s
	Term     time.Duration // from SIGTERM to SIGKILL; 2 s
	// Drain is how long a closed stdout waits for the exit, and an exit for the end of
	// stdout; 1 s.
	Drain time.Duration

	StderrTail int // bytes of stderr kept for failures; 64 KiB
	Wire       wire.Limits
}

// Extension returns the numbers that the contracts of extensions share.
func Extension() Numbers {
	return Numbers{
		Handshake: 10 * time.Second,
		Query:     10 * time.Second,
		Respawn:   []time.Duration{time.Second, 4 * time.Second, 16 * time.Second},
		Shutdown:  5 * time.Second,
		Wire:      wire.Limits{Strict: true, Send: 2 * time.Second},
	}.withDefaults()
}

func (n Numbers) withDefaults() Numbers {
	n.Handshake = cmp.Or(n.Handshake, 30*time.Second)
	n.Query = cmp.Or(n.Query, 30*time.Second)
	if n.Respawn == nil {
		n.Respawn = []time.Duration{time.Second, 4 * time.Second}
	}
	n.Exits = cmp.Or(n.Exits, 3)
	n.Window = cmp.Or(n.Window, time.Minute)
	n.Stable = cmp.Or(n.Stable, time.Minute)
	n.Cancel = cmp.Or(n.Cancel, 2*time.Second)
	n.Shutdown = cmp.Or(n.Shutdown, 2*time.Second)
	n.Term = cmp.Or(n.Term, 2*time.Second)
	n.Drain = cmp.Or(n.Drain, time.Second)
	n.StderrTail = cmp.Or(n.StderrTail, 64<<10)
	return n
}

// pause returns the time between the n-th exit in a row, from 1, and the next start.
func (n Numbers) pause(exits int) time.Duration {
	if len(n.Respawn) == 0 {
		return 0
	}
	return n.Respawn[min(exits, len(n.Respawn))-1]
}

// endings are the process ends that may lead to a quarantine.
type endings struct {
	recent []time.Time // within Numbers.Window
	row    int         // since a process last ran for Numbers.Stable
}

// add adds the end of a process that was ready for some time.
func (e *endings) add(n Numbers, ran time.Duration) {
	if ran >= n.Stable {
		e.row = 0
	}
	e.row++
	e.recent = append(e.recent, time.Now())
	for time.Since(e.recent[0]) > n.Window {
		e.recent = e.recent[1:]
	}
}

// tooMany reports whether no further process is started.
func (e *endings) tooMany(n Numbers) bool { return len(e.recent) >= n.Exits }
