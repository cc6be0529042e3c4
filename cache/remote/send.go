package remote

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/bentobuild/bento/cache"
)

// Results are sent in groups: one question for what the server lacks serves a whole group.
const (
	maxQuestion = 10_000   // digests of a group
	maxGroup    = 256      // results of a group
	maxHeld     = 16 << 20 // of envelopes, trees and small blobs of a group, in bytes
)

// Send implements Store.
func (s *overBackend) Send(ctx context.Context, disk *cache.Disk, results []Outgoing, done func(Sent)) {
	g := s.newGroup(disk)
	for _, r := range results {
		if err := g.add(ctx, r); err != nil {
			done(Sent{Key: r.Key, Err: err})
			continue
		}
		if len(g.items) >= maxGroup || len(g.from) >= maxQuestion || g.held >= maxHeld {
			g.send(ctx, done)
			g = s.newGroup(disk)
		}
	}
	g.send(ctx, done)
}

// group is a number of results that are sent together.
type group struct {
	s     *overBackend
	disk  *cache.Disk
	items []*item
	from  map[Digest]source
	order []Digest // of from
	held  int
	room  []byte // for copies
}

// source is where the bytes of a blob are.
type source struct {
	data   []byte       // unless it is on the disk
	digest cache.Digest // of a blob of the disk
}

type item struct {
	key    cache.Key
	action Digest
	result []byte
	blobs  []Digest
	bytes  int64
	err    error
}

func (s *overBackend) newGroup(disk *cache.Disk) *group {
	return &group{s: s, disk: disk, from: make(map[Digest]source), room: make([]byte, 64<<10)}
}

// add prepares a result: it hashes the blobs whose digests on the wire are unknown, and seals the record.
func (g *group) add(ctx context.Context, r Outgoing) error {
	record, err := g.s.o.Prepare(g.disk, r)
	if err != nil {
		return err
	}
	e := &Envelope{ID: ID{Key: r.Key, Class: g.s.o.Of(r.Key), Scope: g.s.o.Write}, Record: record}
	blobs, err := Blobs(e.Record)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPrivate, err)
	}
	for _, b := range blobs {
		wire, err := g.wire(ctx, b)
		if err != nil {
			return err
		}
		e.Wire = append(e.Wire, wire)
	}
	sealed, err := Seal(e, g.s.o.Signer)
	if err != nil {
		return err
	}
	out := encodeResult(e, sealed)
	if len(out.result) > MaxResult {
		return fmt.Errorf("%w: its description has %d bytes, more than %d", ErrPrivate, len(out.result), MaxResult)
	}
	it := &item{key: r.Key, action: Sum(out.action), result: out.result, blobs: e.Wire}
	for i, b := range blobs {
		g.put(e.Wire[i], source{digest: b.Digest})
	}
	for _, data := range out.blobs {
		d := Sum(data)
		it.blobs = append(it.blobs, d)
		g.put(d, source{data: data})
		g.held += len(data)
	}
	g.held += len(out.result)
	g.items = append(g.items, it)
	return nil
}

func (g *group) put(d Digest, from source) {
	if _, known := g.from[d]; !known {
		g.from[d] = from
		g.order = append(g.order, d)
	}
}

// wire returns the digest on the wire of a blob of the disk.
func (g *group) wire(ctx context.Context, b Blob) (Digest, error) {
	if wire, ok := g.s.remembered(b.Digest); ok {
		if wire.Size != b.Size {
			return Digest{}, fmt.Errorf("%w: blob %s has %d bytes, not %d", ErrPrivate, b.Digest, wire.Size, b.Size)
		}
		return wire, nil
	}
	f, err := g.disk.Open(b.Digest)
	if err != nil {
		return Digest{}, &LocalError{err}
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.CopyBuffer(h, &stoppable{func() error { return context.Cause(ctx) }, f}, g.room) // at the end of f its BLAKE3 digest is verified, too
	if err != nil {
		return Digest{}, &LocalError{err}
	}
	if n != b.Size {
		return Digest{}, fmt.Errorf("%w: blob %s has %d bytes, not %d", ErrPrivate, b.Digest, n, b.Size)
	}
	wire := Digest{Size: n}
	h.Sum(wire.Hash[:0])
	g.s.remember(b.Digest, wire)
	return wire, nil
}

type stoppable struct {
	stop func() error
	r    io.Reader
}

func (r *stoppable) Read(p []byte) (int, error) {
	if err := r.stop(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// send sends what the server lacks, then the results all of whose blobs it has.
func (g *group) send(ctx context.Context, done func(Sent)) {
	if len(g.items) == 0 {
		return
	}
	lacking, err := g.missing(ctx)
	if err == nil {
		err = g.upload(ctx, lacking)
	}
	for _, it := range g.items {
		if lacking == nil {
			it.err = err
			continue
		}
		if slices.ContainsFunc(it.blobs, func(d Digest) bool { _, lacks := lacking[d]; return lacks }) {
			it.err = cmp.Or(err, errNotSent)
		}
	}
	g.store(ctx)
	for _, it := range g.items {
		done(Sent{Key: it.key, Bytes: it.bytes, Err: it.err})
	}
}

var errNotSent = errors.New("the server did not take a blob")

// missing returns the blobs that the server lacks.
func (g *group) missing(ctx context.Context) (map[Digest]struct{}, error) {
	lacking := make(map[Digest]struct{})
	for from := 0; from < len(g.order); from += maxQuestion {
		asked, w := Watch(ctx, Limits{Answer: g.s.o.Idle, Idle: g.s.o.Idle}) // the server looks for thousands of files
		list, err := g.s.server.Missing(asked, g.order[from:min(from+maxQuestion, len(g.order))])
		err = w.Err(err)
		w.Stop()
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			if _, ours := g.from[d]; ours {
				lacking[d] = struct{}{}
			}
		}
	}
	return lacking, nil
}

// upload sends the lacking blobs, and takes those from lacking that the server has now.
func (g *group) upload(ctx context.Context, lacking map[Digest]struct{}) error {
	if len(lacking) == 0 {
		return nil
	}
	first := make(map[Digest]*item, len(lacking)) // whose bytes they are, in counts
	for _, it := range g.items {
		for _, d := range it.blobs {
			if _, counted := first[d]; !counted {
				first[d] = it
			}
		}
	}
	list := make([]Digest, 0, len(lacking))
	for _, d := range g.order {
		if _, lacks := lacking[d]; lacks {
			list = append(list, d)
		}
	}
	ctx, w := Watch(ctx, Limits{Answer: g.s.o.Idle, Idle: g.s.o.Idle})
	defer w.Stop()
	var mu sync.Mutex
	err := g.s.server.Send(ctx, list, func(d Digest) (io.ReadSeekCloser, error) {
		w.Here()
		defer w.There()
		return g.open(w, d)
	}, func(d Digest) {
		w.There()
		mu.Lock()
		defer mu.Unlock()
		if _, lacked := lacking[d]; lacked {
			first[d].bytes += d.Size
			delete(lacking, d)
		}
	})
	mu.Lock() // a late call of sent may not touch what the caller reads
	defer mu.Unlock()
	return w.Err(err)
}

// store sends the results that have no error, a few at a time.
func (g *group) store(ctx context.Context) {
	next := make(chan *item)
	var group sync.WaitGroup
	for range min(len(g.items), inFlight) {
		group.Go(func() {
			for it := range next {
				asked, w := Watch(ctx, g.s.o.Limits)
				it.err = w.Err(g.s.server.PutResult(asked, it.action, it.result))
				w.Stop()
			}
		})
	}
	for _, it := range g.items {
		if it.err == nil {
			next <- it
		}
	}
	close(next)
	group.Wait()
}

func (g *group) open(w *Watcher, d Digest) (io.ReadSeekCloser, error) {
	from, ok := g.from[d]
	if !ok {
		return nil, fmt.Errorf("blob %x: not one of those to send", d.Hash)
	}
	if from.data != nil || d.Size == 0 {
		return nopCloser{bytes.NewReader(from.data)}, nil
	}
	return &content{w: w, disk: g.disk, digest: from.digest, size: d.Size}, nil
}

type nopCloser struct{ io.ReadSeeker }

func (nopCloser) Close() error { return nil }

// content reads a blob of the disk, which may be compressed: to seek is to read from the start.
type content struct {
	w      *Watcher
	disk   *cache.Disk
	digest cache.Digest
	size   int64
	at     int64 // of the next Read
	open   io.ReadCloser
	opened int64 // offset of open
}

func (c *content) Read(p []byte) (int, error) {
	c.w.Here()
	defer c.w.There()
	if err := c.w.cause(); err != nil {
		return 0, err
	}
	if err := c.reach(); err != nil {
		return 0, &LocalError{err}
	}
	n, err := c.open.Read(p)
	c.at, c.opened = c.at+int64(n), c.opened+int64(n)
	if err != nil && err != io.EOF {
		err = &LocalError{err}
	}
	return n, err
}

// reach opens the blob at c.at.
func (c *content) reach() (err error) {
	if c.open != nil && c.opened > c.at {
		_ = c.Close()
	}
	if c.open == nil {
		if c.open, err = c.disk.Open(c.digest); err != nil {
			c.open = nil
			return err
		}
		c.opened = 0
	}
	for c.opened < c.at {
		n, err := io.CopyN(io.Discard, &stoppable{c.w.cause, c.open}, min(c.at-c.opened, 4<<20))
		if c.opened += n; err != nil {
			return err
		}
	}
	return nil
}

// Seek implements io.Seeker.
func (c *content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 || offset > c.size {
		return 0, errors.New("seek out of the blob")
	}
	c.at = offset
	return offset, nil
}

// Close implements io.Closer.
func (c *content) Close() error {
	if c.open == nil {
		return nil
	}
	err := c.open.Close()
	c.open = nil
	return err
}
