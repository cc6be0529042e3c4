// Package remotetest is the conformance test of remote.Backend and remote.Store, and a backend that lies. Every server's
// client passes it.
package remotetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bentobuild/bento/cache/remote"
)

// Run tests the clients that open returns, of one server or of several. The server may have content already, but none that Run makes.
func Run(t *testing.T, open func(t *testing.T) remote.Backend) {
	for name, test := range map[string]func(*testing.T, remote.Backend){
		"Nothing":       testNothing,
		"Miss":          testMiss,
		"Results":       testResults,
		"Blobs":         testBlobs,
		"ManySmall":     testManySmall,
		"Resume":        testResume,
		"WrongContent":  testWrongContent,
		"FailingSource": testFailingSource,
		"FailingTaker":  testFailingTaker,
		"Cancelled":     testCancelled,
		"ManyAtOnce":    testManyAtOnce,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// wait is the time after which a call that should have ended fails a test.
const wait = 2 * time.Minute

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	t.Cleanup(cancel)
	return ctx
}

// Noise returns bytes that no one has seen before.
func Noise(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.Read(b)
	return b
}

// Contents are blobs to be sent.
type Contents map[remote.Digest][]byte

// Add adds a blob and returns its digest.
func (c Contents) Add(data []byte) remote.Digest {
	d := remote.Sum(data)
	c[d] = data
	return d
}

// Digests returns the digests of c.
func (c Contents) Digests() []remote.Digest {
	list := make([]remote.Digest, 0, len(c))
	for d := range c {
		list = append(list, d)
	}
	return list
}

// Open opens a blob, for Send.
func (c Contents) Open(d remote.Digest) (io.ReadSeekCloser, error) {
	data, ok := c[d]
	if !ok {
		return nil, fmt.Errorf("blob %x was not to be sent", d.Hash)
	}
	return source{bytes.NewReader(data)}, nil
}

type source struct{ *bytes.Reader }

func (source) Close() error { return nil }

// Send sends c and returns what was sent.
func (c Contents) Send(ctx context.Context, b remote.Backend) (map[remote.Digest]bool, error) {
	var mu sync.Mutex
	sent := make(map[remote.Digest]bool)
	err := b.Send(ctx, c.Digests(), c.Open, func(d remote.Digest) {
		mu.Lock()
		defer mu.Unlock()
		sent[d] = true
	})
	return sent, err
}

// wants returns the wants for whole blobs.
func wants(list ...remote.Digest) []remote.Want {
	var all []remote.Want
	for _, d := range list {
		all = append(all, remote.Want{Digest: d})
	}
	return all
}

// fetch returns the content of each blob, nil for a missing one.
func fetch(ctx context.Context, b remote.Backend, list []remote.Want) (map[remote.Digest][]byte, error) {
	got := make(map[remote.Digest][]byte)
	busy := false
	err := b.Fetch(ctx, list, func(w remote.Want, r io.Reader) error {
		if busy {
			return errors.New("two calls of take at the same time")
		}
		busy = true
		defer func() { busy = false }()
		if _, twice := got[w.Digest]; twice {
			return fmt.Errorf("blob %x was passed twice", w.Hash)
		}
		if r == nil {
			got[w.Digest] = nil
			return nil
		}
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		got[w.Digest] = append([]byte{}, data...)
		return nil
	})
	return got, err
}

func testNothing(t *testing.T, b remote.Backend) {
	ctx := bounded(t)
	if list, err := b.Missing(ctx, nil); err != nil || len(list) != 0 {
		t.Errorf("missing of none: %v, %v", list, err)
	}
	if _, err := fetch(ctx, b, nil); err != nil {
		t.Errorf("fetch of none: %v", err)
	}
	if _, err := (Contents{}).Send(ctx, b); err != nil {
		t.Errorf("send of none: %v", err)
	}
}

func testMiss(t *testing.T, b remote.Backend) {
	ctx := bounded(t)
	d := remote.Sum(Noise(100))
	if got, err := b.Result(ctx, d); !errors.Is(err, remote.ErrMiss) {
		t.Errorf("result: %d bytes, %v, want ErrMiss", len(got), err)
	}
	if list, err := b.Missing(ctx, []remote.Digest{d}); err != nil || len(list) != 1 || list[0] != d {
		t.Errorf("missing: %v, %v", list, err)
	}
	large := remote.Digest{Hash: remote.Sum(Noise(100)).Hash, Size: 20 << 20}
	got, err := fetch(ctx, b, wants(d, large))
	if err != nil || len(got) != 2 || got[d] != nil || got[large] != nil {
		t.Errorf("fetch: %d answers, %v, want two nil readers", len(got), err)
	}
}

// ActionResult returns an ActionResult that names a blob as an output and contains mark. It is one that servers accept which look at it.
func ActionResult(blob remote.Digest, mark []byte) []byte {
	field := func(b []byte, n protowire.Number, value []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), value)
	}
	digest := field(nil, 1, []byte(hex.EncodeToString(blob.Hash[:])))
	digest = protowire.AppendVarint(protowire.AppendTag(digest, 2, protowire.VarintType), uint64(blob.Size))
	file := field(field(nil, 1, []byte("dist/a")), 2, digest)
	anything := field(field(nil, 1, []byte("type.googleapis.com/bento.remote.Test")), 2, mark)
	return field(field(nil, 2, file), 9, field(nil, 11, anything))
}

func testResults(t *testing.T, b remote.Backend) {
	ctx := bounded(t)
	blobs := make(Contents)
	blob := blobs.Add(Noise(1000))
	if _, err := blobs.Send(ctx, b); err != nil {
		t.Fatal(err)
	}
	action := remote.Sum(Noise(100))
	for _, size := range []int{100, 64 << 10, 1 << 20, 10} { // each replaces the one before
		mark := Noise(size)
		if err := b.PutResult(ctx, action, ActionResult(blob, mark)); err != nil {
			t.Fatalf("put a result of %d bytes: %v", size, err)
		}
		got, err := b.Result(ctx, action)
		if err != nil || !bytes.Contains(got, mark) {
			t.Errorf("a result of %d bytes: %d bytes, %v", size, len(got), err)
		}
	}
}

// few returns a tenth of n for a short test.
func few(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// sizes are on both sides of the limits that protocols tend to have.
func sizes() []int {
	const message = 4 << 20
	if testing.Short() {
		return []int{1, 4096, 1<<20 + 1, message}
	}
	return []int{1, 4095, 4096, 1<<20 - 1, 1 << 20, 1<<20 + 1, message - 64<<10, message - 1, message, message + 1, 3*message + 5}
}

func testBlobs(t *testing.T, b remote.Backend) {
	ctx := bounded(t)
	blobs := make(Contents)
	for _, size := range sizes() {
		blobs.Add(Noise(size))
		blobs.Add(append(Noise(16), bytes.Repeat([]byte("the same line, over and over\n"), size/29)...)) // compresses well
	}
	for range 2 { // a second time it has them
		sent, err := blobs.Send(ctx, b)
		if err != nil || len(sent) != len(blobs) {
			t.Fatalf("sent %d of %d: %v", len(sent), len(blobs), err)
		}
	}
	list := blobs.Digests()
	if lacking, err := b.Missing(ctx, list); err != nil || len(lacking) != 0 && len(lacking) != len(list) {
		t.Errorf("missing after that: %d, %v", len(lacking), err)
	}
	nowhere := remote.Sum(Noise(10))
	got, err := fetch(ctx, b, wants(append(list, nowhere)...))
	if err != nil || len(got) != len(blobs)+1 || got[nowhere] != nil {
		t.Fatalf("fetched %d of %d: %v", len(got), len(blobs)+1, err)
	}
	for d, data := range blobs {
		if !bytes.Equal(got[d], data) {
			t.Errorf("a blob of %d bytes came back as %d", len(data), len(got[d]))
		}
	}
}

func testManySmall(t *testing.T, b remote.Backend) {
	ctx := bounded(t)
	blobs := make(Contents)
	for range few(300) {
		blobs.Add(Noise(20 << 10)) // 6 MiB: more than one message
	}
	if sent, err := blobs.Send(ctx, b); err != nil || len(sent) != len(blobs) {
		t.Fatalf("sent %d of %d: %v", len(sent), len(blobs), err)
	}
	got, err := fetch(ctx, b, wants(blobs.Digests()...))
	if err != nil || len(got) != len(blobs) {
		t.Fatalf("fetched %d of %d: %v", len(got), len(blobs), err)
	}
	for d, data := range blobs {
		if !bytes.Equal(got[d], data) {
			t.Fatalf("a blob came back as %d bytes", len(got[d]))
		}
	}
}

func testResume(t *testing.T, b remote.Backend) {
	ctx := bounded(t)
	blobs := make(Contents)
	for _, size := range []int{100, 6 << 20} {
		data := Noise(size)
		d := blobs.Add(data)
		if _, err := blobs.Send(ctx, b); err != nil {
			t.Fatal(err)
		}
		for _, from := range []int{1, size / 2, size - 1} {
			got, err := fetch(ctx, b, []remote.Want{{Digest: d, From: int64(from)}})
			if err != nil || !bytes.Equal(got[d], data[from:]) {
				t.Errorf("from byte %d of %d: %d bytes, %v", from, size, len(got[d]), err)
			}
		}
	}
}

func testWrongContent(t *testing.T, b remote.Backend) {
	ctx := bounded(t)
	for _, size := range []int{100, few(5 << 20)} {
		for name, wrong := range map[string][]byte{"other": Noise(size), "shorter": Noise(size - 1), "longer": Noise(size + 1), "empty": {}} {
			right := Noise(size)
			d := remote.Sum(right)
			sent, err := Contents{d: wrong}.Send(ctx, b)
			if err == nil || sent[d] {
				t.Errorf("%s content of %d bytes: sent %v, %v, want an error", name, size, sent[d], err)
			}
			got, err := fetch(ctx, b, wants(d))
			if err == nil && got[d] != nil {
				t.Errorf("%s content of %d bytes was served: %d bytes", name, size, len(got[d]))
			}
			if _, err := (Contents{d: right}).Send(ctx, b); err != nil {
				t.Errorf("the right content of %d bytes after that: %v", size, err)
			}
			if got, err = fetch(ctx, b, wants(d)); err != nil || !bytes.Equal(got[d], right) {
				t.Errorf("the right content of %d bytes after %s: %d bytes, %v", size, name, len(got[d]), err)
			}
		}
	}
}

func testFailingSource(t *testing.T, b remote.Backend) {
	ctx := bounded(t)
	broken := errors.New("broken")
	blobs := make(Contents)
	list := []remote.Digest{remote.Sum(Noise(50)), {Hash: remote.Sum(Noise(50)).Hash, Size: 5 << 20}}
	for _, d := range list {
		err := b.Send(ctx, []remote.Digest{d}, func(remote.Digest) (io.ReadSeekCloser, error) { return nil, broken }, func(remote.Digest) {
			t.Error("a blob that cannot be opened was sent")
		})
		if !errors.Is(err, broken) {
			t.Errorf("send of %d bytes: %v, want the error of open", d.Size, err)
		}
	}
	blobs.Add(Noise(50))
	if _, err := blobs.Send(ctx, b); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func testFailingTaker(t *testing.T, b remote.Backend) {
	ctx := bounded(t)
	blobs := make(Contents)
	for _, size := range []int{50, 100, 5 << 20} {
		blobs.Add(Noise(size))
	}
	if _, err := blobs.Send(ctx, b); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	calls := 0
	err := b.Fetch(ctx, wants(blobs.Digests()...), func(remote.Want, io.Reader) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%d calls, %v, want the error of the first", calls, err)
	}
	for range 3 { // what was left unread does not come later
		got, err := fetch(ctx, b, wants(blobs.Digests()...))
		if err != nil || len(got) != len(blobs) {
			t.Fatalf("after that: %d, %v", len(got), err)
		}
	}
}

func testCancelled(t *testing.T, b remote.Backend) {
	blobs := make(Contents)
	d := blobs.Add(Noise(12 << 20))
	if _, err := blobs.Send(bounded(t), b); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(bounded(t))
	err := b.Fetch(ctx, wants(d), func(_ remote.Want, r io.Reader) error {
		if _, err := io.CopyN(io.Discard, r, 1); err != nil {
			return err
		}
		cancel()
		if n, err := io.Copy(io.Discard, r); err == nil && n < 12<<20-1 {
			t.Errorf("a reader ended after %d bytes as if that were all", n)
		}
		return context.Cause(ctx)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("fetch: %v, want context.Canceled", err)
	}
	if _, err := b.Result(ctx, d); err == nil || errors.Is(err, remote.ErrMiss) {
		t.Errorf("result: %v, want the end of the context", err)
	}
	if err := b.PutResult(ctx, d, ActionResult(d, nil)); err == nil {
		t.Error("a result was put after the end")
	}
	if _, err := b.Missing(ctx, []remote.Digest{remote.Sum(Noise(9))}); err == nil {
		t.Error("missing: no error after the end")
	}
	if _, err := blobs.Send(ctx, b); err == nil {
		t.Error("send: no error after the end")
	}
}

func testManyAtOnce(t *testing.T, b remote.Backend) {
	ctx := bounded(t)
	shared := Noise(100 << 10)
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for range 5 {
				blobs := make(Contents)
				same, own := blobs.Add(shared), blobs.Add(Noise(1000+n))
				if _, err := blobs.Send(ctx, b); err != nil {
					t.Errorf("send: %v", err)
					return
				}
				action, mark := remote.Sum(Noise(10)), Noise(100)
				if err := b.PutResult(ctx, action, ActionResult(own, mark)); err != nil {
					t.Errorf("put: %v", err)
					return
				}
				got, err := b.Result(ctx, action)
				if err != nil || !bytes.Contains(got, mark) {
					t.Errorf("result: %d bytes, %v", len(got), err)
				}
				all, err := fetch(ctx, b, wants(same, own))
				if err != nil || !bytes.Equal(all[same], shared) || !bytes.Equal(all[own], blobs[own]) {
					t.Errorf("fetch: %v", err)
				}
			}
		})
	}
	group.Wait()
}
