package tier

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
)

// server is a remote.Store whose answers a test decides.
type server struct {
	find  func(cache.Key) error // nil: there is a result
	fetch func(context.Context, *remote.Found, *cache.Disk) error
	send  func(context.Context, cache.Key) error

	mu    sync.Mutex
	asked []cache.Key
	sent  []cache.Key
}

func (s *server) Find(ctx context.Context, keys []cache.Key, answer func(remote.Answer)) {
	for _, k := range keys {
		s.mu.Lock()
		s.asked = append(s.asked, k)
		s.mu.Unlock()
		err := ctx.Err()
		if err == nil {
			err = s.find(k)
		}
		if err != nil {
			answer(remote.Answer{Key: k, Err: err})
			continue
		}
		answer(remote.Answer{Key: k, Found: &remote.Found{ID: remote.ID{Key: k}, Size: 10}})
	}
}

func (s *server) Fetch(ctx context.Context, f *remote.Found, disk *cache.Disk) error {
	if s.fetch != nil {
		return s.fetch(ctx, f, disk)
	}
	return disk.Record(f.Key, &cache.Record{})
}

func (s *server) Send(ctx context.Context, _ *cache.Disk, results []remote.Outgoing, done func(remote.Sent)) {
	for _, r := range results {
		err := s.send(ctx, r.Key)
		if err == nil {
			s.sent = append(s.sent, r.Key)
		}
		done(remote.Sent{Key: r.Key, Bytes: 7, Err: err})
	}
}

func (s *server) Close() error { return nil }

// desk is a workspace with a cache.
type desk struct {
	*testing.T
	disk  *cache.Disk
	state *state.Dir
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	disk, err := cache.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &desk{t, disk, state.Open(t.TempDir())}
}

func (d *desk) tier(s *server) *Tier {
	return New(Options{Open: func() (remote.Store, error) { return s, nil }, Disk: d.disk, State: d.state, Read: true, Write: true})
}

// keys returns n keys, and stores a result under each if that is wished.
func (d *desk) keys(n int, stored bool) (list []cache.Key) {
	d.Helper()
	for i := range n {
		k := cache.Key(cache.Sum(fmt.Append(nil, i)))
		if list = append(list, k); !stored {
			continue
		}
		if err := d.disk.Record(k, &cache.Record{}); err != nil {
			d.Fatal(err)
		}
	}
	return list
}

// answers waits for the last answers for n keys.
func answers(t *Tier, n int) (here, absent []cache.Key) {
	for len(here)+len(absent) < n {
		<-t.Ready()
		for _, a := range t.Answers() {
			switch {
			case a.Here:
				here = append(here, a.Key)
			case !a.Found:
				absent = append(absent, a.Key)
			}
		}
	}
	return here, absent
}

func codes(t *Tier) (list []string) {
	for _, p := range t.Problems() {
		list = append(list, p.Rule)
	}
	return list
}

func miss(cache.Key) error { return remote.ErrMiss }

func TestAsk(t *testing.T) {
	d := newDesk(t)
	keys := d.keys(200, false)
	s := &server{find: func(k cache.Key) error {
		if slices.Index(keys, k)%2 == 1 {
			return remote.ErrMiss
		}
		return nil
	}}
	tier := d.tier(s)
	tier.Ask(t.Context(), keys)
	here, absent := answers(tier, len(keys))
	if len(here) != 100 || len(absent) != 100 {
		t.Errorf("%d are here, %d absent", len(here), len(absent))
	}
	for _, k := range here {
		if _, err := d.disk.Lookup(k); err != nil {
			t.Error(err)
		}
	}
	c := tier.Finish(t.Context(), time.Second)
	if want := (run.RemoteCounts{Fetched: 100, FetchedBytes: 1000, Used: true}); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	if c := tier.Finish(t.Context(), 0); c != (run.RemoteCounts{}) {
		t.Errorf("then %+v", c)
	}
}

// After three faults in a row the server is not asked any more, in this run and for a while. Then one question is
// asked, and the others when it is answered.
func TestBreaker(t *testing.T) {
	d := newDesk(t)
	keys := d.keys(50, false)
	s := &server{find: func(cache.Key) error { return errors.New("broken") }}
	ask := func() (asked int, warned []string) {
		tier := d.tier(s)
		before := len(s.asked)
		tier.Ask(t.Context(), keys)
		if _, absent := answers(tier, len(keys)); len(absent) != len(keys) {
			t.Errorf("%d absent", len(absent))
		}
		tier.Finish(t.Context(), time.Second)
		return len(s.asked) - before, codes(tier)
	}
	if _, warned := ask(); !slices.Equal(warned, []string{"remote_off"}) {
		t.Errorf("warned of %q", warned)
	}
	if asked, warned := ask(); asked != 0 || warned != nil {
		t.Errorf("the next run has asked for %d, warned of %q", asked, warned)
	}
	ago := func(since time.Duration) {
		err := d.state.Store(offFile, offVersion, binary.LittleEndian.AppendUint64(nil, uint64(time.Now().Add(-since).UnixNano())))
		if err != nil {
			t.Fatal(err)
		}
	}
	ago(offTime)
	if asked, warned := ask(); asked != 1 || !slices.Equal(warned, []string{"remote_off"}) {
		t.Errorf("the probe has asked for %d, warned of %q", asked, warned)
	}
	ago(offTime)
	s.find = miss
	if asked, warned := ask(); asked != len(keys) || warned != nil {
		t.Errorf("after the probe %d were asked for, warned of %q", asked, warned)
	}
	if _, off := OffSince(d.state); off {
		t.Error("it is still off")
	}
	ago(-time.Hour) // the clock was set back
	if asked, _ := ask(); asked != len(keys) {
		t.Errorf("%d were asked for", asked)
	}
}

// Single faults between answers do not matter, and refused credentials are not remembered.
func TestFaults(t *testing.T) {
	d := newDesk(t)
	keys := d.keys(20, false)
	broken := 0
	tier := d.tier(&server{find: func(cache.Key) error {
		if broken++; broken%3 != 0 {
			return errors.New("broken")
		}
		return remote.ErrMiss
	}})
	tier.Ask(t.Context(), keys)
	answers(tier, len(keys))
	if c := tier.Finish(t.Context(), 0); c.Off != "" {
		t.Errorf("off: %s", c.Off)
	}
	denied := d.tier(&server{find: func(cache.Key) error { return remote.ErrDenied }})
	denied.Ask(t.Context(), keys)
	answers(denied, len(keys))
	if got := codes(denied); !slices.Equal(got, []string{"remote_denied"}) {
		t.Errorf("warned of %q", got)
	}
	if _, off := OffSince(d.state); off {
		t.Error("refused credentials are remembered")
	}
	slow := d.tier(&server{find: miss})
	slow.Lost(time.Second)
	if c := slow.Finish(t.Context(), 0); c.Off != "" {
		t.Errorf("off after a second: %s", c.Off)
	}
	slow.Lost(maxLost)
	if c := slow.Finish(t.Context(), 0); c.Off == "" {
		t.Error("not off")
	}
}

// A refused result is a miss, and one warning is enough for many.
func TestRefused(t *testing.T) {
	d := newDesk(t)
	keys := d.keys(10, false)
	tier := d.tier(&server{find: func(cache.Key) error { return &remote.RefusedError{Reason: remote.Unsigned} }})
	tier.Ask(t.Context(), keys)
	answers(tier, len(keys))
	if got := codes(tier); !slices.Equal(got, []string{"remote_refused"}) {
		t.Errorf("warned of %q", got)
	}
	if c := tier.Finish(t.Context(), 0); c.Off != "" {
		t.Errorf("off: %s", c.Off)
	}
}

// A dropped result is not fetched to its end, and Finish ends what is left.
func TestDrop(t *testing.T) {
	d := newDesk(t)
	keys := d.keys(2, false)
	begun := make(chan struct{}, 2)
	tier := d.tier(&server{find: func(cache.Key) error { return nil }, fetch: func(ctx context.Context, _ *remote.Found, _ *cache.Disk) error {
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}})
	tier.Ask(t.Context(), keys)
	<-begun
	<-begun
	tier.Drop(keys[0])
	if c := tier.Finish(t.Context(), 0); c.Fetched != 0 || c.Off != "" {
		t.Errorf("%+v", c)
	}
}

// The end of a run waits for uploads, but not long, and not after an interrupt. What is left is sent by a later one.
func TestFinish(t *testing.T) {
	for name, c := range map[string]struct {
		wait, ran, want time.Duration
		interrupted     bool
	}{
		"long run": {0, time.Hour, shortWait, false}, "short run": {0, 10 * time.Second, 500 * time.Millisecond, false},
		"configured": {time.Minute, time.Second, time.Minute, false}, "interrupted": {time.Minute, time.Hour, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			keys := d.keys(3, true)
			synctest.Test(t, func(t *testing.T) {
				s := &server{send: func(ctx context.Context, _ cache.Key) error { <-ctx.Done(); return ctx.Err() }}
				tier := d.tier(s)
				tier.o.Wait = c.wait
				for _, k := range keys {
					tier.Announce(run.Outgoing{Key: k, NoLog: true})
					tier.Send(t.Context(), run.Outgoing{Key: k, NoLog: true})
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.interrupted {
					cancel()
				}
				began := time.Now()
				if got := tier.Finish(ctx, c.ran); got.Left != 3 || got.Sent != 0 || got.Off != "" {
					t.Errorf("%+v", got)
				}
				if took := time.Since(began); took != c.want {
					t.Errorf("it waited for %v, want %v", took, c.want)
				}
			})
			if n := Waiting(d.state); n != 3 {
				t.Errorf("%d wait", n)
			}
			later := d.tier(&server{send: func(context.Context, cache.Key) error { return nil }})
			if got := later.Push(t.Context()); got.Sent != 3 || got.SentBytes != 21 || got.Left != 0 {
				t.Errorf("then %+v", got)
			}
			if n := Waiting(d.state); n != 0 {
				t.Errorf("then %d wait", n)
			}
		})
	}
}

// What a killed bento has announced is sent by the next one, even if it was not stored before the end; what it withdrew
// or has sent is not.
func TestKilled(t *testing.T) {
	d := newDesk(t)
	keys := d.keys(4, true)
	killed := d.tier(&server{send: func(context.Context, cache.Key) error { return nil }})
	for _, k := range append(keys, cache.Key{1}) { // the last one was never stored
		killed.Announce(run.Outgoing{Key: k, NoLog: k == keys[0], Aside: k == keys[3]})
	}
	killed.Withdraw(keys[1])
	killed.Send(t.Context(), run.Outgoing{Key: keys[2], NoLog: false})
	killed.out.group.Wait()
	killed.out.queue.file.Close() // as the kernel does it

	s := &server{send: func(context.Context, cache.Key) error { return nil }}
	later := d.tier(s)
	if got := later.Push(t.Context()); got.Sent != 1 || got.Left != 0 || !slices.Equal(s.sent, []cache.Key{keys[0], keys[3]}) {
		t.Errorf("%+v, sent %v", got, s.sent)
	}
}

// Two bentos have a queue each. A third takes over only what no other one is sending.
func TestTwoSenders(t *testing.T) {
	d := newDesk(t)
	keys := d.keys(2, true)
	release := make(chan struct{})
	first := d.tier(&server{send: func(context.Context, cache.Key) error { <-release; return nil }})
	first.o.Wait = time.Hour
	first.Announce(run.Outgoing{Key: keys[0], NoLog: false})
	first.Send(t.Context(), run.Outgoing{Key: keys[0], NoLog: false})
	s := &server{send: func(context.Context, cache.Key) error { return nil }}
	second := d.tier(s)
	second.Announce(run.Outgoing{Key: keys[1], NoLog: false})
	second.Send(t.Context(), run.Outgoing{Key: keys[1], NoLog: false})
	second.o.Wait = time.Hour
	if got := second.Finish(t.Context(), 0); got.Sent != 1 || !slices.Equal(s.sent, keys[1:]) {
		t.Errorf("%+v, sent %v", got, s.sent)
	}
	close(release)
	if got := first.Finish(t.Context(), 0); got.Sent != 1 {
		t.Errorf("%+v", got)
	}
}

// What cannot be sent is left out, what may be sent later is kept, up to three times.
func TestUnsent(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		left int
		code string
	}{
		"private": {remote.ErrPrivate, 0, ""}, "full": {remote.ErrFull, 0, "remote_full"}, "evicted": {cache.ErrMiss, 0, ""},
		"denied": {remote.ErrDenied, 1, "remote_denied"}, "fault": {errors.New("broken"), 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			tier := d.tier(&server{send: func(context.Context, cache.Key) error { return c.err }})
			tier.o.Wait = time.Hour
			for _, k := range d.keys(1, true) {
				tier.Announce(run.Outgoing{Key: k, NoLog: false})
				tier.Send(t.Context(), run.Outgoing{Key: k, NoLog: false})
			}
			got := tier.Finish(t.Context(), 0)
			if warned := strings.Join(codes(tier), " "); got.Left != c.left || warned != c.code {
				t.Errorf("%+v, warned of %q", got, warned)
			}
			if name != "fault" {
				return
			}
			for i, left := range []int{1, 0} {
				if got := tier.Push(t.Context()); got.Left != left {
					t.Errorf("attempt %d: %+v", i+2, got)
				}
			}
			if warned := codes(tier); !slices.Equal(warned, []string{"remote_left", "remote_unsent"}) {
				t.Errorf("warned of %q", warned)
			}
		})
	}
}

// A queue that was cut anywhere has the lines before.
func TestQueueCut(t *testing.T) {
	var list []waiting
	for i := range byte(3) {
		list = append(list, waiting{key: cache.Key{i + 1}, noLog: i == 1, aside: i == 2, tries: i, image: [32]byte{i}})
	}
	data := append(linesOf(list), lineOf(lineDone, list[0])...)
	for n := range len(data) + 1 {
		got := readLines(data[:n])
		lines := max(0, n-len(queueMagic)) / lineSize
		want := list[:min(lines, 3)]
		if lines == 4 {
			want = list[1:]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("of %d bytes: %v, want %v", n, got, want)
		}
	}
}

func FuzzQueue(f *testing.F) {
	f.Add(linesOf([]waiting{{key: cache.Key{1}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		list := readLines(data)
		if again := readLines(linesOf(list)); !slices.Equal(again, list) {
			t.Errorf("%v, then %v", list, again)
		}
	})
}
