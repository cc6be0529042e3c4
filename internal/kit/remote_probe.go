package kit

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
)

// RemoteProbe is what a remote cache does when it is tried.
type RemoteProbe struct {
	Latency time.Duration // of a question, once there is a connection
	Read    error         // of questions; nil: they are answered
	Write   error         // of sending a result; nil: it was sent, or nothing is to be sent
	Again   error         // of getting what was sent
	Clock   time.Duration // how far this clock is ahead of the server's, 0 if that has not said its time
	Server  string        // what the server says of itself, "" if its protocol has no question for that
}

// probes is the number of questions of which the quickest is the latency.
const probes = 3

// Probe asks the server for a result, and sends an empty one and gets it back if results are sent. It changes nothing else.
func (r *Remote) Probe(ctx context.Context) (p RemoteProbe) {
	var ahead atomic.Int64
	r.dated = func(date time.Time) { ahead.Store(int64(time.Since(date))) }
	defer func() { r.dated, p.Clock = nil, time.Duration(ahead.Load()) }()
	s, err := r.Open()
	if err != nil {
		return RemoteProbe{Read: err}
	}
	defer s.Close()
	key := cache.Key(cache.Sum([]byte("bento doctor")))
	for range probes {
		began := time.Now()
		_, err := find(ctx, s, key)
		if p.Read = err; err != nil {
			return p
		}
		if took := time.Since(began); p.Latency == 0 || took < p.Latency {
			p.Latency = took
		}
	}
	p.Server = r.describe(ctx)
	if r.Write {
		p.Write, p.Again = trySend(ctx, s, key)
	}
	return p
}

// describe returns what the server says of itself.
func (r *Remote) describe(ctx context.Context) string {
	b, err := r.backend()
	if err != nil {
		return ""
	}
	defer b.Close()
	of, ok := b.(interface {
		Describe(ctx context.Context) (string, error)
	})
	if !ok {
		return ""
	}
	text, err := of.Describe(ctx)
	if err != nil {
		return ""
	}
	return text
}

// find asks for a result. A miss is an answer.
func find(ctx context.Context, s remote.Store, key cache.Key) (found *remote.Found, err error) {
	s.Find(ctx, []cache.Key{key}, func(a remote.Answer) { found, err = a.Found, a.Err })
	if errors.Is(err, remote.ErrMiss) {
		err = nil
	}
	return found, err
}

// trySend sends an empty result, and asks for it.
func trySend(ctx context.Context, s remote.Store, key cache.Key) (write, again error) {
	dir, err := os.MkdirTemp("", "bento-doctor-")
	if err != nil {
		return err, nil
	}
	defer os.RemoveAll(dir)
	disk, err := cache.Open(dir, nil)
	if err != nil {
		return err, nil
	}
	record := &cache.Record{Created: time.Now()}
	if err := disk.Record(key, record); err != nil {
		return err, nil
	}
	s.Send(ctx, disk, []remote.Outgoing{{Key: key, Record: record}}, func(r remote.Sent) { write = r.Err })
	if write != nil {
		return write, nil
	}
	s.Find(ctx, []cache.Key{key}, func(a remote.Answer) { again = a.Err })
	return nil, again
}
