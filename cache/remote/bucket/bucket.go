// Package bucket is a remote cache in a bucket of an object storage that speaks S3: Amazon's, MinIO, R2, Ceph and others.
package bucket

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/objects"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// Options describe a bucket. Address is s3://BUCKET[/PREFIX]. Requests are signed with the user's AWS credentials if the
// options are Trusted and there are any; Credentials are not used.
type Options struct {
	transport.Options
	Region   string                   // "": of the environment or the profile, else us-east-1
	Endpoint string                   // https://HOST of a server that is not Amazon's; "": of the environment, else Amazon's
	Metadata bool                     // ask the machine for credentials if there are no others: it costs time outside of Amazon's
	Lookup   func(name string) string // of environment variables; nil: of this process
}

const defaultRegion = "us-east-1"

// Open returns the cache in a bucket. It reads AWS's configuration and connects when first needed.
func Open(o Options) (remote.Backend, error) {
	where, err := parse(o.Address)
	if err == nil {
		err = checkRegion(o.Region)
	}
	if err == nil && o.Endpoint != "" {
		_, err = checkEndpoint(o.Endpoint)
	}
	if err != nil {
		return nil, err
	}
	if o.Lookup == nil {
		o.Lookup = os.Getenv
	}
	s := &server{part: partSize}
	s.way = sync.OnceValues(func() (*way, error) { return o.way(where, s.now) })
	return objects.Backend(s), nil
}

// way is what is known once the configuration was read.
type way struct {
	client     *transport.Client
	base, root string // the server, and the path of the bucket
	prefix     string // of the names of objects
	region     string
	ring       *ring
}

func (o *Options) way(where location, now func() time.Time) (*way, error) {
	env := environment(o.Lookup)
	p, err := env.profile()
	if err != nil && o.Trusted {
		return nil, err
	}
	w := &way{region: cmp.Or(o.Region, env("AWS_REGION"), env("AWS_DEFAULT_REGION"), p["region"], defaultRegion)}
	if err := checkRegion(w.region); err != nil {
		return nil, err
	}
	var endpoint *url.URL
	if text := cmp.Or(o.Endpoint, env("AWS_ENDPOINT_URL_S3"), env("AWS_ENDPOINT_URL"), p["endpoint_url"]); text != "" {
		if endpoint, err = checkEndpoint(text); err != nil {
			return nil, err
		}
	}
	w.base, w.root = where.of(endpoint, w.region)
	if w.prefix = where.prefix; w.prefix != "" {
		w.prefix += "/"
	}
	way := o.Options
	if way.Address, err = url.Parse(w.base); err != nil {
		return nil, err
	}
	way.Credentials, way.Redirects = transport.Credentials{}, false
	if w.client, err = transport.New(way); err != nil {
		return nil, err
	}
	var get provider
	if o.Trusted {
		if get, err = o.chain(p); err != nil {
			return nil, err
		}
	}
	w.ring = newRing(get, now)
	return w, nil
}

type server struct {
	way  func() (*way, error)
	part int64 // bytes of a part of a large object
	skew atomic.Int64
}

// now returns the time of the server's clock, as far as it is known.
func (s *server) now() time.Time { return time.Now().Add(time.Duration(s.skew.Load())) }

// Close implements objects.Server.
func (s *server) Close() error {
	w, err := s.way()
	if err != nil {
		return nil // nothing was opened
	}
	return w.client.Close()
}

// request is a request to S3, which can be sent again.
type request struct {
	method, name string // name "": the bucket
	query        url.Values
	header       http.Header
	size         int64
	payload      string // SHA256 in hex; "": no content
	body         func() (io.ReadCloser, error)
}

// do sends a request, and returns its answer if it has one of the statuses. If a clock is off, credentials have expired, or the
// server had an error of its own, which S3 asks its clients to try again, it sends the request again, once.
func (s *server) do(ctx context.Context, r request, statuses ...int) (*http.Response, error) {
	w, err := s.way()
	if err != nil {
		return nil, err
	}
	for first := true; ; first = false {
		at := s.now()
		k, err := w.ring.keys(ctx)
		if err != nil {
			return nil, err
		}
		req, err := w.request(ctx, r, k, at)
		if err != nil {
			return nil, err
		}
		res, err := w.client.Do(req)
		if err != nil {
			return nil, err
		}
		if res.StatusCode < 300 {
			return res, transport.Expect(res, statuses...)
		}
		failed := refusal(res)
		again := failed.Status == http.StatusInternalServerError ||
			k.ID != "" && (s.adjust(res, at) || expired(r, failed) && w.ring.forget(k))
		if !first || !again {
			return nil, explained(failed, res, k)
		}
	}
}

func (w *way) request(ctx context.Context, r request, k keys, at time.Time) (*http.Request, error) {
	path := w.root
	if r.name != "" {
		path += w.prefix + r.name
	}
	u := objectURL(w.base, path, r.query)
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.URL = u
	for name, values := range r.header {
		req.Header[name] = values
	}
	payload := cmp.Or(r.payload, emptyPayload)
	if k.ID != "" {
		sign(req, k, w.region, payload, at)
	}
	if r.body != nil {
		if req.Body, err = r.body(); err != nil {
			return nil, err
		}
		req.ContentLength, req.GetBody = r.size, r.body
	}
	return req, nil
}

// tolerance is how much two clocks may differ for S3 to accept a signature, less a reserve.
const tolerance = 10 * time.Minute

// adjust reports whether a request was refused for its time, and takes over the server's.
func (s *server) adjust(res *http.Response, at time.Time) bool {
	date, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil || res.StatusCode != http.StatusForbidden || date.Sub(at).Abs() < tolerance {
		return false
	}
	s.skew.Store(int64(time.Until(date)))
	return true
}

// expired reports whether credentials were refused for their age. The answer to HEAD has no code.
func expired(r request, failed *transport.Refusal) bool {
	switch failed.Code {
	case "ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired":
		return true
	}
	return r.method == http.MethodHead && failed.Status == http.StatusBadRequest
}

// errSetUp is the cause of a refusal that only another configuration changes.
var errSetUp = errors.New("the bucket is set up in another way")

// explained adds to a refusal what S3's codes mean.
func explained(r *transport.Refusal, res *http.Response, k keys) error {
	switch r.Code {
	case "NoSuchBucket", "NoSuchUpload", "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException":
		r.Cause = errSetUp
	case "EntityTooLarge", "QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded":
		r.Cause = remote.ErrFull
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "RequestTimeTooSkewed":
		r.Cause = remote.ErrDenied
	}
	if region := res.Header.Get("X-Amz-Bucket-Region"); region != "" && checkRegion(region) == nil && r.Status/100 == 3 || r.Code == "AuthorizationHeaderMalformed" {
		return fmt.Errorf("%w; the bucket is in the region %q: set remote_region", r, region)
	}
	if r.Status == http.StatusForbidden && k.ID == "" {
		return fmt.Errorf("%w; the request had no AWS credentials", r)
	}
	return r
}

// Get implements objects.Server.
func (s *server) Get(ctx context.Context, o objects.Object, from int64) (io.ReadCloser, error) {
	r := request{method: http.MethodGet, name: o.Name}
	statuses := []int{http.StatusOK}
	if from > 0 {
		r.header = http.Header{"Range": {fmt.Sprintf("bytes=%d-", from)}}
		statuses = append(statuses, http.StatusPartialContent)
	}
	res, err := s.do(ctx, r, statuses...)
	if err != nil {
		return nil, err
	}
	if o.Size < 0 {
		return res.Body, nil
	}
	return transport.From(res, from, o.Size)
}

// Has implements objects.Server.
func (s *server) Has(ctx context.Context, o objects.Object) (bool, error) {
	res, err := s.do(ctx, request{method: http.MethodHead, name: o.Name}, http.StatusOK)
	if errors.Is(err, remote.ErrMiss) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	transport.Discard(res)
	return res.ContentLength < 0 || res.ContentLength == o.Size, nil
}

// early100 is the size in bytes from which the server is asked before content is sent to it.
const early100 = 1 << 20

// Put implements objects.Server. It overwrites: an object that was damaged is mended, and a result whose blobs the bucket has
// expired is replaced.
func (s *server) Put(ctx context.Context, o objects.Object, content objects.Source) error {
	if o.Size > maxSingle {
		return s.putParts(ctx, o, content)
	}
	r := request{method: http.MethodPut, name: o.Name, size: o.Size, payload: hex.EncodeToString(o.Hash[:]),
		header: http.Header{"Content-Type": {"application/octet-stream"}}, body: func() (io.ReadCloser, error) { return content.Reader(o) }}
	if o.Size >= early100 {
		r.header.Set("Expect", "100-continue")
	}
	return s.done(ctx, r)
}

// done sends a request whose answer has nothing of interest.
func (s *server) done(ctx context.Context, r request) error {
	res, err := s.do(ctx, r, http.StatusOK, http.StatusCreated, http.StatusNoContent)
	if err == nil {
		transport.Discard(res)
	}
	return err
}
