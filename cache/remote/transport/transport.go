// Package transport makes the HTTP clients of remote caches: which servers they may reach in plain text, what they
// identify themselves with and to whom, and how long a connection may take. A client opens nothing before its first
// request.
package transport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// The default bounds of a connection.
const (
	defaultConnect = 500 * time.Millisecond // TCP; the handshake of TLS may take twice as long
	// This machine accepts or refuses at once, unless it has too much to do: then the server is not at fault.
	loopbackConnect = 5 * time.Second
	maxHeader       = 64 << 10 // bytes of an answer's header
	maxRedirects    = 3
	silence         = 5 * time.Second // of an HTTP/2 connection, until it is asked for a sign of life
)

// Parallel is the largest number of requests of one client that its user should have under way, as of Bazel.
const Parallel = 100

// Options describe the way to a server. The zero value of each field but Address is useful.
type Options struct {
	// Address is the server, with http or https. A user and a password in it are taken as Credentials, and are part
	// of no message.
	Address *url.URL
	// Trusted is set if the user's own configuration or environment names the host. Without it no Credentials
	// and no client certificate are sent: a repository could name any host.
	Trusted     bool
	Credentials Credentials
	Header      http.Header // of every request to the host of Address

	CA               string // a file with the PEM certificates that vouch for the server; "": those of the system
	Certificate, Key string // PEM files with which the client identifies itself; both or none

	Connect   time.Duration // until a TCP connection is there; 0: 500ms, and 5s to this machine itself
	HTTP2     bool          // nothing but HTTP/2, without TLS too, as gRPC requires
	Redirects bool          // follow redirects of GET and HEAD, without credentials and Header
	// Dated is called with the time of each answer that has one, by the clock of the server. It may be nil, and is called
	// at the same time by several requests.
	Dated func(time.Time)
	Agent bool // the server may be a cloud's agent on this machine: at a link-local address, without TLS and proxy
}

// Client sends requests to one server. It is safe for concurrent use.
type Client struct {
	host   string
	header http.Header
	auth   *Authorizer
	dated  func(time.Time)
	base   func() (*http.Client, error)

	connections connections
}

// New checks the options and returns a client, which reads and opens nothing before its first request. The error names
// the server and no secret.
func New(o Options) (*Client, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &Client{host: o.Address.Host, header: o.Header.Clone(), auth: o.Authorizer(), dated: o.Dated}
	c.base = sync.OnceValues(func() (*http.Client, error) { return o.client(&c.connections) })
	return c, nil
}

func (o *Options) check() error {
	u := o.Address
	switch {
	case u == nil || u.Host == "" || u.Hostname() == "":
		return errors.New("the address of the remote cache has no host")
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("the address of the remote cache has the scheme %q, expected https", u.Scheme)
	case u.Scheme == "http" && !Loopback(u.Hostname()) && !(o.Agent && linkLocal(u.Hostname())):
		return fmt.Errorf("the remote cache %s has no TLS; bento uses plain text only to this machine", u.Host)
	case (o.Certificate == "") != (o.Key == ""):
		return errors.New("a client certificate of the remote cache has a certificate and a key, found one of both")
	}
	for name, values := range o.Header {
		if err := checkHeader(name, values); err != nil {
			return err
		}
	}
	return o.Credentials.check()
}

// ownHeaders are headers that describe a connection or a body, which only the client knows.
func ownHeaders() []string {
	return []string{"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Range", "Expect", "Host", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection",
		"Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}
}

func checkHeader(name string, values []string) error {
	name = http.CanonicalHeaderKey(name)
	switch {
	case slices.Contains(ownHeaders(), name):
		return fmt.Errorf("the header %q of the remote cache describes the connection; leave it out", name)
	case name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) }):
		return fmt.Errorf("%q is no name of a header", name)
	}
	for _, v := range values {
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return fmt.Errorf("the value of the header %q has a control character", name)
		}
	}
	return nil
}

// Loopback reports whether a host name or address is this machine's own.
func Loopback(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().IsLoopback()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// linkLocal reports whether an address does not leave the network segment, which on a cloud's machine is the machine.
func linkLocal(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && (a.IsLinkLocalUnicast() || netip.MustParsePrefix("fd00:ec2::/32").Contains(a))
}

// client returns the client below a Client. A body arrives as the server sent it: net/http does not decompress.
func (o *Options) client(open *connections) (*http.Client, error) {
	config, err := o.TLS()
	if err != nil {
		return nil, err
	}
	connect := cmp.Or(o.Connect, defaultConnect)
	if o.Connect == 0 && Loopback(o.Address.Hostname()) {
		connect = loopbackConnect
	}
	dial := net.Dialer{Timeout: connect, FallbackDelay: connect / 4, KeepAlive: 15 * time.Second}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: open.dialing(dial.DialContext),
		TLSClientConfig: config, TLSHandshakeTimeout: 2 * connect,
		ForceAttemptHTTP2: true,
		MaxIdleConns:      Parallel, MaxIdleConnsPerHost: Parallel, IdleConnTimeout: 30 * time.Second,
		MaxResponseHeaderBytes: maxHeader, DisableCompression: true, ExpectContinueTimeout: time.Second,
		WriteBufferSize: 32 << 10, ReadBufferSize: 32 << 10,
	}
	if o.Agent {
		t.Proxy = nil
	}
	if o.HTTP2 {
		t.Protocols = new(http.Protocols)
		t.Protocols.SetHTTP2(true)
		t.Protocols.SetUnencryptedHTTP2(true)
	} else {
		t.HTTP2 = &http.HTTP2Config{SendPingTimeout: silence, PingTimeout: silence} // not with gRPC: see EndSilent
	}
	return &http.Client{Transport: t, CheckRedirect: o.redirect}, nil
}

// redirect follows a redirect of a request without content, to TLS or from this machine to itself. The new request has
// nothing by which the client identifies itself.
func (o *Options) redirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case !o.Redirects || first.Method != http.MethodGet && first.Method != http.MethodHead:
		return http.ErrUseLastResponse
	case len(via) > maxRedirects:
		return fmt.Errorf("the server redirects more than %d times", maxRedirects)
	case req.URL.Scheme != "https" && !(req.URL.Scheme == "http" && Loopback(req.URL.Hostname()) && Loopback(first.URL.Hostname())):
		return fmt.Errorf("the server redirects to %.200q, which has no TLS", req.URL.Redacted())
	}
	for name := range req.Header {
		if name != "Range" && name != "Accept-Encoding" && name != "User-Agent" {
			req.Header.Del(name)
		}
	}
	return nil
}

// Do sends a request to the server, with its header and credentials, and returns the answer, whatever its status. After
// a 401 it asks the credential helper once more. Its errors name the host and no secret.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	res, err := c.attempt(req)
	if err != nil || res.StatusCode != http.StatusUnauthorized || !c.auth.Forget() || req.Body != nil && req.GetBody == nil {
		return res, err
	}
	Discard(res)
	again := req.Clone(req.Context())
	if req.GetBody != nil {
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return c.attempt(again)
}

func (c *Client) attempt(req *http.Request) (*http.Response, error) {
	base, err := c.base()
	if err != nil {
		return nil, closing(req, err)
	}
	if req.URL.Host != c.host {
		return nil, closing(req, fmt.Errorf("a request to %q, expected one to %q", req.URL.Host, c.host))
	}
	proof, err := c.auth.Header(req.Context())
	if err != nil {
		return nil, closing(req, err)
	}
	for _, h := range []http.Header{c.header, proof} {
		for name, values := range h {
			req.Header[name] = values
		}
	}
	if req.Header.Get("Accept-Encoding") == "" {
		req.Header.Set("Accept-Encoding", "identity")
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "bento")
	}
	res, err := base.Do(req)
	if err != nil {
		return nil, c.failed(req.Context(), err)
	}
	if c.dated != nil && res.Header.Get("Age") == "" { // else a cache on the way has kept the answer
		if date, err := http.ParseTime(res.Header.Get("Date")); err == nil {
			c.dated(date)
		}
	}
	return res, nil
}

// closing closes the body of a request that is not sent, as http.Client.Do does.
func closing(req *http.Request, err error) error {
	if req.Body != nil {
		req.Body.Close()
	}
	return err
}

// failed returns the error of a request without its URL: a query may have secrets.
func (c *Client) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", c.host, context.Cause(ctx))
	}
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	return fmt.Errorf("%s: %w", c.host, err)
}

// Forget is Authorizer.Forget, for a protocol that refuses credentials elsewhere than in a status.
func (c *Client) Forget() bool { return c.auth.Forget() }

// Close ends the idle connections.
func (c *Client) Close() error {
	if base, err := c.base(); err == nil {
		base.CloseIdleConnections()
	}
	return nil
}

// Discard closes the body of an answer, and reads what little is left so that the connection can be used again.
func Discard(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, 16<<10)
	res.Body.Close()
}
