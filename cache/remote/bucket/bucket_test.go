package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/objects"
	"github.com/bentobuild/bento/cache/remote/remotetest"
	"github.com/bentobuild/bento/cache/remote/servertest"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// fakeS3 is an S3 server in this process. wrap, which may be nil, sees requests before it.
func fakeS3(t *testing.T, wrap func(http.Handler) http.Handler, buckets ...string) (endpoint string) {
	t.Helper()
	memory := s3mem.New()
	for _, name := range buckets {
		if err := memory.CreateBucket(name); err != nil {
			t.Fatal(err)
		}
	}
	h := gofakes3.New(memory, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	if wrap != nil {
		h = wrap(h)
	}
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// variables returns a lookup of environment variables: pairs of names and values. HOME is an empty directory.
func variables(t *testing.T, pairs ...string) func(string) string {
	t.Helper()
	env := map[string]string{"HOME": t.TempDir()}
	for i := 0; i < len(pairs); i += 2 {
		env[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return env[name] }
}

func withKeys(t *testing.T) func(string) string {
	return variables(t, "AWS_ACCESS_KEY_ID", "AKID", "AWS_SECRET_ACCESS_KEY", "secret")
}

func open(t *testing.T, address, endpoint string, lookup func(string) string) remote.Backend {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(Options{Options: transport.Options{Address: u, Trusted: true}, Endpoint: endpoint, Lookup: lookup})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// TestKit runs the conformance tests of all backends and stores.
func TestKit(t *testing.T) {
	t.Parallel()
	endpoint := fakeS3(t, nil, "cache")
	lookup := withKeys(t)
	remotetest.Run(t, func(t *testing.T) remote.Backend { return open(t, "s3://cache/some/prefix", endpoint, lookup) })
	remotetest.RunStore(t, func(t *testing.T, o remote.Options) remote.Store {
		return remote.OverBackend(open(t, "s3://cache", endpoint, lookup), o)
	})
}

// TestServersOwnErrors: a server that has an error of its own is asked again, once.
func TestServersOwnErrors(t *testing.T) {
	t.Parallel()
	for errs, works := range map[int64]bool{1: true, 2: false} {
		var asked atomic.Int64
		endpoint := fakeS3(t, func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if asked.Add(1) <= errs {
					http.Error(w, "<Error><Code>InternalError</Code></Error>", http.StatusInternalServerError)
					return
				}
				h.ServeHTTP(w, r)
			})
		}, "cache")
		b := open(t, "s3://cache", endpoint, withKeys(t))
		blobs := make(remotetest.Contents)
		blobs.Add([]byte("content"))
		if _, err := blobs.Send(t.Context(), b); works != (err == nil) {
			t.Errorf("after %d errors: %v", errs, err)
		}
	}
}

// noise is content that is the same each time.
func noise(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		sum := sha256.Sum256(fmt.Append(nil, i))
		b.Write(sum[:])
	}
	return b.Bytes()[:size]
}

type content struct{ *bytes.Reader }

func (content) Close() error { return nil }

func sourceOf(data []byte) objects.Source {
	return func() (io.ReadSeekCloser, error) { return content{bytes.NewReader(data)}, nil }
}

// inParts returns a server with small parts, and a large object.
func inParts(t *testing.T, endpoint string) (*server, objects.Object, []byte) {
	t.Helper()
	u, _ := url.Parse("s3://cache/pre")
	o := Options{Options: transport.Options{Address: u, Trusted: true}, Endpoint: endpoint, Lookup: withKeys(t)}
	s := &server{part: 5 << 20}
	where, err := parse(u)
	if err != nil {
		t.Fatal(err)
	}
	s.way = sync.OnceValues(func() (*way, error) { return o.way(where, s.now) })
	data := noise(23 << 20)
	sum := remote.Sum(data)
	return s, objects.Object{Name: fmt.Sprintf("cas/%x", sum.Hash), Size: sum.Size, Hash: sum.Hash}, data
}

// TestParts: a large object that was cut off continues with the first part that the server lacks.
func TestParts(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var parts []string
	broken := true
	endpoint := fakeS3(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := r.URL.Query().Get("partNumber")
			mu.Lock()
			cut := broken && n == "3"
			if n != "" {
				parts = append(parts, n)
			}
			mu.Unlock()
			if cut {
				panic(http.ErrAbortHandler)
			}
			h.ServeHTTP(w, r)
		})
	}, "cache")
	s, o, data := inParts(t, endpoint)
	if err := s.putParts(t.Context(), o, sourceOf(data)); err == nil {
		t.Fatal("part 3 was cut off")
	}
	mu.Lock()
	parts, broken = nil, false
	mu.Unlock()
	if err := s.putParts(t.Context(), o, sourceOf(data)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(parts, " "); got != "3 4 5" {
		t.Errorf("parts %s were sent again, want 3 4 5", got)
	}
	got := 0
	err := objects.Backend(s).Fetch(t.Context(), []remote.Want{{Digest: remote.Sum(data)}}, func(_ remote.Want, r io.Reader) error {
		back, err := io.ReadAll(r)
		if got++; !bytes.Equal(back, data) {
			t.Errorf("%d other bytes", len(back))
		}
		return err
	})
	if err != nil || got != 1 {
		t.Errorf("%v", err)
	}
}

// TestPartsOfOthers: parts of another content, which someone left at the server, are not used, and wrong content is no object.
func TestPartsOfOthers(t *testing.T) {
	t.Parallel()
	endpoint := fakeS3(t, nil, "cache")
	s, o, data := inParts(t, endpoint)
	id, err := s.begin(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	other := append([]byte("other"), data[5:]...)
	wrong := objects.Object{Name: o.Name, Size: o.Size, Hash: [32]byte{1}}
	if _, err := s.sendParts(t.Context(), wrong, sourceOf(other), id, nil); !errors.Is(err, objects.ErrContent) {
		t.Errorf("wrong content: %v", err)
	}
	for name, bad := range map[string][]byte{"other": other, "shorter": data[1:], "longer": append(data[:len(data):len(data)], 0)} {
		if err := s.putParts(t.Context(), o, sourceOf(bad)); !errors.Is(err, objects.ErrContent) {
			t.Errorf("%s: %v", name, err)
		}
		if there, err := s.Has(t.Context(), o); there || err != nil {
			t.Errorf("%s: %v, %v", name, there, err)
		}
	}
	if err := s.putParts(t.Context(), o, sourceOf(data)); err != nil {
		t.Error(err)
	}
	if there, err := s.Has(t.Context(), o); !there || err != nil {
		t.Errorf("%v, %v", there, err)
	}
	if size := (&server{part: partSize}).sizeOfParts(1 << 40); size*maxParts < 1<<40 || size%(1<<20) != 0 {
		t.Errorf("parts of %d bytes", size)
	}
}

// TestClock: a clock that is off by a day costs one request more, once.
func TestClock(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	refused := 0
	endpoint := fakeS3(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			there := time.Now().Add(26 * time.Hour)
			w.Header().Set("Date", there.UTC().Format(http.TimeFormat))
			at, err := time.Parse(stamp, r.Header.Get("X-Amz-Date"))
			if err != nil || there.Sub(at).Abs() > 15*time.Minute {
				mu.Lock()
				refused++
				mu.Unlock()
				w.WriteHeader(http.StatusForbidden)
				io.WriteString(w, "<Error><Code>RequestTimeTooSkewed</Code><Message>off</Message></Error>")
				return
			}
			r.Header.Set("X-Amz-Date", time.Now().UTC().Format(stamp))
			h.ServeHTTP(w, r)
		})
	}, "cache")
	b := open(t, "s3://cache", endpoint, withKeys(t))
	for range 3 {
		if _, err := b.Result(t.Context(), remote.Sum(nil)); !errors.Is(err, remote.ErrMiss) {
			t.Errorf("%v", err)
		}
	}
	if err := b.PutResult(t.Context(), remote.Sum(nil), []byte("x")); err != nil || refused != 1 {
		t.Errorf("%v, %d refusals", err, refused)
	}
}

// TestRefusals: what S3's errors mean.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		code   string
		want   error
		text   string
	}{
		{404, "NoSuchKey", remote.ErrMiss, ""},
		{404, "NoSuchBucket", errSetUp, "NoSuchBucket"},
		{403, "AccessDenied", remote.ErrDenied, "no AWS credentials"},
		{400, "EntityTooLarge", remote.ErrFull, ""},
		{507, "XMinioStorageFull", remote.ErrFull, ""},
		{503, "SlowDown", nil, "SlowDown: \x00text"},
		{301, "PermanentRedirect", errSetUp, `region "eu-west-1"`},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Amz-Bucket-Region", "eu-west-1")
			w.WriteHeader(c.status)
			fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>text</Message></Error>`, c.code)
		}))
		b := open(t, "s3://cache", s.URL, variables(t))
		_, err := b.Result(t.Context(), remote.Sum(nil))
		for _, is := range []error{remote.ErrMiss, remote.ErrDenied, remote.ErrFull, errSetUp} {
			if errors.Is(err, is) != (is == c.want) {
				t.Errorf("%d %s: %v", c.status, c.code, err)
			}
		}
		if err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(c.text, "\x00", "")) {
			t.Errorf("%d %s: %v, want %q in it", c.status, c.code, err, c.text)
		}
		s.Close()
	}
}

// TestAddresses: where the objects of a bucket are, and which addresses are refused.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ address, endpoint, region, want string }{
		{"s3://my-bucket", "", "us-east-1", "https://my-bucket.s3.us-east-1.amazonaws.com/ac/x"},
		{"s3://my-bucket/a b/c/", "", "cn-north-1", "https://my-bucket.s3.cn-north-1.amazonaws.com.cn/a%20b/c/ac/x"},
		{"s3://my.bucket/p", "", "eu-west-1", "https://s3.eu-west-1.amazonaws.com/my.bucket/p/ac/x"},
		{"s3://my-bucket/p", "minio.example:9000", "us-east-1", "https://minio.example:9000/my-bucket/p/ac/x"},
		{"s3://my-bucket", "https://host.example/storage/s3/", "us-east-1", "https://host.example/storage/s3/my-bucket/ac/x"},
		{"s3://My_Bucket", "http://localhost:9000/", "us-east-1", "http://localhost:9000/My_Bucket/ac/x"},
	} {
		u, _ := url.Parse(c.address)
		o := Options{Options: transport.Options{Address: u}, Endpoint: c.endpoint, Region: c.region, Lookup: variables(t)}
		where, err := parse(u)
		if err != nil {
			t.Fatal(err)
		}
		w, err := o.way(where, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		req, err := w.request(t.Context(), request{method: http.MethodGet, name: "ac/x"}, keys{}, time.Now())
		if err != nil || req.URL.String() != c.want || req.Header.Get("Authorization") != "" {
			t.Errorf("%s: %v, %v, want %s", c.address, req.URL, err, c.want)
		}
	}
	for _, c := range []Options{
		{Options: transport.Options{Address: &url.URL{Scheme: "s3", Host: "ab"}}},
		{Options: transport.Options{Address: &url.URL{Scheme: "https", Host: "bucket"}}},
		{Options: transport.Options{Address: &url.URL{Scheme: "s3", Host: "a..b"}}},
		{Options: transport.Options{Address: &url.URL{Scheme: "s3", Host: "evil.example/x#"}}},
		{Options: transport.Options{Address: &url.URL{Scheme: "s3", Host: "bucket", Path: "/a/../b"}}},
		{Options: transport.Options{Address: &url.URL{Scheme: "s3", Host: "bucket", RawQuery: "x"}}},
		{Options: transport.Options{Address: &url.URL{Scheme: "s3", Host: "bucket"}}, Region: "evil.example/"},
		{Options: transport.Options{Address: &url.URL{Scheme: "s3", Host: "bucket"}}, Endpoint: "http://minio.example"},
		{Options: transport.Options{Address: &url.URL{Scheme: "s3", Host: "bucket"}}, Endpoint: "https://minio.example/../path"},
	} {
		if _, err := Open(c); err == nil {
			t.Errorf("%s, region %q, endpoint %q is accepted", c.Address, c.Region, c.Endpoint)
		}
	}
}

// TestUntrusted: a bucket that only the repository names sees no signature.
func TestUntrusted(t *testing.T) {
	t.Parallel()
	var signed sync.Map
	endpoint := fakeS3(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			signed.Store(r.Header.Get("Authorization") != "", true)
			h.ServeHTTP(w, r)
		})
	}, "cache")
	u, _ := url.Parse("s3://cache")
	for _, trusted := range []bool{false, true} {
		signed.Clear()
		b, err := Open(Options{Options: transport.Options{Address: u, Trusted: trusted}, Endpoint: endpoint, Lookup: withKeys(t)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Result(t.Context(), remote.Sum(nil)); !errors.Is(err, remote.ErrMiss) {
			t.Errorf("%v", err)
		}
		b.Close()
		if _, ok := signed.Load(trusted); !ok {
			t.Errorf("trusted %v: the request was signed: %v", trusted, !trusted)
		}
	}
}

// oneAtATime sends for one caller at a time: moto fails if two requests replace an object at the same time.
type oneAtATime struct {
	remote.Backend
	turn *sync.Mutex
}

func (o oneAtATime) Send(ctx context.Context, blobs []remote.Digest, open func(remote.Digest) (io.ReadSeekCloser, error), sent func(remote.Digest)) error {
	o.turn.Lock()
	defer o.turn.Unlock()
	return o.Backend.Send(ctx, blobs, open, sent)
}

// TestMoto runs the conformance test with a second implementation, for credentials of a role that a web identity has.
func TestMoto(t *testing.T) {
	t.Parallel()
	s := servertest.Moto(t)
	dir := files(t, "token", "jwt")
	lookup := variables(t, "AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/ci", "AWS_WEB_IDENTITY_TOKEN_FILE", filepath.Join(dir, "token"),
		"AWS_ENDPOINT_URL", "http://"+s.HTTP, "AWS_ENDPOINT_URL_STS", "http://"+s.HTTP)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+s.HTTP+"/cache", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", res, err)
	}
	transport.Discard(res)
	turn := new(sync.Mutex)
	remotetest.Run(t, func(t *testing.T) remote.Backend { return oneAtATime{open(t, "s3://cache/a b", "", lookup), turn} })
	sv, o, data := inParts(t, "http://"+s.HTTP)
	for range 2 {
		if err := sv.putParts(t.Context(), o, sourceOf(data)); err != nil {
			t.Error(err)
		}
	}
	if there, err := sv.Has(t.Context(), o); !there || err != nil {
		t.Errorf("%v, %v", there, err)
	}
}
