// Package turborepo is a remote cache on a server of Turborepo's: Vercel's, turborepo-remote-cache and others. A result is one
// artifact, with the envelope of package remote inside, by which it is known: the name of an artifact is too short.
package turborepo

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// Options describe a server and the results to use.
type Options struct {
	remote.Options
	Way  transport.Options // Address is http or https, with the path before /v8
	Team string            // a slug, or an ID that begins with "team_"; "" for none
}

// Open returns the store on a server. It connects when first needed.
func Open(o Options) (remote.Store, error) {
	s, err := newServer(o.Way, o.Team)
	if err != nil {
		return nil, err
	}
	t := &store{server: s, o: o.Options, kept: make(map[remote.ID][]byte), few: make(chan struct{}, fewAtOnce)}
	t.finder = remote.NewFinder(o.Place, transport.Parallel, t.find)
	return t, nil
}

type store struct {
	server *server
	o      remote.Options

	mu    sync.Mutex
	kept  map[remote.ID][]byte // small artifacts between Find and Fetch
	bytes int                  // of kept

	few    chan struct{} // transfers of large artifacts
	finder *remote.Finder
}

// Sizes in bytes, and how many results are sent at once.
const (
	small   = 128 << 10 // an artifact of this size is kept between Find and Fetch
	maxKept = 8 << 20   // of all of them
	atOnce  = 16
	large   = 1 << 20 // of outputs: such an artifact is made twice, to know its size and to send it

	fewAtOnce = 2 // large ones
)

// Close implements remote.Store.
func (s *store) Close() error { return s.server.Close() }

// nameOf returns the name of an artifact: 16 hex digits, as turbo's.
func nameOf(id remote.ID) string {
	sum := id.Action().Hash
	return hex.EncodeToString(sum[:8])
}

// Find implements remote.Store. A small artifact arrives whole; of a large one, only the envelope is read.
func (s *store) Find(ctx context.Context, keys []cache.Key, answer func(remote.Answer)) {
	s.finder.Find(ctx, keys, answer)
}

func (s *store) find(ctx context.Context, id remote.ID) (*remote.Found, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	ctx, w := remote.Watch(ctx, s.o.Limits)
	defer w.Stop()
	body, err := s.server.get(ctx, nameOf(id))
	if err != nil {
		return nil, w.Err(err)
	}
	defer body.Close()
	way := &way{r: w.Reader(body)}
	var head bytes.Buffer
	if _, err := io.CopyN(&head, way, small+1); err != nil && err != io.EOF {
		return nil, way.err
	}
	whole := head.Len() <= small
	var all io.Reader = bytes.NewReader(head.Bytes())
	if !whole {
		all = io.MultiReader(all, way)
	}
	a, err := newArtifact(all)
	if err != nil {
		return nil, judged(err, way.err)
	}
	defer a.close()
	e, err := a.envelope(id, &s.o.Trust)
	if err != nil {
		return nil, judged(err, way.err)
	}
	if whole {
		s.keep(id, head.Bytes())
	}
	f := &remote.Found{ID: id, Envelope: e}
	blobs, err := remote.Blobs(e.Record)
	for _, b := range blobs {
		f.Size += b.Size
	}
	return f, judged(err, nil)
}

// way remembers the error of what is read from the server.
type way struct {
	r   io.Reader
	err error
}

func (w *way) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

// keep keeps a small artifact, if there is room.
func (s *store) keep(id remote.ID, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+len(data) > maxKept || s.kept[id] != nil {
		return
	}
	s.kept[id] = data
	s.bytes += len(data)
}

func (s *store) taken(id remote.ID) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	data := s.kept[id]
	delete(s.kept, id)
	s.bytes -= len(data)
	return data
}

// Fetch implements remote.Store.
func (s *store) Fetch(ctx context.Context, f *remote.Found, disk *cache.Disk) error {
	if data := s.taken(f.ID); data != nil {
		return s.unpack(bytes.NewReader(data), f.ID, disk)
	}
	ctx, w := remote.Watch(ctx, s.o.Limits)
	defer w.Stop()
	body, err := s.server.get(ctx, nameOf(f.ID))
	if err != nil {
		return w.Err(err)
	}
	defer body.Close()
	return s.unpack(w.Reader(body), f.ID, disk)
}

// unpack stores the blobs and the record of an artifact. It checks the envelope again: another artifact may have replaced that
// of Find.
func (s *store) unpack(r io.Reader, id remote.ID, disk *cache.Disk) error {
	way := &way{r: r}
	a, err := newArtifact(way)
	if err != nil {
		return judged(err, way.err)
	}
	defer a.close()
	e, err := a.envelope(id, &s.o.Trust)
	if err != nil {
		return judged(err, way.err)
	}
	err = a.files(e.Record, func(d cache.Digest, size int64, content io.Reader) error {
		if _, own := e.Record.Small[d]; own || disk.HasBlob(d) {
			return nil
		}
		return addError(d, disk.Add(d, io.LimitReader(content, size+1)), way)
	})
	if err != nil {
		return judged(err, way.err)
	}
	switch err := disk.Record(id.Key, e.Record); {
	case errors.Is(err, cache.ErrMiss):
		return remote.ErrMiss // a blob was pruned meanwhile
	case err != nil:
		return &remote.LocalError{Err: err}
	}
	return nil
}

// addError sorts the errors of adding a blob to the disk.
func addError(d cache.Digest, err error, way *way) error {
	var wrong *cache.DigestError
	switch {
	case err == nil || way.err != nil:
		return err
	case errors.As(err, &wrong) || errors.Is(err, errBudget):
		return refuse(remote.Damaged, err)
	case errors.Is(err, context.Canceled) || errors.Is(err, cache.ErrMiss):
		return err
	}
	return &remote.LocalError{Err: fmt.Errorf("blob %s: %w", d, err)}
}

// Send implements remote.Store.
func (s *store) Send(ctx context.Context, disk *cache.Disk, results []remote.Outgoing, done func(remote.Sent)) {
	next, ends := make(chan remote.Outgoing), make(chan remote.Sent)
	var group sync.WaitGroup
	for range min(atOnce, len(results)) {
		group.Go(func() {
			for r := range next {
				n, err := s.send(ctx, disk, r)
				ends <- remote.Sent{Key: r.Key, Bytes: n, Err: err}
			}
		})
	}
	group.Go(func() {
		defer close(next)
		for _, r := range results {
			next <- r
		}
	})
	for range results {
		done(<-ends)
	}
	group.Wait()
}

// send sends one result, and returns the size of its artifact in bytes.
func (s *store) send(ctx context.Context, disk *cache.Disk, r remote.Outgoing) (sent int64, err error) {
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	record, err := s.o.Prepare(disk, r)
	if err != nil {
		return 0, err
	}
	e := &remote.Envelope{ID: remote.ID{Key: r.Key, Class: s.o.Of(r.Key), Scope: s.o.Write}, Record: record}
	sealed, err := remote.Seal(e, s.o.Signer)
	if err != nil {
		return 0, err
	}
	much := sizeOf(e.Record, len(sealed)) > large
	if much {
		select {
		case s.few <- struct{}{}:
			defer func() { <-s.few }()
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	ctx, w := remote.Watch(ctx, remote.Limits{Answer: s.o.Idle, Idle: s.o.Idle})
	defer w.Stop()
	write := func(to io.Writer) error {
		return write(to, e.Record, sealed, func(d cache.Digest) (io.ReadCloser, error) { return remote.Content(e.Record, disk, d) })
	}
	p := upload{name: nameOf(e.ID), tag: tagOf(sealed, s.o.Signer != nil), duration: e.Record.Duration}
	w.Here()
	if err := p.make(ctx, write, much); err != nil {
		return 0, err
	}
	w.There()
	return p.size, w.Err(s.server.put(ctx, p, w))
}

// tagOf returns the tag of an artifact. Some servers require one, though only turbo's own checks it: it is the signature, at the end
// of an envelope, or its checksum.
func tagOf(sealed []byte, signed bool) string {
	const signature = 64
	if signed && len(sealed) > signature {
		return base64.StdEncoding.EncodeToString(sealed[len(sealed)-signature:])
	}
	sum := remote.Sum(sealed).Hash
	return base64.StdEncoding.EncodeToString(sum[:])
}

// teamQuery returns the query that names a team, as turbo writes it.
func teamQuery(team string) (name string) {
	if strings.HasPrefix(team, "team_") {
		return "teamId"
	}
	return "slug"
}
