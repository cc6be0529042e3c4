package turborepo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// server is a server with version 8 of Turborepo's HTTP API.
type server struct {
	*transport.Client
	base url.URL
}

func newServer(o transport.Options, team string) (*server, error) {
	if len(team) > 200 {
		return nil, errors.New("the name of the team has more than 200 bytes")
	}
	o.Redirects = true // a server may name a store that serves its artifacts
	client, err := transport.New(o)
	if err != nil {
		return nil, err
	}
	s := &server{client, url.URL{Scheme: o.Address.Scheme, Host: o.Address.Host, Path: strings.TrimRight(o.Address.Path, "/")}}
	if team != "" {
		s.base.RawQuery = url.Values{teamQuery(team): {team}}.Encode()
	}
	return s, nil
}

func (s *server) do(req *http.Request, statuses ...int) (*http.Response, error) {
	res, err := s.Do(req)
	if err != nil {
		return nil, err
	}
	for _, status := range statuses {
		if res.StatusCode == status {
			return res, transport.Expect(res, status)
		}
	}
	return nil, refusal(res)
}

func (s *server) request(ctx context.Context, method, name string, body io.Reader) (*http.Request, error) {
	u := s.base
	u.Path += "/v8/artifacts/" + name
	return http.NewRequestWithContext(ctx, method, u.String(), body)
}

// get returns an artifact, which the caller closes.
func (s *server) get(ctx context.Context, name string) (io.ReadCloser, error) {
	req, err := s.request(ctx, http.MethodGet, name, nil)
	if err != nil {
		return nil, err
	}
	res, err := s.do(req, http.StatusOK)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

// upload is an artifact to be sent: in memory, or made each time it is sent.
type upload struct {
	name, tag string
	duration  time.Duration
	size      int64
	data      []byte
	write     func(io.Writer) error
}

// make makes the artifact, or only finds out its size if that is much.
func (p *upload) make(ctx context.Context, write func(io.Writer) error, much bool) error {
	if much {
		count := &counter{ctx: ctx.Err}
		err := write(count)
		p.size, p.write = count.n, write
		return cmp.Or(context.Cause(ctx), err)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	p.size, p.data = int64(b.Len()), b.Bytes()
	return nil
}

// counter counts bytes.
type counter struct {
	ctx func() error
	n   int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), c.ctx()
}

// body returns the content of the request. The caller closes it.
func (p *upload) body(w *remote.Watcher) io.ReadCloser {
	if p.write == nil {
		return io.NopCloser(&turns{w, bytes.NewReader(p.data)})
	}
	r, to := io.Pipe()
	b := &piped{Reader: &turns{w, r}, r: r}
	b.writer.Go(func() { to.CloseWithError(p.write(to)) })
	return b
}

// piped is the content that another goroutine writes.
type piped struct {
	io.Reader
	r      *io.PipeReader
	writer sync.WaitGroup
}

// Close ends the goroutine.
func (b *piped) Close() error {
	err := b.r.Close()
	b.writer.Wait()
	return err
}

// turns is content during whose reads the server waits for this machine.
type turns struct {
	w *remote.Watcher
	r io.Reader
}

func (t *turns) Read(p []byte) (int, error) {
	t.w.Here()
	defer t.w.There()
	return t.r.Read(p)
}

// early is the size in bytes from which the server is asked before content is sent to it.
const early = 1 << 20

func (s *server) put(ctx context.Context, p upload, w *remote.Watcher) error {
	req, err := s.request(ctx, http.MethodPut, p.name, nil)
	if err != nil {
		return err
	}
	var bodies transport.Bodies // no one reads the disk after this
	defer bodies.Close()
	req.Body, req.ContentLength = bodies.Add(p.body(w)), p.size
	req.GetBody = func() (io.ReadCloser, error) { return bodies.Add(p.body(w)), nil }
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set("X-Artifact-Tag", p.tag)
	req.Header.Set("X-Artifact-Duration", fmt.Sprint(p.duration.Milliseconds()))
	if p.size >= early {
		req.Header.Set("Expect", "100-continue")
	}
	res, err := s.do(req, http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent)
	if err != nil {
		return err
	}
	transport.Discard(res)
	return nil
}

// refusal reads an answer that is an error, and closes it.
func refusal(res *http.Response) error {
	r := transport.Refused(res)
	text, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	res.Body.Close()
	r.Code, r.Text = parseRefusal(text)
	// turborepo-remote-cache answers so to a request without a token.
	if r.Status == http.StatusBadRequest && strings.Contains(strings.ToLower(r.Text), "authorization") {
		r.Cause = remote.ErrDenied
	}
	return r
}

// parseRefusal reads the errors of Vercel's server, and of turborepo-remote-cache.
func parseRefusal(data []byte) (code, text string) {
	var doc struct {
		Message string          `json:"message"`
		Error   json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &doc) != nil {
		return "", transport.Line(string(data))
	}
	var inner struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(doc.Error, &inner) // a text in some servers
	return transport.Line(inner.Code), transport.Line(cmp.Or(inner.Message, doc.Message))
}
