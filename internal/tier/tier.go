// Package tier connects the disk of a workspace with a remote store, beside a run: what the store has becomes a result
// of the disk, and results of the disk are sent. A slow, dead or hostile server costs a run little time, and never
// its result.
package tier

import (
	"context"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// Options are the settings of a Tier.
type Options struct {
	// Open returns the store. It is called once, when the store is first needed, by any goroutine.
	Open func() (remote.Store, error)
	// Contain notes that the result of a key is made in a container of an image. It may be nil.
	Contain func(k cache.Key, image [32]byte)
	Disk    *cache.Disk
	State   *state.Dir
	Read    bool // results are looked for
	Write   bool // results are sent
	// Wait is how long Finish waits for results that are being sent; 0: at most shortWait, and a twentieth of the run.
	Wait time.Duration
}

// Tier is a run.Remote: the connection of one workspace, for one run after the other.
type Tier struct {
	o       Options
	open    func() (remote.Store, error)
	breaker breaker

	mu        sync.Mutex
	opened    remote.Store // nil until then
	problems  []diagnostics.Diagnostic
	warned    map[string]bool // by code
	questions *questions      // of this run, nil before the first
	out       outbox
	counts    run.RemoteCounts
}

// New returns a Tier. It opens nothing.
func New(o Options) *Tier {
	t := &Tier{o: o, breaker: breaker{state: o.State}, warned: make(map[string]bool)}
	t.open = sync.OnceValues(func() (remote.Store, error) {
		s, err := o.Open()
		if err == nil {
			t.mu.Lock()
			t.opened = s
			t.mu.Unlock()
		}
		return s, err
	})
	return t
}

// Close ends the connections. No run uses t any more.
func (t *Tier) Close() {
	if t.opened != nil {
		_ = t.opened.Close()
	}
}

// Reads implements run.Finder.
func (t *Tier) Reads() bool { return t.o.Read }

// Contain implements run.Finder.
func (t *Tier) Contain(k cache.Key, image [32]byte) {
	if t.o.Contain != nil && image != [32]byte{} {
		t.o.Contain(k, image)
	}
}

// Writes implements run.Sender.
func (t *Tier) Writes() bool { return t.o.Write }

// Problems implements run.Remote.
func (t *Tier) Problems() []diagnostics.Diagnostic {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := t.problems
	t.problems = nil
	return list
}

// warn adds a warning, once for each code in a run.
func (t *Tier) warn(code, message, hint string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.warned[code] {
		t.warned[code] = true
		t.problems = append(t.problems, diagnostics.Pos{}.Warning(code, "%s", message).WithHint(hint))
	}
}

// warnOff warns that the server is not used any more, unless a warning says already that its results are no good.
func (t *Tier) warnOff(why string) {
	t.mu.Lock()
	told := t.warned["remote_refused"]
	t.mu.Unlock()
	if !told {
		t.warn("remote_off", "the remote cache is not used any more in this run: "+why, "the run continues without; bento doctor tests the server")
	}
}

// count changes the counts.
func (t *Tier) count(change func(*run.RemoteCounts)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.counts)
}

// store returns the store, nil if it cannot be opened or the breaker is open.
func (t *Tier) store() remote.Store {
	if t.breaker.isOff() {
		return nil
	}
	s, err := t.open()
	if err != nil {
		t.off(err.Error(), false)
		t.warn("remote_unusable", "the remote cache is not used: "+err.Error(), "see [cache] remote in docs/configuration.md")
		return nil
	}
	return s
}

// off ends the use of the remote cache for this run.
func (t *Tier) off(why string, remember bool) {
	t.breaker.trip(remember)
	t.count(func(c *run.RemoteCounts) { c.Off = why })
}

// failed notes a fault of the server, or of the way to it.
func (t *Tier) failed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // nobody wants the answer any more
	}
	switch f := faultOf(err); {
	case f.denied:
		t.off(f.why, false)
		t.warn("remote_denied", f.why, "see $BENTO_CACHE_TOKEN and [cache] remote_token_env, remote_credential_helper; credentials go only to a host that $BENTO_REMOTE or your own configuration names")
	case f.local:
		t.off(f.why, false)
		t.warn("remote_unusable", "the remote cache is not used: "+f.why, "free space for the local cache, or name another directory with $BENTO_CACHE_DIR")
	case t.breaker.fault():
		t.off(f.why, true)
		t.warnOff(f.why)
	}
}

// Lost implements run.Finder.
func (t *Tier) Lost(d time.Duration) {
	if t.breaker.lose(d) {
		const why = "its answers are too slow"
		t.off(why, true)
		t.warnOff(why)
	}
}
