// Package web is a remote cache that speaks Bazel's plain HTTP: GET, HEAD and PUT of PREFIX/ac/HASH and
// PREFIX/cas/HASH, as bazel-remote, nginx with WebDAV and many others serve them.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/objects"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// Open returns the cache at o.Address, whose path is the prefix. It connects when first needed.
func Open(o transport.Options) (remote.Backend, error) {
	o.Redirects = true
	client, err := transport.New(o)
	if err != nil {
		return nil, err
	}
	base := *o.Address
	base.User, base.Fragment, base.RawPath, base.RawFragment = nil, "", "", ""
	base.Path = strings.TrimRight(base.Path, "/")
	return objects.Backend(&server{client, base}), nil
}

type server struct {
	*transport.Client
	base url.URL
}

// early is the size in bytes from which a server is asked before content is sent to it.
const early = 1 << 20

func (s *server) request(ctx context.Context, method, name string, body io.Reader) (*http.Request, error) {
	u := s.base
	u.Path += "/" + name
	return http.NewRequestWithContext(ctx, method, u.String(), body)
}

// Get implements objects.Server.
func (s *server) Get(ctx context.Context, o objects.Object, from int64) (io.ReadCloser, error) {
	req, err := s.request(ctx, http.MethodGet, o.Name, nil)
	if err != nil {
		return nil, err
	}
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	res, err := s.Do(req)
	if err != nil {
		return nil, err
	}
	if from > 0 {
		err = transport.Expect(res, http.StatusOK, http.StatusPartialContent)
	} else {
		err = transport.Expect(res, http.StatusOK)
	}
	if err != nil || o.Size < 0 {
		return res.Body, err
	}
	return transport.From(res, from, o.Size)
}

// Has implements objects.Server. A server without HEAD has nothing.
func (s *server) Has(ctx context.Context, o objects.Object) (bool, error) {
	req, err := s.request(ctx, http.MethodHead, o.Name, nil)
	if err != nil {
		return false, err
	}
	res, err := s.Do(req)
	if err != nil {
		return false, err
	}
	defer transport.Discard(res)
	switch err := transport.Expect(res, http.StatusOK, http.StatusNoContent); {
	case errors.Is(err, remote.ErrMiss), res.StatusCode == http.StatusMethodNotAllowed, res.StatusCode == http.StatusNotImplemented:
		return false, nil
	case err != nil:
		return false, err
	}
	return res.ContentLength < 0 || res.ContentLength == o.Size, nil
}

// Put implements objects.Server.
func (s *server) Put(ctx context.Context, o objects.Object, content objects.Source) error {
	body, err := content.Reader(o)
	if err != nil {
		return err
	}
	req, err := s.request(ctx, http.MethodPut, o.Name, body)
	if err != nil {
		body.Close()
		return err
	}
	req.ContentLength = o.Size
	req.GetBody = func() (io.ReadCloser, error) { return content.Reader(o) }
	req.Header.Set("Content-Type", "application/octet-stream")
	if o.Size >= early {
		req.Header.Set("Expect", "100-continue")
	}
	res, err := s.Do(req)
	if err != nil {
		return err
	}
	defer transport.Discard(res)
	err = transport.Expect(res, http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent)
	if err != nil && res.StatusCode == http.StatusBadRequest { // bazel-remote's answer to a blob that is too large
		err = fmt.Errorf("%w: %w", remote.ErrFull, err)
	}
	return err
}
