// Package bus is the snapshot bus of the ainb contract v2: the latest payload of each topic with a
// version that counts all publishes, and a bounded inbox of events for each subscriber. It does no
// I/O, starts nothing and never blocks. Payloads are passed on as they are, one event for each
// publish.
package bus

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Host is the publisher of bento's own messages.
const Host = ""

// uiState is the topic in which each publisher has a separate slot.
const uiState = "ui.state"

// ErrSlot is wrapped by the error of a publish to the slot of another extension.
var ErrSlot = errors.New("it is the slot of another extension")

// errFull is wrapped by the error of a publish or a subscription over a limit.
var errFull = errors.New("the snapshot bus is full")

// The limits of a bus.
const (
	maxTopics = 10_000
	maxTopic  = 1024     // bytes of a name
	maxStored = 64 << 20 // bytes of all latest payloads, and of the events of one inbox
	maxEvents = 1024     // of one inbox
	maxSubs   = 1000     // of one subscriber
)

// Snapshot is the latest publish of a topic. Its payload must not be changed.
type Snapshot struct {
	Payload   []byte
	Version   uint64
	Publisher string
}

// Event is one publish as a subscriber receives it. Its payload must not be changed.
type Event struct {
	Topic   string
	Payload []byte
	Version uint64
}

// Bus is a snapshot bus. Its zero value is empty. It is safe for concurrent use.
type Bus struct {
	mu      sync.Mutex
	version uint64
	stored  int
	topics  map[string]Snapshot
	inboxes map[string]*Inbox // by subscriber
}

// slot returns the name under which a topic is stored for a publisher.
func slot(from, topic string) (string, error) {
	switch owner, isSlot := strings.CutPrefix(topic, uiState+"/"); {
	case from == Host:
	case topic == uiState:
		return uiState + "/" + from, nil
	case isSlot && owner != from:
		return "", fmt.Errorf("topic %.120q: %w; publish %q", topic, ErrSlot, uiState)
	}
	return topic, nil
}

// Publish stores a payload, which must not be changed afterwards, and adds an event to the inbox of
// each subscriber except the publisher. It returns the version.
func (b *Bus) Publish(from, topic string, payload []byte) (uint64, error) {
	topic, err := slot(from, topic)
	if err != nil {
		return 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	old, known := b.topics[topic]
	stored := b.stored - len(old.Payload) + len(payload)
	if topic == "" || len(topic) > maxTopic {
		return 0, fmt.Errorf("a topic of %d bytes, expected 1 to %d", len(topic), maxTopic)
	}
	if stored > maxStored || !known && len(b.topics) >= maxTopics {
		return 0, fmt.Errorf("%w: at most %d topics and %d bytes", errFull, maxTopics, maxStored)
	}
	if b.topics == nil {
		b.topics = make(map[string]Snapshot)
	}
	b.version++
	b.stored = stored
	b.topics[topic] = Snapshot{Payload: payload, Version: b.version, Publisher: from}
	for id, in := range b.inboxes {
		if id != from && in.topics[topic] {
			in.add(Event{Topic: topic, Payload: payload, Version: b.version})
		}
	}
	return b.version, nil
}

// Latest returns the latest publish of a topic. For a reader, ui.state means its own slot. The version is
// 0 if the topic has no publish.
func (b *Bus) Latest(reader, topic string) Snapshot {
	if topic == uiState && reader != Host {
		topic += "/" + reader
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.topics[topic]
}

// Join returns a new inbox, subscribed to topics. It replaces an older one of the same id.
func (b *Bus) Join(id string, topics []string) *Inbox {
	in := &Inbox{topics: make(map[string]bool), ready: make(chan struct{}, 1)}
	for _, t := range topics[:min(len(topics), maxSubs)] {
		in.topics[t] = true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inboxes == nil {
		b.inboxes = make(map[string]*Inbox)
	}
	b.inboxes[id] = in
	return in
}

// Subscribe adds a topic to the inbox of id; again has no effect. The current value is not delivered.
func (b *Bus) Subscribe(id, topic string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := b.inboxes[id]
	switch {
	case in == nil:
		return fmt.Errorf("the extension %q is not running", id)
	case in.topics[topic]:
		return nil
	case topic == "" || len(topic) > maxTopic:
		return fmt.Errorf("a topic of %d bytes, expected 1 to %d", len(topic), maxTopic)
	case len(in.topics) >= maxSubs:
		return fmt.Errorf("%w: at most %d subscriptions of one extension", errFull, maxSubs)
	}
	in.topics[topic] = true
	return nil
}

// Leave ends the subscriptions that in has, and removes its owner's slot of ui.state. It has no
// effect if id has joined again since.
func (b *Bus) Leave(id string, in *Inbox) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inboxes[id] != in {
		return
	}
	delete(b.inboxes, id)
	b.stored -= len(b.topics[uiState+"/"+id].Payload)
	delete(b.topics, uiState+"/"+id)
}

// Topics returns the names of the stored topics, sorted.
func (b *Bus) Topics() (names []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range b.topics {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
