package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
)

// A large blob whose way breaks continues where it was, in the next run, which is another process.
func TestResume(t *testing.T) {
	data := remotetest.Noise(remote.StageSize + 5<<20)
	w := newWorld(t, data)
	dir := t.TempDir()
	var from []int64
	breaks := []int{3 << 20, 1 << 20, 2 << 20, 0} // bytes of each attempt; 0: all
	for i, most := range breaks {
		disk, err := cache.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.server.Serve = func(want remote.Want, all []byte) io.Reader {
			if want.Size < remote.StageSize {
				return bytes.NewReader(all)
			}
			from = append(from, want.From)
			if rest := all[want.From:]; most == 0 {
				return bytes.NewReader(rest)
			} else {
				return io.MultiReader(bytes.NewReader(rest[:most]), broken{})
			}
		}
		_, err = remotetest.Get(t.Context(), remote.OverBackend(w.server, w.options()), disk, w.key)
		if last := i == len(breaks)-1; last != (err == nil) || !last && !errors.Is(err, errBroken) {
			t.Errorf("attempt %d: %v", i, err)
		}
		if err == nil {
			r, err := disk.Lookup(w.key)
			if err != nil {
				t.Fatal(err)
			}
			w.equal(t, disk, r)
		}
		disk.Close()
	}
	if want := []int64{0, 3 << 20, 4 << 20, 6 << 20}; !equal(from, want) {
		t.Errorf("attempts began at %v, want %v", from, want)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "tmp", "*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func equal(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// A part that is not the beginning of the blob costs one miss: it is removed.
func TestResumeOfOtherContent(t *testing.T) {
	data := remotetest.Noise(remote.StageSize + 1000)
	w := newWorld(t, data)
	disk := remotetest.NewDisk(t)
	part, err := disk.Part(t.Context(), cache.Sum(data))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(remotetest.Noise(5 << 20)); err != nil {
		t.Fatal(err)
	}
	part.Keep()
	store := remote.OverBackend(w.server, w.options())
	_, err = remotetest.Get(t.Context(), store, disk, w.key)
	refused(t, "of other content", err, remote.Damaged)
	if _, err := remotetest.Get(t.Context(), store, disk, w.key); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// Large blobs pass through: neither side has them in memory.
func TestLargeBlobsAreStreamed(t *testing.T) {
	if testing.Short() {
		t.Skip("32 MiB, both ways")
	}
	const size = 32 << 20
	w := newWorld(t, remotetest.Noise(size))
	blobs := w.server.Blobs
	w.server.Serve = func(want remote.Want, data []byte) io.Reader { return bytes.NewReader(data[want.From:]) }
	counting := &remotetest.Memory{Results: w.server.Results, Blobs: blobs, Serve: w.server.Serve}
	before := allocated()
	disk := remotetest.NewDisk(t)
	if _, err := remotetest.Get(t.Context(), remote.OverBackend(counting, w.options()), disk, w.key); err != nil {
		t.Fatal(err)
	}
	if used := allocated() - before; used > 8<<20 {
		t.Errorf("fetching %d bytes allocated %d", size, used)
	}
	reader := discarding{remotetest.NewMemory()}
	before = allocated()
	remote.OverBackend(reader, w.options()).Send(t.Context(), w.here, []remote.Outgoing{{Key: w.key, Record: w.record}}, func(s remote.Sent) {
		if s.Err != nil || s.Bytes < size {
			t.Errorf("sent %d bytes, %v", s.Bytes, s.Err)
		}
	})
	if used := allocated() - before; used > 8<<20 {
		t.Errorf("sending %d bytes allocated %d", size, used)
	}
}

// discarding is a server that keeps no content.
type discarding struct{ *remotetest.Memory }

func (discarding) Send(_ context.Context, blobs []remote.Digest, open func(remote.Digest) (io.ReadSeekCloser, error), sent func(remote.Digest)) error {
	for _, d := range blobs {
		f, err := open(d)
		if err != nil {
			return err
		}
		half := d.Size / 2
		for _, n := range []int64{d.Size, half} { // a second time from the middle, as after an error of the way
			if _, err := f.Seek(d.Size-n, io.SeekStart); err != nil {
				return err
			}
			if got, err := io.Copy(io.Discard, f); err != nil || got != n {
				return fmt.Errorf("%d of %d bytes: %w", got, n, err)
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
		sent(d)
	}
	return nil
}

// silent is a server that stops to answer.
type silent struct {
	*remotetest.Memory
	result, middle, missing bool
	helper                  time.Duration // that a credential helper takes before an answer
}

func (s *silent) Result(ctx context.Context, action remote.Digest) ([]byte, error) {
	if s.helper > 0 {
		first, second := remote.Pause(ctx), remote.Pause(ctx)
		time.Sleep(s.helper)
		first()
		second()
	}
	if s.result {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return s.Memory.Result(ctx, action)
}

func (s *silent) Missing(ctx context.Context, list []remote.Digest) ([]remote.Digest, error) {
	if s.missing {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.Memory.Missing(ctx, list)
}

func (s *silent) Fetch(ctx context.Context, list []remote.Want, take func(remote.Want, io.Reader) error) error {
	return s.Memory.Fetch(ctx, list, func(w remote.Want, r io.Reader) error {
		if s.middle {
			r = io.MultiReader(io.LimitReader(r, w.Size/2), hanging{ctx.Done()})
		}
		return take(w, r)
	})
}

type hanging struct{ end <-chan struct{} }

func (h hanging) Read([]byte) (int, error) {
	<-h.end
	return 0, errors.New("closed")
}

// A server that is silent is left after the limits, in each phase. Time that this machine or a credential helper takes
// does not count.
func TestSilentServers(t *testing.T) {
	w := newWorld(t, remotetest.Noise(100_000))
	limits := remote.Limits{Answer: time.Second, Idle: 5 * time.Second}
	synctest.Test(t, func(t *testing.T) {
		for name, tt := range map[string]struct {
			server *silent
			limits remote.Limits
			want   time.Duration
		}{
			"no answer":            {&silent{result: true}, limits, time.Second},
			"idle alone":           {&silent{result: true}, remote.Limits{Idle: 5 * time.Second}, 5 * time.Second},
			"a blob stops":         {&silent{middle: true}, limits, 5 * time.Second},
			"a helper's time":      {&silent{helper: 8 * time.Second}, limits, 8 * time.Second},
			"no answer after it":   {&silent{helper: 8 * time.Second, result: true}, limits, 9 * time.Second},
			"answers as it should": {&silent{}, limits, 0},
		} {
			tt.server.Memory = w.server
			o := w.options()
			o.Limits = tt.limits
			begin := time.Now()
			_, err := remotetest.Get(t.Context(), remote.OverBackend(tt.server, o), remotetest.NewDisk(t), w.key)
			if took := time.Since(begin); took != tt.want || (tt.server.result || tt.server.middle) != (err != nil) || err != nil && !errors.Is(err, remote.ErrSilent) {
				t.Errorf("%s: %v after %v, want %v", name, err, took, tt.want)
			}
		}
		o := w.options()
		o.Limits = limits
		begin := time.Now()
		store := remote.OverBackend(&silent{Memory: w.server, missing: true}, o)
		store.Send(t.Context(), w.here, []remote.Outgoing{{Key: w.key, Record: w.record}}, func(s remote.Sent) {
			if took := time.Since(begin); !errors.Is(s.Err, remote.ErrSilent) || took != 5*time.Second {
				t.Errorf("send: %v after %v", s.Err, took)
			}
		})
		slow := &remotetest.Memory{Results: w.server.Results, Blobs: w.server.Blobs, Serve: func(_ remote.Want, data []byte) io.Reader {
			return &slowly{bytes.NewReader(data)}
		}}
		if _, err := remotetest.Get(t.Context(), remote.OverBackend(slow, o), remotetest.NewDisk(t), w.key); err != nil {
			t.Errorf("a slow server that goes on: %v", err)
		}
	})
}

// slowly needs 4 s for each read.
type slowly struct{ r io.Reader }

func (s *slowly) Read(p []byte) (int, error) {
	time.Sleep(4 * time.Second)
	return s.r.Read(p[:min(len(p), 10_000)])
}
