package run

import (
	"context"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/key"
)

// Remote is a cache beyond this machine, a *tier.Tier of package tier. Its methods are for the goroutine of a run. No
// fault of it is a fault of the run.
type Remote interface {
	Finder
	Sender
	// Problems returns the warnings since the last call.
	Problems() []diagnostics.Diagnostic
	// Finish ends all questions, waits a while for results that are being sent, no longer than ctx, and leaves the
	// rest for later. It returns what happened since the last Finish. The run took ran.
	Finish(ctx context.Context, ran time.Duration) RemoteCounts
}

// Finder gets results that the store lacks.
type Finder interface {
	Reads() bool // reports whether results are looked for; if not, nothing is asked
	// Contain notes that the result of a key is made in a container of an image, which counts in place of this machine. It is
	// called before Ask.
	Contain(k cache.Key, image [32]byte)
	// Ask asks for the results of keys, each once, in the background.
	Ask(ctx context.Context, keys []cache.Key)
	// Ready returns a channel that receives when there are Answers.
	Ready() <-chan struct{}
	// Answers returns what has become of questions since the last call.
	Answers() []Answer
	// Drop ends the questions for keys, whose tasks have ended.
	Drop(keys ...cache.Key)
	// Patience returns how long a task should wait for an answer at most.
	Patience() time.Duration
	// Lost notes that the run has waited in vain.
	Lost(d time.Duration)
}

// Sender sends results.
type Sender interface {
	Writes() bool // reports whether results are sent
	// Announce notes that a result will be stored and sent: if this process is killed in between, a later one sends it.
	Announce(o Outgoing)
	// Withdraw takes back what was announced.
	Withdraw(keys ...cache.Key)
	// Send sends a result that is stored and was announced, in the background, until ctx ends.
	Send(ctx context.Context, o Outgoing)
}

// Outgoing is a result that is sent.
type Outgoing struct {
	Key   cache.Key
	Size  int64 // of its outputs, in bytes
	NoLog bool  // its output is not sent
	Aside bool  // it is no result of a task, and is not counted
	// Image is the digest of the image of the container that it was made in, zero for none.
	Image [32]byte
}

// Answer is what has become of a question. A key has at most one answer with Found, then one without.
type Answer struct {
	Key   cache.Key
	Found bool // there is a result, which is being fetched
	// Took is how long the found result took where it was made, 0 if unknown.
	Took time.Duration
	Here bool // the store has the result now; if neither is set, there is none that can be used
}

// RemoteCounts are what a Remote has done in a run.
type RemoteCounts struct {
	Fetched      int   // results that have arrived
	FetchedBytes int64 // of their blobs, as far as known
	Sent         int   // results that others can find now
	SentBytes    int64
	Left         int    // results that are sent later
	Off          string // why it was not used to the end, "" if it was
	Used         bool   // something was asked or sent
}

// RemoteUse is what the remote cache was used for. It is zero if there is none, or if it was not needed.
type RemoteUse struct {
	RemoteCounts
	Hits int // the number of tasks whose results have come from there
}

// finishRemote ends what is asked and sent.
func (e *engine) finishRemote(ctx context.Context, r *Report) {
	if e.env.Remote == nil {
		return
	}
	e.unanswered = 0
	r.Remote.RemoteCounts = e.env.Remote.Finish(ctx, time.Since(e.start))
	for _, res := range r.Results {
		if res.Remote {
			r.Remote.Hits++
		}
	}
	e.warnRemote()
}

// warnRemote reports the problems of the remote cache.
func (e *engine) warnRemote() { e.env.warnAll(e.env.Remote.Problems()) }

// announce notes that a result will be sent. It returns functions to call when it is stored, and when it is not.
func (e *engine) announce(ctx context.Context, x *execution, ev *key.Evaluation) (stored, refused func()) {
	t, r := x.ev.Task, e.env.Remote
	if r == nil || !r.Writes() || t.AtHome {
		return func() {}, func() {}
	}
	list := []Outgoing{{Key: ev.Key, NoLog: t.LogAtHome, Image: e.keys.Image(t)}}
	for i := range x.kept.Outputs {
		list[0].Size += x.kept.Outputs[i].Size
	}
	if len(ev.Discovered) > 0 {
		list = append(list, Outgoing{Key: ev.PathSetsKey(), Aside: true, Image: list[0].Image})
	}
	keys := make([]cache.Key, len(list))
	for i, o := range list {
		keys[i] = o.Key
		r.Announce(o)
	}
	stored = func() {
		for _, o := range list {
			r.Send(ctx, o)
		}
	}
	return stored, func() { r.Withdraw(keys...) }
}
