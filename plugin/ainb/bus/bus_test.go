package bus

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestBus compares a bus with a plain list of all publishes.
func TestBus(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b Bus
		ids := []string{"x", "y", "z"}
		inboxes, subs := map[string]*Inbox{}, map[string]map[string]bool{}
		want := map[string][]Event{}
		latest := map[string]Snapshot{}
		var version uint64
		topic := rapid.SampledFrom([]string{"a", "b", "ui.state/x", "ui.state"})
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			id := rapid.SampledFrom(ids).Draw(t, "id")
			switch rapid.IntRange(0, 3).Draw(t, "do") {
			case 0: // starts, or starts again
				inboxes[id], subs[id], want[id] = b.Join(id, []string{"a"}), map[string]bool{"a": true}, nil
			case 1:
				name := topic.Draw(t, "topic")
				if err := b.Subscribe(id, name); (err == nil) != (inboxes[id] != nil) {
					t.Fatalf("subscribe: %v", err)
				}
				if inboxes[id] != nil {
					subs[id][name] = true
				}
			case 2:
				b.Leave(id, &Inbox{}) // with the inbox of an older process
				if inboxes[id] != nil {
					b.Leave(id, inboxes[id])
					inboxes[id], subs[id] = nil, nil
					delete(latest, "ui.state/"+id)
				}
			case 3:
				from := rapid.SampledFrom(append(ids, Host)).Draw(t, "from")
				name := topic.Draw(t, "topic")
				payload := []byte(fmt.Sprint(version))
				v, err := b.Publish(from, name, payload)
				if denied := name == "ui.state/x" && from != "x" && from != Host; denied != errors.Is(err, ErrSlot) {
					t.Fatalf("%q to %q: %v", from, name, err)
				} else if denied {
					continue
				}
				if version++; v != version {
					t.Fatalf("version %d, want %d", v, version)
				}
				if name == "ui.state" && from != Host {
					name += "/" + from
				}
				latest[name] = Snapshot{payload, v, from}
				for _, to := range ids {
					if to != from && subs[to][name] {
						want[to] = append(want[to], Event{name, payload, v})
					}
				}
			}
		}
		for _, id := range ids {
			for i := 0; inboxes[id] != nil; i++ {
				e, ok := inboxes[id].Next()
				if ok != (i < len(want[id])) || ok && e.Version != want[id][i].Version {
					t.Fatalf("%s: event %d is %+v %v, want %+v", id, i, e, ok, want[id])
				}
				if !ok {
					break
				}
			}
		}
		stored := 0
		for name, s := range latest {
			if got := b.Latest(Host, name); got.Version != s.Version || got.Publisher != s.Publisher || string(got.Payload) != string(s.Payload) {
				t.Fatalf("%s: %+v, want %+v", name, got, s)
			}
			stored += len(s.Payload)
		}
		if len(b.Topics()) != len(latest) || b.stored != stored {
			t.Fatalf("topics %q, want %v; %d bytes, want %d", b.Topics(), latest, b.stored, stored)
		}
	})
}

// TestInboxIsBounded: new events replace the oldest ones, bounded by number and by bytes.
func TestInboxIsBounded(t *testing.T) {
	t.Parallel()
	var b Bus
	in := b.Join("x", []string{"a"})
	for range maxEvents + 5 {
		b.Publish(Host, "a", nil)
	}
	if e, _ := in.Next(); e.Version != 6 || in.Dropped() != 5 {
		t.Errorf("oldest %d, dropped %d", e.Version, in.Dropped())
	}
	in = b.Join("x", []string{"a"})
	for range 3 {
		b.Publish(Host, "a", make([]byte, maxStored/2))
	}
	if e, _ := in.Next(); in.Dropped() != 1 || e.Version != maxEvents+7 {
		t.Errorf("dropped %d, oldest %d", in.Dropped(), e.Version)
	}
	select {
	case <-in.Ready():
	default:
		t.Error("not ready")
	}
}

// TestStoreIsBounded: a publish over a limit is refused, and the stored payloads stay.
func TestStoreIsBounded(t *testing.T) {
	t.Parallel()
	var b Bus
	if _, err := b.Publish("x", "a", make([]byte, maxStored+1)); !errors.Is(err, errFull) {
		t.Errorf("too large: %v", err)
	}
	for i := range maxTopics {
		if _, err := b.Publish("x", fmt.Sprint(i), nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Publish("x", "more", nil); !errors.Is(err, errFull) {
		t.Errorf("too many: %v", err)
	}
	if v, err := b.Publish("x", "7", nil); err != nil || v != maxTopics+1 {
		t.Errorf("known topic: %d %v", v, err)
	}
	if _, err := b.Publish("x", string(make([]byte, maxTopic+1)), nil); err == nil {
		t.Error("long name")
	}
	b.Join("y", nil)
	for i := range maxSubs {
		if err := b.Subscribe("y", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Subscribe("y", "more"); !errors.Is(err, errFull) {
		t.Errorf("subscriptions: %v", err)
	}
}
