package reapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/bazelbuild/remote-apis/build/bazel/semver"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
)

// fetchAll returns the bytes of blobs by their digests, nil for missing ones, and the errors of the readers.
func fetchAll(ctx context.Context, c *Client, wants ...remote.Want) (got map[remote.Digest][]byte, err error) {
	got = make(map[remote.Digest][]byte)
	err = c.Fetch(ctx, wants, func(w remote.Want, r io.Reader) error {
		if r == nil {
			got[w.Digest] = nil
			return nil
		}
		data, err := io.ReadAll(r)
		got[w.Digest] = append([]byte{}, data...)
		return err
	})
	return got, err
}

func contains(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, expected %q in it", err, part)
		}
	}
}

// TestCapabilities: a server that this client cannot use is reported, and a strange one is used within bounds.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		caps func(*repb.ServerCapabilities)
		want string // of the error
	}{
		"BLAKE3 alone": {func(c *repb.ServerCapabilities) {
			c.CacheCapabilities.DigestFunctions = []repb.DigestFunction_Value{repb.DigestFunction_BLAKE3}
		}, "the server has the digest functions BLAKE3, required is SHA256"},
		"version 3": {func(c *repb.ServerCapabilities) {
			c.LowApiVersion, c.HighApiVersion = &semver.SemVer{Major: 3}, &semver.SemVer{Major: 3, Minor: 1}
		}, "the versions 3.0 to 3.1 of the Remote Execution API, required is 2"},
		"version 1": {func(c *repb.ServerCapabilities) { c.HighApiVersion = &semver.SemVer{Major: 1} }, "required is 2"},
		"version 2": {func(c *repb.ServerCapabilities) {
			c.LowApiVersion, c.HighApiVersion = &semver.SemVer{Major: 2}, &semver.SemVer{Major: 2, Minor: 12}
		}, ""},
		"no functions":    {func(c *repb.ServerCapabilities) { c.CacheCapabilities.DigestFunctions = nil }, ""},
		"nothing":         {func(c *repb.ServerCapabilities) { c.CacheCapabilities = nil }, ""},
		"a batch of -1":   {func(c *repb.ServerCapabilities) { c.CacheCapabilities.MaxBatchTotalSizeBytes = -1 }, ""},
		"a batch of 1":    {func(c *repb.ServerCapabilities) { c.CacheCapabilities.MaxBatchTotalSizeBytes = 1 }, ""},
		"a batch of 2^63": {func(c *repb.ServerCapabilities) { c.CacheCapabilities.MaxBatchTotalSizeBytes = 1<<63 - 1 }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{caps: c.caps}
			cl := client(t, f.start(t))
			data := lines(100_000)
			d := remote.Sum(data)
			err := cl.Send(t.Context(), []remote.Digest{d}, remotetest.Contents{d: data}.Open, func(remote.Digest) {})
			if c.want != "" {
				contains(t, err, c.want, cl.name)
				return
			}
			got, ferr := fetchAll(t.Context(), cl, remote.Want{Digest: d})
			if err != nil || ferr != nil || !bytes.Equal(got[d], data) {
				t.Errorf("%d bytes, %v, %v", len(got[d]), err, ferr)
			}
			if n := f.count("GetCapabilities"); n != 1 {
				t.Errorf("%d questions for the capabilities", n)
			}
		})
	}
}

// TestBLAKE3: with another digest function, the names of resources and the digests are of it.
func TestBLAKE3(t *testing.T) {
	t.Parallel()
	f := &fake{function: BLAKE3, instance: "x", zstd: true}
	c := client(t, f.start(t)+"/x", func(o *Options) { o.Function = BLAKE3 })
	all, digests := make(remotetest.Contents), []remote.Digest(nil)
	for _, n := range []int{10, 100_000, 5 << 20} {
		for _, data := range [][]byte{noise(9, n), lines(n)} {
			d := BLAKE3.sum(data)
			all[d], digests = data, append(digests, d)
		}
	}
	sent := 0
	if err := c.Send(t.Context(), digests, all.Open, func(remote.Digest) { sent++ }); err != nil || sent != len(all) {
		t.Fatalf("%d sent, %v", sent, err)
	}
	for d, data := range all {
		if got, err := fetchAll(t.Context(), c, remote.Want{Digest: d}); err != nil || !bytes.Equal(got[d], data) {
			t.Errorf("%s: %d bytes, %v", text(d), len(got[d]), err)
		}
	}
	other := client(t, f.start(t)+"/x") // SHA256
	_, err := other.Missing(t.Context(), digests)
	contains(t, err, "SHA1, BLAKE3, required is SHA256")
}

// TestWrongBytes: what is not the blob ends with an error, in batches and alone, compressed and not.
func TestWrongBytes(t *testing.T) {
	t.Parallel()
	wrong := map[string]func([]byte) []byte{
		"other":   func(b []byte) []byte { b = bytes.Clone(b); b[len(b)/2] ^= 1; return b },
		"shorter": func(b []byte) []byte { return b[:len(b)-1] },
		"none":    func([]byte) []byte { return nil },
		"longer":  func(b []byte) []byte { return append(bytes.Clone(b), 'x') },
		"a bomb":  func([]byte) []byte { return make([]byte, 60<<20) },
	}
	for name, make := range wrong {
		for _, zstd := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, zstd %v", name, zstd), func(t *testing.T) {
				t.Parallel()
				f := &fake{zstd: zstd, serve: func(_ *repb.Digest, data []byte) ([]byte, error) { return make(data), nil }}
				c := client(t, f.start(t, grpc.MaxSendMsgSize(100<<20)))
				for _, n := range []int{3000, 2 << 20} {
					d := f.put(lines(n))
					got, err := fetchAll(t.Context(), c, remote.Want{Digest: d})
					if err == nil || errors.Is(err, remote.ErrMiss) || int64(len(got[d])) > d.Size {
						t.Errorf("%d bytes of %d, %v", len(got[d]), n, err)
					}
				}
			})
		}
	}
}

// TestEndlessStream: a stream that never ends is left after the last byte of the blob.
func TestEndlessStream(t *testing.T) {
	t.Parallel()
	f := &fake{read: func(_ *bytestream.ReadRequest, s bytestream.ByteStream_ReadServer) bool {
		for data := make([]byte, 1<<20); s.Send(&bytestream.ReadResponse{Data: data}) == nil; {
			continue
		}
		return true
	}}
	c := client(t, f.start(t))
	d := remote.Sum(lines(3 << 20))
	got, err := fetchAll(t.Context(), c, remote.Want{Digest: d})
	if int64(len(got[d])) != d.Size {
		t.Errorf("%d bytes", len(got[d]))
	}
	contains(t, err, "more than 3145728 bytes")
}

// TestEmptyMessages: messages without data, without end, are no progress.
func TestEmptyMessages(t *testing.T) {
	t.Parallel()
	f := &fake{read: func(_ *bytestream.ReadRequest, s bytestream.ByteStream_ReadServer) bool {
		for s.Send(&bytestream.ReadResponse{}) == nil {
			continue
		}
		return true
	}}
	c := client(t, f.start(t))
	_, err := fetchAll(t.Context(), c, remote.Want{Digest: remote.Sum(lines(3 << 20))})
	contains(t, err, "more than 100 messages without data")
}

// TestReadContinues: where a stream breaks, the rest is asked for, and no byte twice.
func TestReadContinues(t *testing.T) {
	t.Parallel()
	for _, zstd := range []bool{false, true} {
		f := &fake{zstd: zstd}
		data := append(noise(1, 2<<20), lines(2<<20)...)
		breaks := []int64{1, 100_000, 3_000_000}
		var offsets []int64
		f.read = func(r *bytestream.ReadRequest, s bytestream.ByteStream_ReadServer) bool {
			offsets = append(offsets, r.ReadOffset)
			if len(offsets) > len(breaks) {
				return false
			}
			part := data[r.ReadOffset:max(breaks[len(offsets)-1], r.ReadOffset)]
			if zstd {
				part = deflate(part)
			}
			_ = s.Send(&bytestream.ReadResponse{Data: part})
			panic(http2Abort)
		}
		c := client(t, f.start(t, aborting()))
		d := f.put(data)
		got, err := fetchAll(t.Context(), c, remote.Want{Digest: d})
		if err != nil || !bytes.Equal(got[d], data) {
			t.Errorf("zstd %v: %d bytes, %v", zstd, len(got[d]), err)
		}
		if want := "[0 1 100000 3000000]"; fmt.Sprint(offsets) != want {
			t.Errorf("zstd %v: offsets %v, expected %s", zstd, offsets, want)
		}
	}
}

const http2Abort = "end the stream"

// aborting returns an interceptor that makes of a panic with http2Abort the failure of a server that goes away.
func aborting() grpc.ServerOption {
	return grpc.ChainStreamInterceptor(func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
		defer func() {
			if v := recover(); v == http2Abort {
				err = grpcstatus.Error(codes.Unavailable, "going away")
			} else if v != nil {
				panic(v)
			}
		}()
		return next(srv, s)
	})
}

// TestReadGivesUp: a stream that makes no progress is asked for three times.
func TestReadGivesUp(t *testing.T) {
	t.Parallel()
	asked := 0
	f := &fake{read: func(*bytestream.ReadRequest, bytestream.ByteStream_ReadServer) bool { asked++; panic(http2Abort) }}
	c := client(t, f.start(t, aborting()))
	d := f.put(lines(3 << 20))
	_, err := fetchAll(t.Context(), c, remote.Want{Digest: d})
	contains(t, err, "Read: UNAVAILABLE (going away)")
	if asked == 0 || asked > 1+maxTries {
		t.Errorf("asked %d times", asked)
	}
}

// TestEviction: a blob that is gone is a missing one, and gone in the middle of its stream a fault.
func TestEviction(t *testing.T) {
	t.Parallel()
	f := &fake{}
	c := client(t, f.start(t, aborting()))
	small, large, halfway := f.put(lines(100)), f.put(lines(2<<20)), f.put(lines(3<<20))
	if missing, err := c.Missing(t.Context(), []remote.Digest{small, large, halfway}); len(missing) != 0 || err != nil {
		t.Fatalf("missing %v, %v", missing, err)
	}
	f.mu.Lock()
	delete(f.blobs, text(small))
	delete(f.blobs, text(large))
	f.mu.Unlock()
	got, err := fetchAll(t.Context(), c, remote.Want{Digest: small}, remote.Want{Digest: large})
	if err != nil || len(got) != 2 || got[small] != nil || got[large] != nil {
		t.Errorf("%d are there, %v", len(got), err)
	}
	f.read = func(_ *bytestream.ReadRequest, s bytestream.ByteStream_ReadServer) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.blobs[text(halfway)] == nil {
			return false
		}
		delete(f.blobs, text(halfway))
		_ = s.Send(&bytestream.ReadResponse{Data: lines(100)})
		panic(http2Abort)
	}
	_, err = fetchAll(t.Context(), c, remote.Want{Digest: halfway})
	contains(t, err, "is gone while it was read")
	if errors.Is(err, remote.ErrMiss) {
		t.Error("it is a miss")
	}
}

// TestBatchWithHoles: blobs that a server leaves out of a batch, or fails to read for it, are asked for one by one.
func TestBatchWithHoles(t *testing.T) {
	t.Parallel()
	fail := true
	f := &fake{serve: func(_ *repb.Digest, data []byte) ([]byte, error) {
		if fail {
			fail = false
			return nil, grpcstatus.Error(codes.ResourceExhausted, "too much at once")
		}
		return data, nil
	}}
	c := client(t, f.start(t))
	a, b := f.put(lines(100)), f.put(lines(200))
	got, err := fetchAll(t.Context(), c, remote.Want{Digest: a}, remote.Want{Digest: b})
	if err != nil || len(got[a]) != 100 || len(got[b]) != 200 {
		t.Errorf("%d and %d bytes, %v", len(got[a]), len(got[b]), err)
	}
}

// TestStatuses: a status means what it means for its method, and its message is one line.
func TestStatuses(t *testing.T) {
	t.Parallel()
	code := codes.OK
	f := &fake{allow: func(context.Context) error {
		if code == codes.OK {
			return nil
		}
		return grpcstatus.Error(code, "ünd\x1b[31m\n so\t% on "+strings.Repeat("x", 1000))
	}}
	c := client(t, f.start(t))
	d := remote.Sum(lines(100))
	if _, err := c.Missing(t.Context(), []remote.Digest{d}); err != nil { // has the capabilities
		t.Fatal(err)
	}
	methods := map[string]func() error{
		"GetActionResult":    func() error { _, err := c.Result(t.Context(), d); return err },
		"UpdateActionResult": func() error { return c.PutResult(t.Context(), d, nil) },
		"FindMissingBlobs":   func() error { _, err := c.Missing(t.Context(), []remote.Digest{d}); return err },
		"BatchReadBlobs":     func() error { _, err := fetchAll(t.Context(), c, remote.Want{Digest: d}); return err },
		"BatchUpdateBlobs": func() error {
			return c.Send(t.Context(), []remote.Digest{d}, remotetest.Contents{d: lines(100)}.Open, func(remote.Digest) { t.Error("sent") })
		},
	}
	for code = range codes.Code(17) {
		if code == codes.OK {
			continue
		}
		for name, call := range methods {
			var want error
			switch {
			case code == codes.Unauthenticated || code == codes.PermissionDenied:
				want = remote.ErrDenied
			case code == codes.NotFound && name == "GetActionResult":
				want = remote.ErrMiss
			case code == codes.ResourceExhausted && (name == "UpdateActionResult" || name == "BatchUpdateBlobs"):
				want = remote.ErrFull
			}
			err := call()
			for _, of := range []error{remote.ErrMiss, remote.ErrDenied, remote.ErrFull} {
				if errors.Is(err, of) != (of == want) {
					t.Errorf("%s, %v: %v is %v: %v", name, code, err, of, !(of == want))
				}
			}
			method := name
			if f := (&Failure{Code: Code(code)}); name == "BatchUpdateBlobs" && (f.ofOne() || f.Code == Unimplemented) {
				method = "Write" // one by one
			}
			contains(t, err, c.name+": "+method+": "+Code(code).String()+" (ünd[31m so % on xxx")
			if len(err.Error()) > 600 || strings.ContainsAny(err.Error(), "\x1b\n\t") {
				t.Errorf("%q", err)
			}
		}
	}
}
