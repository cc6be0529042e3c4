package ainb

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/plugin/wire"
)

const (
	network     = "network"
	fetchWithin = 30 * time.Second
	// maxFetched is the largest body of an answer. In base64 it fits a frame.
	maxFetched   = 10 << 20
	maxRedirects = 10
)

// errHost is the error of a redirect to a host that is not granted.
var errHost = errors.New("the host is not granted")

// fetched is the result of host/network/fetch.
type fetched struct {
	Status  int         `json:"status"`
	Headers [][2]string `json:"headers"`
	Body    Bytes       `json:"body"`
}

// fetch answers host/network/fetch.
func (s *session) fetch(ctx context.Context, method string, raw json.RawMessage) (any, *wire.RPCError) {
	if !s.x.granted[network].Granted() {
		s.x.audit(method, network, "not granted", false)
		return nil, denied(network)
	}
	p, refused := params[struct {
		URL     *string         `json:"url"`
		Method  string          `json:"method"`
		Body    json.RawMessage `json:"body"`
		Headers [][]string      `json:"headers"`
	}](raw)
	if refused != nil {
		return nil, refused
	}
	address, refused := must("url", p.URL)
	if refused != nil {
		return nil, refused
	}
	body, refused := bytesOf("body", p.Body)
	if refused != nil {
		return nil, refused
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, refusal(wire.CodeInvalidParams, "params.url is %.200q, required an address of http or https", address)
	}
	if !s.x.mayAsk(u) {
		s.x.audit(method, network, "no grant of the host "+u.Hostname(), false)
		return nil, deniedWith(network, "host", u.Hostname())
	}
	s.x.audit(method, network, "host "+u.Hostname(), true)
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, cmp.Or(p.Method, http.MethodGet), u.String(), strings.NewReader(string(body)))
	if err != nil {
		return nil, refusal(wire.CodeInvalidParams, "params.method: %v", err)
	}
	for i, h := range p.Headers {
		if len(h) != 2 {
			return nil, refusal(wire.CodeInvalidParams, "params.headers[%d] has %d values, required a name and a value", i, len(h))
		}
		req.Header.Add(h[0], h[1])
	}
	return s.exchange(req, method)
}

// mayAsk reports whether the host of an address is granted, with any port.
func (x *extension) mayAsk(u *url.URL) bool {
	g := x.granted[network]
	return g.All || slices.ContainsFunc(g.Only, func(name string) bool { return strings.EqualFold(name, u.Hostname()) })
}

// exchange sends a request and reads the answer. Each redirect is judged as the address was.
func (s *session) exchange(req *http.Request, method string) (any, *wire.RPCError) {
	transport := s.x.h.o.Transport
	if transport == nil {
		own := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 256 << 10}
		defer own.CloseIdleConnections()
		transport = own
	}
	client := http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			return fmt.Errorf("more than %d redirects", maxRedirects)
		}
		if !s.x.mayAsk(r.URL) || r.URL.Scheme != "http" && r.URL.Scheme != "https" {
			s.x.audit(method, network, "a redirect to the host "+r.URL.Hostname(), false)
			return errHost
		}
		return nil
	}}
	res, err := client.Do(req)
	if err == nil {
		defer res.Body.Close()
	}
	switch {
	case errors.Is(err, errHost):
		return nil, denied(network)
	case err != nil:
		return nil, refusal(codeInternal, "%v", err)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxFetched+1))
	if err == nil && len(body) > maxFetched {
		err = fmt.Errorf("the answer has more than %d bytes", maxFetched)
	}
	if err != nil {
		return nil, refusal(codeInternal, "%s %s: %v", req.Method, req.URL.Redacted(), err)
	}
	f := fetched{Status: res.StatusCode, Headers: [][2]string{}, Body: some(body)}
	for name, values := range res.Header {
		for _, v := range values {
			f.Headers = append(f.Headers, [2]string{strings.ToLower(name), v})
		}
	}
	slices.SortStableFunc(f.Headers, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return f, nil
}
