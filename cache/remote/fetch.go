package remote

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bentobuild/bento/cache"
)

// LocalError is a fault of this machine: the server is well.
type LocalError struct{ Err error }

func (e *LocalError) Error() string { return e.Err.Error() }

func (e *LocalError) Unwrap() error { return e.Err }

// stageSize is the least size of a blob of which a part is kept if the way to the server breaks.
const stageSize = 8 << 20

// maxParts is how many parts a result has open at the same time.
const maxParts = 64

// Fetch implements Store.
func (s *overBackend) Fetch(ctx context.Context, f *Found, disk *cache.Disk) error {
	record := f.Envelope.Record
	blobs, err := Blobs(record)
	if err != nil || len(blobs) != len(f.Envelope.Wire) {
		return refuse(Damaged, err)
	}
	g := &getter{s: s, disk: disk, want: make(map[Digest][]cache.Digest), parts: make(map[Digest]*cache.Part)}
	defer g.keep()
	var wants []Want
	for i, b := range blobs {
		if disk.HasBlob(b.Digest) {
			continue
		}
		if b.Size == 0 { // servers need not have it
			if err := disk.Add(b.Digest, cache.Hash(nil)); err != nil {
				return g.addError(b.Digest, err)
			}
			continue
		}
		wire := f.Envelope.Wire[i]
		if g.want[wire] = append(g.want[wire], b.Digest); len(g.want[wire]) > 1 {
			return refuse(Damaged, errors.New("two different blobs have one SHA256")) // one of them is wrong
		}
		w := Want{Digest: wire}
		if b.Size >= stageSize {
			w.From = g.begin(ctx, b, wire)
		}
		wants = append(wants, w)
	}
	if len(wants) > 0 {
		if err := g.get(ctx, wants); err != nil {
			return err
		}
	}
	switch err := disk.Record(f.Key, record); {
	case errors.Is(err, cache.ErrMiss):
		return ErrMiss // a blob was pruned meanwhile
	case err != nil:
		return &LocalError{err}
	}
	return nil
}

// getter gets the blobs of a result.
type getter struct {
	s     *overBackend
	disk  *cache.Disk
	want  map[Digest][]cache.Digest // one each
	parts map[Digest]*cache.Part    // of large blobs that were not asked for yet
}

// begin opens the part of a large blob, which no other process then has, and returns from where the server is asked. Without a
// part, it is asked for all.
func (g *getter) begin(ctx context.Context, b Blob, wire Digest) (from int64) {
	if len(g.parts) >= maxParts {
		return 0
	}
	part, err := g.disk.Part(ctx, b.Digest)
	if err != nil {
		return 0
	}
	g.parts[wire] = part
	return min(part.Size(), b.Size-1) // one byte at least: the server is asked
}

// keep leaves the parts to which nothing was added for later attempts.
func (g *getter) keep() {
	for _, part := range g.parts {
		if part.Size() > 0 {
			part.Keep()
		} else {
			part.Drop()
		}
	}
}

func (g *getter) get(ctx context.Context, wants []Want) error {
	ctx, w := Watch(ctx, g.s.o.Limits)
	defer w.Stop()
	err := g.s.server.Fetch(ctx, wants, func(want Want, r io.Reader) error {
		w.Here()
		defer w.There()
		list, asked := g.want[want.Digest]
		switch {
		case !asked:
			return fmt.Errorf("blob %x: the server sent it without being asked", want.Hash)
		case r == nil:
			return ErrMiss
		}
		delete(g.want, want.Digest)
		return g.take(ctx, list[0], want, &watched{w: w, r: r})
	})
	if err == nil && len(g.want) > 0 {
		return ErrMiss
	}
	return w.Err(err)
}

// take stores one blob.
func (g *getter) take(ctx context.Context, d cache.Digest, want Want, r *watched) error {
	var err error
	if want.Size >= stageSize {
		err = g.takeLarge(ctx, d, want, r)
	} else if err = g.disk.Add(d, io.LimitReader(r, want.Size+1)); err == nil {
		g.s.remember(d, want.Digest)
	}
	if r.err != nil {
		return r.err
	}
	return g.addError(d, err)
}

// addError sorts the errors of adding a blob to the disk.
func (g *getter) addError(d cache.Digest, err error) error {
	var wrong *cache.DigestError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &wrong):
		return refuse(Damaged, err)
	case errors.Is(err, context.Canceled) || errors.Is(err, ErrMiss):
		return err
	}
	return &LocalError{fmt.Errorf("blob %s: %w", d, err)}
}

// takeLarge appends to what an earlier attempt has left, and leaves all of it if the way breaks.
func (g *getter) takeLarge(ctx context.Context, d cache.Digest, want Want, r *watched) error {
	part := g.parts[want.Digest]
	if part == nil { // another process has it
		return g.disk.Add(d, io.LimitReader(r, want.Size+1))
	}
	delete(g.parts, want.Digest)
	if err := part.Cut(want.From); err != nil {
		part.Drop()
		return err
	}
	n, err := io.Copy(part, io.LimitReader(r, want.Size-want.From))
	switch whole := want.From+n == want.Size; {
	case whole && r.err == nil:
		err = drained(r)
	case !whole && (r.err != nil || ctx.Err() != nil):
		part.Keep()
		return errors.Join(r.err, context.Cause(ctx))
	case !whole && err == nil:
		part.Keep()
		return io.ErrUnexpectedEOF
	}
	if err != nil { // the disk is full, or the content is another one
		part.Drop()
		return err
	}
	if err := part.Add(); err != nil {
		return err
	}
	if want.From == 0 {
		g.s.remember(d, want.Digest)
	}
	return nil
}

// drained reads the end, at which the backend reports a wrong hash.
func drained(r io.Reader) error {
	switch n, err := io.Copy(io.Discard, io.LimitReader(r, 1)); {
	case err != nil:
		return err
	case n > 0:
		return refuse(Damaged, errors.New("a blob is longer than it should be"))
	}
	return nil
}
