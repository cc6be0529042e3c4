package sep

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/plugin/sep/manifest"
)

type received struct {
	Event     string
	Seq       uint64
	Timestamp string
	Data      struct{ N int }
	Dropped   int
}

// TestEvents: subscribed events arrive in order. Without the permission no event arrives.
func TestEvents(t *testing.T) {
	for granted, want := range map[bool][]received{
		true: {
			{"run.started", 1, "2000-01-01T00:00:00Z", struct{ N int }{0}, 0},
			{"run.finished", 2, "2000-01-01T00:00:01Z", struct{ N int }{2}, 0},
		},
		false: nil,
	} {
		bubble(t, func(t *testing.T) {
			var got []received
			e := &Entry{Enabled: true, Grant: []string{}}
			if granted {
				e = nil
			}
			x, m := begun(t, Options{Entry: e}, collect(&got))
			x.Event(t.Context(), "run.started", json.RawMessage(`{"n":0}`)) // before the extension is initialized
			x.Event(t.Context(), "task.started", json.RawMessage(`{"n":1}`))
			time.Sleep(time.Second)
			x.Event(t.Context(), "run.finished", json.RawMessage(`{"n":2}`))
			x.Drain(t.Context())
			x.Close()
			m.alive.Wait()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func collect(into *[]received) func(c *child) {
	return func(c *child) {
		c.greet()
		c.loop(func(m message) {
			var r received
			_ = json.Unmarshal(m.Params, &r)
			*into = append(*into, r)
		})
	}
}

// TestEventStorm: of 10,000 events to an extension that does not read, the last 256 are kept. The first of
// them has the number of dropped events.
func TestEventStorm(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var got []received
		read := make(chan struct{})
		x, _ := begun(t, Options{}, func(c *child) {
			c.greet()
			<-read
			collectRest(c, &got)
		})
		synctest.Wait()
		for i := range 10_000 {
			x.Event(t.Context(), "run.started", fmt.Appendf(nil, `{"n":%d}`, i))
		}
		if n := x.Status().Counters.Dropped; n < 10_000-maxEvents-1 || n > 10_000-maxEvents {
			t.Errorf("%d dropped", n)
		}
		close(read)
		x.Drain(t.Context())
		synctest.Wait()
		sum := 0
		for i, r := range got {
			sum += 1 + r.Dropped
			if i > 0 && r.Seq != got[i-1].Seq+1+uint64(r.Dropped) {
				t.Errorf("seq %d after %d, %d dropped", r.Seq, got[i-1].Seq, r.Dropped)
			}
		}
		if sum != 10_000 || len(got) > maxEvents+1 || got[len(got)-1].Data.N != 9999 {
			t.Errorf("%d events, with the dropped ones %d", len(got), sum)
		}
	})
}

func collectRest(c *child, into *[]received) {
	c.loop(func(m message) {
		var r received
		_ = json.Unmarshal(m.Params, &r)
		*into = append(*into, r)
	})
}

// TestEventBytes: the size of all queued events is bounded, and an event larger than a message is dropped.
func TestEventBytes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := newEvents()
		for range 5 {
			q.add("a", make(json.RawMessage, 5<<20), time.Now())
		}
		if len(q.list) != 3 || q.bytes != 15<<20 || q.dropped != 2 {
			t.Errorf("%d events, %d bytes, %d dropped", len(q.list), q.bytes, q.dropped)
		}
		var got []received
		x, _ := begun(t, Options{}, collect(&got))
		synctest.Wait()
		x.Event(t.Context(), "run.started", json.RawMessage(`{"s":"`+strings.Repeat("x", maxSent)+`"}`))
		x.Event(t.Context(), "run.started", json.RawMessage(`{"n":1}`))
		x.Drain(t.Context())
		synctest.Wait()
		if len(got) != 1 || got[0].Seq != 2 || got[0].Dropped != 1 || x.Status().Counters.Dropped != 1 {
			t.Errorf("got %+v, %+v", got, x.Status().Counters)
		}
	})
}

// TestEventsSurviveACrash: queued events are sent to the next process, and lost events are counted.
func TestEventsSurviveACrash(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var got []received
		x, _ := begun(t, Options{}, func(c *child) { c.greet(); c.read() }, collect(&got))
		synctest.Wait()
		for i := range 3 {
			x.Event(t.Context(), "run.started", fmt.Appendf(nil, `{"n":%d}`, i))
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		seqs := 0
		for _, r := range got {
			seqs += 1 + r.Dropped
		}
		if len(got) == 0 || got[len(got)-1].Seq != 3 || seqs < 2 {
			t.Errorf("got %+v", got)
		}
	})
}

// TestDrain: Drain returns when the queue is empty or the extension has failed.
func TestDrain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x, _ := begun(t, Options{}, func(c *child) { c.greet(); time.Sleep(time.Second); c.loop(func(message) {}) }, (*child).serve)
		synctest.Wait()
		x.Event(t.Context(), "run.started", json.RawMessage(`{}`))
		began := time.Now()
		x.Drain(t.Context())
		if d := time.Since(began); d != time.Second {
			t.Errorf("took %v", d)
		}
		silent, _ := begun(t, Options{}, func(c *child) { c.greet(); c.hang() }, func(c *child) { c.hang() })
		synctest.Wait()
		silent.Event(t.Context(), "run.started", json.RawMessage(`{}`))
		began = time.Now()
		silent.Drain(t.Context())
		if d := time.Since(began); d > 6*time.Second {
			t.Errorf("with an extension that fails it took %v", d)
		}
	})
}

// TestLazy: a lazy extension starts at the first event that it subscribes to.
func TestLazy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var got []received
		x, m := begun(t, Options{Lazy: true}, collect(&got))
		x.Event(t.Context(), "task.started", json.RawMessage(`{}`))
		time.Sleep(time.Minute)
		state(t, x, Waiting, "")
		if m.launches() != 0 {
			t.Error("it was started without an event")
		}
		x.Event(t.Context(), "run.started", json.RawMessage(`{}`))
		x.Drain(t.Context())
		state(t, x, Running, "")
		if len(got) != 1 || m.launches() != 1 {
			t.Errorf("got %+v, %d starts", got, m.launches())
		}
		never, m := begun(t, Options{Lazy: true}, collect(&got))
		never.Close()
		never.Event(t.Context(), "run.started", json.RawMessage(`{}`))
		state(t, never, Stopped, "")
		if m.launches() != 0 {
			t.Error("it was started after its end")
		}
	})
}

// BenchmarkEvents sends 10,000 events to five extensions.
func BenchmarkEvents(b *testing.B) {
	m, err := manifest.Parse("manifest.json", []byte(minimal))
	if err != nil {
		b.Fatal(err)
	}
	var all []*Extension
	for range 5 {
		launcher := &memory{run: []func(c *child){(*child).serve}}
		x, err := Start(b.Context(), Options{Manifest: m, Launcher: launcher})
		if err != nil {
			b.Fatal(err)
		}
		defer launcher.alive.Wait()
		defer x.Close()
		all = append(all, x)
	}
	data := json.RawMessage(`{"task":"web:build","status":"passed","took":1234,"key":"0123456789abcdef"}`)
	for b.Loop() {
		for range 10_000 {
			for _, x := range all {
				x.Event(b.Context(), "run.started", data)
			}
		}
		for _, x := range all {
			x.Drain(b.Context())
		}
	}
}
