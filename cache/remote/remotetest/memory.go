package remotetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/bentobuild/bento/cache/remote"
)

// Memory is a backend in this process. Its fields and hooks make it forget and lie; the caller sets hooks before others use it.
type Memory struct {
	mu      sync.Mutex
	Results map[remote.Digest][]byte
	Blobs   map[remote.Digest][]byte
	Asked   int // calls of Result
	Fetched int // blobs that were passed to a taker

	// Answer replaces what Result returns for an action.
	Answer func(action remote.Digest, result []byte, err error) ([]byte, error)
	// Serve replaces the reader of a blob; nil is a missing blob. The reader is not verified.
	Serve func(w remote.Want, data []byte) io.Reader
	// Refuse returns an error for what is to be stored.
	Refuse func(d remote.Digest) error
}

// NewMemory returns an empty backend.
func NewMemory() *Memory {
	return &Memory{Results: make(map[remote.Digest][]byte), Blobs: make(map[remote.Digest][]byte)}
}

// Change calls f while no one uses the maps.
func (m *Memory) Change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// Result implements remote.Backend.
func (m *Memory) Result(ctx context.Context, action remote.Digest) ([]byte, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Asked++
	data, ok := m.Results[action]
	var err error
	if !ok {
		err = remote.ErrMiss
	}
	if m.Answer != nil {
		return m.Answer(action, data, err)
	}
	return data, err
}

// PutResult implements remote.Backend.
func (m *Memory) PutResult(ctx context.Context, action remote.Digest, result []byte) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if m.Refuse != nil {
		if err := m.Refuse(action); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Results[action] = bytes.Clone(result)
	return nil
}

// Missing implements remote.Backend.
func (m *Memory) Missing(ctx context.Context, digests []remote.Digest) (list []remote.Digest, err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range digests {
		if _, ok := m.Blobs[d]; !ok {
			list = append(list, d)
		}
	}
	return list, nil
}

// Fetch implements remote.Backend.
func (m *Memory) Fetch(ctx context.Context, blobs []remote.Want, take func(remote.Want, io.Reader) error) error {
	for _, w := range blobs {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		m.mu.Lock()
		data, ok := m.Blobs[w.Digest]
		m.Fetched++
		m.mu.Unlock()
		var r io.Reader
		switch {
		case m.Serve != nil:
			r = m.Serve(w, data)
		case ok:
			r = bytes.NewReader(data[w.From:])
		}
		if r != nil {
			r = &until{func() error { return context.Cause(ctx) }, r}
		}
		if err := take(w, r); err != nil {
			return err
		}
	}
	return nil
}

// until ends a reader early.
type until struct {
	stop func() error
	r    io.Reader
}

func (u *until) Read(p []byte) (int, error) {
	if err := u.stop(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// Send implements remote.Backend.
func (m *Memory) Send(ctx context.Context, blobs []remote.Digest, open func(remote.Digest) (io.ReadSeekCloser, error), sent func(remote.Digest)) error {
	var errs []error
	for _, d := range blobs {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		err := m.store(d, open)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		sent(d)
	}
	return errors.Join(errs...)
}

func (m *Memory) store(d remote.Digest, open func(remote.Digest) (io.ReadSeekCloser, error)) error {
	if m.Refuse != nil {
		if err := m.Refuse(d); err != nil {
			return err
		}
	}
	f, err := open(d)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if sha256.Sum256(data) != d.Hash || int64(len(data)) != d.Size {
		return fmt.Errorf("blob %x: wrong content", d.Hash)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Blobs[d] = data
	return nil
}

// Close implements remote.Backend.
func (m *Memory) Close() error { return nil }
