package reapi

import (
	"encoding/binary"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// raw returns the address of a server of HTTP/2 without TLS that does what no library of gRPC does.
func raw(t *testing.T, serve http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(serve)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// grpcAnswer writes an answer of gRPC: its bytes, then the trailer in pairs.
func grpcAnswer(w http.ResponseWriter, body []byte, trailer ...string) {
	w.Header().Set("Content-Type", "application/grpc+proto")
	_, _ = w.Write(body)
	for i := 0; i < len(trailer); i += 2 {
		w.Header().Set(http.TrailerPrefix+trailer[i], trailer[i+1])
	}
}

// TestAnswers: an answer that is not one of gRPC is reported, and needs no memory for what it announces.
func TestAnswers(t *testing.T) {
	t.Parallel()
	frame := func(size uint32, compressed byte, data string) []byte {
		return append(binary.BigEndian.AppendUint32([]byte{compressed}, size), data...)
	}
	empty := frame(0, 0, "")
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"no trailer":     {func(w http.ResponseWriter, _ *http.Request) { grpcAnswer(w, empty) }, "the answer ends without a status"},
		"a wrong status": {func(w http.ResponseWriter, _ *http.Request) { grpcAnswer(w, empty, "Grpc-Status", "-1") }, `the answer ends with the status "-1"`},
		"a large status": {func(w http.ResponseWriter, _ *http.Request) { grpcAnswer(w, empty, "Grpc-Status", "77") }, "code 77"},
		"no message":     {func(w http.ResponseWriter, _ *http.Request) { grpcAnswer(w, nil, "Grpc-Status", "0") }, "an answer without a message"},
		"two messages": {func(w http.ResponseWriter, _ *http.Request) {
			grpcAnswer(w, append(empty, empty...), "Grpc-Status", "0")
		}, "more than one message"},
		"compressed": {func(w http.ResponseWriter, _ *http.Request) { grpcAnswer(w, frame(1, 1, "x"), "Grpc-Status", "0") }, "compressed"},
		"4 GiB": {func(w http.ResponseWriter, _ *http.Request) {
			grpcAnswer(w, frame(1<<32-1, 0, "x"), "Grpc-Status", "0")
		}, "a message of 4294967295 bytes"},
		"cut":           {func(w http.ResponseWriter, _ *http.Request) { grpcAnswer(w, frame(100, 0, "x"), "Grpc-Status", "0") }, "a message ends after 1 of 100 bytes"},
		"half a prefix": {func(w http.ResponseWriter, _ *http.Request) { grpcAnswer(w, []byte{0, 0}, "Grpc-Status", "0") }, "unexpected EOF"},
		"malformed":     {func(w http.ResponseWriter, _ *http.Request) { grpcAnswer(w, frame(1, 0, "\xff"), "Grpc-Status", "0") }, "malformed message"},
		"an escaped text": {func(w http.ResponseWriter, _ *http.Request) {
			grpcAnswer(w, nil, "Grpc-Status", "9", "Grpc-Message", "50%25 of %E2%82%AC")
		}, "FAILED_PRECONDITION (50% of €)"},
		"a wrong escape": {func(w http.ResponseWriter, _ *http.Request) {
			grpcAnswer(w, nil, "Grpc-Status", "9", "Grpc-Message", "50% of")
		}, "(50% of)"},
		"a page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>"))
		}, `an answer of the type "text/html", which is not gRPC's; check`},
		"404": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }, "UNIMPLEMENTED (HTTP status 404"},
		"429": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
		}, "429 Too Many Requests"},
		"reset": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "stream error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cl := client(t, raw(t, c.serve))
			_, err := cl.Result(t.Context(), remote.Digest{})
			contains(t, err, c.want, cl.name+": GetCapabilities: ")
			for _, is := range []error{remote.ErrMiss, remote.ErrDenied, remote.ErrFull} {
				if errors.Is(err, is) {
					t.Errorf("%v is %v", err, is)
				}
			}
			if wait, ok := errors.AsType[interface {
				error
				RetryAfter() time.Duration
			}](err); name == "429" && (!ok || wait.RetryAfter() != 30*time.Second) {
				t.Errorf("%v says no time", err)
			}
		})
	}
}

// TestNoRedirect: a redirect is not followed, and takes no credentials elsewhere.
func TestNoRedirect(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int32
	other := raw(t, func(w http.ResponseWriter, _ *http.Request) { elsewhere.Add(1); grpcAnswer(w, nil, "Grpc-Status", "0") })
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := client(t, raw(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+other+r.URL.Path, status)
		}), func(o *Options) { o.Transport.Trusted, o.Transport.Credentials.Token = true, "secret" })
		_, err := c.Result(t.Context(), remote.Digest{})
		contains(t, err, "HTTP status 30")
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("%d requests elsewhere", n)
	}
}

// TestCut: a call whose connection breaks before its answer is made once more, since servers end connections when they
// like, and then reported.
func TestCut(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	good := append(seal(newFrame(0)), 0)[:framePrefix]
	c := client(t, raw(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		grpcAnswer(w, good, "Grpc-Status", "0")
	}))
	if _, err := c.Result(t.Context(), remote.Digest{}); err != nil || calls.Load() != 3 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

// TestWatch: a call ends when nothing happens for the time of its phase, which does not pass while it is not the
// server's turn.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Client{http: new(transport.Client), first: time.Second, idle: 5 * time.Second}
		ctx, w := c.watched(t.Context())
		begin := time.Now()
		for range 10 {
			w.expect(c.idle)
			time.Sleep(4 * time.Second)
		}
		w.pause()
		time.Sleep(time.Hour)
		if ctx.Err() != nil || w.silence() != nil {
			t.Fatalf("ended after %v", time.Since(begin))
		}
		begin = time.Now()
		w.expect(c.first)
		<-ctx.Done()
		contains(t, w.silence(), "the server was silent for 1s")
		if d := time.Since(begin); d != time.Second {
			t.Errorf("ended after %v", d)
		}
		w.stop()

		ctx, w = c.watched(t.Context())
		w.heard = func(time.Duration) bool { return true }
		begin = time.Now()
		w.expect(c.first)
		<-ctx.Done()
		if d := time.Since(begin); d != c.idle {
			t.Errorf("while others have answers: ended after %v", d)
		}
		w.stop()

		ctx, w = c.watched(t.Context())
		begin = time.Now()
		<-ctx.Done()
		if d := time.Since(begin); d != starting {
			t.Errorf("without an event: ended after %v", d)
		}
		w.stop()

		q := &question{source: strings.NewReader(strings.Repeat("x", underway)), idle: c.idle, after: c.first}
		ctx, q.watch = c.watched(t.Context())
		if err := drain(q); err != nil {
			t.Fatal(err)
		}
		begin = time.Now()
		<-ctx.Done()
		if d := time.Since(begin); d != c.first+underway/slowest*time.Second {
			t.Errorf("after a long question: ended after %v", d)
		}
		q.watch.stop()
	})
}

func drain(q *question) error {
	for p := make([]byte, 1<<20); ; {
		if n, err := q.Read(p); n == 0 && err != nil {
			return q.Close()
		}
	}
}

// TestSilence: a server that accepts and is silent costs its time once, and the connection.
func TestSilence(t *testing.T) {
	t.Parallel()
	leave := make(chan struct{})
	c := client(t, raw(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-leave:
		case <-r.Context().Done():
		}
	}), func(o *Options) { o.First, o.Idle = 50*time.Millisecond, 50*time.Millisecond })
	defer close(leave)
	begin := time.Now()
	_, err := c.Result(t.Context(), remote.Digest{})
	contains(t, err, "the server was silent for ")
	if d := time.Since(begin); d < 50*time.Millisecond {
		t.Errorf("ended after %v", d)
	}
	if t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); !ok || !t.Timeout() {
		panic(err)
	}
}

// TestMessages: the stubs of the API encode what is decoded here, and the other way round.
func TestMessages(t *testing.T) {
	t.Parallel()
	caps := &repb.ServerCapabilities{
		CacheCapabilities: &repb.CacheCapabilities{
			DigestFunctions:        []repb.DigestFunction_Value{1, 9, 300},
			MaxBatchTotalSizeBytes: 12345, MaxCasBlobSizeBytes: 1 << 40,
			ActionCacheUpdateCapabilities:   &repb.ActionCacheUpdateCapabilities{UpdateEnabled: true},
			SupportedCompressors:            []repb.Compressor_Value{1, 2},
			SupportedBatchUpdateCompressors: []repb.Compressor_Value{2},
			SymlinkAbsolutePathStrategy:     2,
		},
		ExecutionCapabilities: &repb.ExecutionCapabilities{ExecEnabled: true, DigestFunction: 1},
	}
	data, err := proto.Marshal(caps)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeCapabilities(data)
	want := &capabilities{functions: []uint64{1, 9, 300}, batch: 12345, blob: 1 << 40, updates: true, zstd: true, executes: true}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(capabilities{}, version{})); d != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, d)
	}
	unpacked := appendMessage(nil, 1, protowire.AppendVarint(protowire.AppendTag(protowire.AppendVarint(protowire.AppendTag(nil, 1, 0), 1), 1, 0), 9))
	if got, err = decodeCapabilities(unpacked); err != nil || !cmp.Equal(got.functions, []uint64{1, 9}) {
		t.Errorf("%v, %v", got, err)
	}
	d := remote.Sum(lines(1 << 20))
	var stub repb.Digest
	if err := proto.Unmarshal(encodeDigest(d), &stub); err != nil || name(&stub) != text(d) {
		t.Errorf("%v, %v", &stub, err)
	}
	for _, wrong := range []*repb.Digest{{Hash: "00", SizeBytes: 1}, {Hash: stub.Hash, SizeBytes: -1}, {Hash: strings.Repeat("x", 64)}, {}} {
		data, err := proto.Marshal(wrong)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := decodeDigest(data); err == nil {
			t.Errorf("%v is %s", wrong, text(d))
		}
	}
}

// TestOpen: what no server can be reached by is refused before a connection.
func TestOpen(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"http://localhost":              "expected grpcs://HOST",
		"grpcs://":                      "has no host",
		"grpc://cache.example.com":      "no TLS",
		"grpcs://h/a/blobs/b":           `has the part "blobs", which the Remote Execution API reserves`,
		"grpcs://h/%01":                 "control character",
		"grpcs://h/%ff":                 "UTF-8",
		"grpcs://cache.example.com/a/b": "",
		"grpc://localhost:8980":         "",
		"grpc://[::1]:8980/x":           "",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{}
		o.Transport.Address = u
		c, err := Open(o)
		if want != "" {
			contains(t, err, want)
		} else if err != nil || c.Close() != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}
