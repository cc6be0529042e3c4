// Package place decides where results belong: to which server, to which class of machines, and to which scope.
package place

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"strings"
)

// Kind is the protocol of a server.
type Kind int

// The kinds.
const (
	REAPI     Kind = iota + 1 // the Remote Execution API, over gRPC
	HTTP                      // PUT and GET below /ac and /cas, as Bazel
	Turborepo                 // artifacts of Turborepo's HTTP API
	S3                        // objects of a bucket
	Directory                 // files of a directory, such as a network share
)

// Endpoint is a server for results.
type Endpoint struct {
	Kind Kind
	TLS  bool
	Host string // with its port; "" for a Directory, and for S3 without Service
	// Path is the name of the instance of a REAPI, the path of an HTTP server, both without slashes at their ends, the prefix in a
	// bucket, or the absolute path of a Directory.
	Path    string
	Bucket  string // of S3
	Team    string // of Turborepo; "" for none
	Service string // URL of the S3 service; "" for Amazon's
}

// schemes are the forms of an endpoint.
const schemes = "grpcs://HOST[:PORT][/INSTANCE] or grpc:// (REAPI), https://HOST[:PORT][/PATH] or http:// (Bazel's /ac and /cas), " +
	"turborepo+https://HOST[:PORT][?team=TEAM] or turborepo+http://, s3://BUCKET[/PREFIX], file:///DIRECTORY"

// Error reports an endpoint that cannot be used.
type Error struct {
	Reason string // such as "has no host"
	Hint   string // what to write
}

func (e *Error) Error() string { return "remote cache: the URL " + e.Reason }

func wrong(hint, format string, args ...any) error {
	return &Error{Reason: fmt.Sprintf(format, args...), Hint: cmp.Or(hint, "use one of "+schemes)}
}

// ParseEndpoint reads the URL of a server. It returns an *Error, which never contains a password of the URL.
func ParseEndpoint(text string) (*Endpoint, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return nil, wrong("", "is not valid") // err has all of it
	case u.User != nil:
		return nil, wrong("set a token by remote_token_env or a credential helper", "contains credentials")
	case u.Fragment != "" || u.Opaque != "":
		return nil, wrong("", "is not valid")
	}
	e := &Endpoint{}
	switch u.Scheme {
	case "grpc", "grpcs":
		e.Kind, e.TLS = REAPI, u.Scheme == "grpcs"
	case "http", "https":
		e.Kind, e.TLS = HTTP, u.Scheme == "https"
	case "turborepo+http", "turborepo+https":
		e.Kind, e.TLS = Turborepo, u.Scheme == "turborepo+https"
	case "s3":
		return e, e.parseBucket(u)
	case "file":
		return e, e.parseDirectory(u)
	case "":
		return nil, wrong("", "has no scheme")
	default:
		return nil, wrong("", "has the unknown scheme %q", u.Scheme)
	}
	if err := e.parseQuery(u); err != nil {
		return nil, err
	}
	e.Path = strings.Trim(u.Path, "/")
	e.Host, err = hostOf(u, e.TLS)
	return e, err
}

// hostOf returns host and port of a URL. Without TLS only this machine is accepted: tokens and content would cross the network for
// all to read and change.
func hostOf(u *url.URL, tls bool) (string, error) {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "" || strings.ContainsAny(host, " %") {
		return "", wrong("", "has no host")
	}
	port := u.Port()
	switch {
	case port == "" && tls:
		port = "443"
	case port == "":
		port = "80"
	}
	if !tls && !isLoopback(host) {
		return "", wrong("use "+strings.TrimSuffix(u.Scheme, "s")+"s://, or a tunnel to localhost", "has no encryption, which is accepted for localhost only")
	}
	return net.JoinHostPort(host, port), nil
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

func (e *Endpoint) parseQuery(u *url.URL) error {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return wrong("", "has a query that is not valid")
	}
	for name := range query {
		if e.Kind != Turborepo || name != "team" {
			return wrong("", "has the unknown parameter %q", name)
		}
	}
	e.Team = query.Get("team")
	return nil
}

func (e *Endpoint) parseBucket(u *url.URL) error {
	e.Kind, e.TLS, e.Bucket, e.Path = S3, true, u.Host, strings.Trim(u.Path, "/")
	ok := len(e.Bucket) >= 3 && len(e.Bucket) <= 63
	for _, c := range []byte(e.Bucket) {
		ok = ok && (c == '-' || c == '.' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z')
	}
	if !ok {
		return wrong("", "has no name of a bucket")
	}
	if u.RawQuery != "" {
		return wrong("set remote_region and remote_endpoint in [cache]", "has parameters")
	}
	return nil
}

func (e *Endpoint) parseDirectory(u *url.URL) error {
	e.Kind, e.TLS, e.Path = Directory, true, path.Clean(u.Path)
	switch {
	case u.Host != "":
		return wrong("write three slashes, file:///DIRECTORY", "has the host %q", u.Host)
	case u.RawQuery != "" || strings.ContainsRune(u.Path, 0) || !path.IsAbs(u.Path) || e.Path == "/":
		return wrong("", "has no absolute path of a directory")
	}
	return nil
}

// SetService sets the URL of the S3 service.
func (e *Endpoint) SetService(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return &Error{Reason: "of remote_endpoint is not valid", Hint: "use https://HOST[:PORT]"}
	}
	tls := u.Scheme == "https"
	host, err := hostOf(u, tls)
	if err != nil {
		return err
	}
	e.Host, e.TLS = host, tls
	e.Service = u.Scheme + "://" + host + strings.TrimSuffix(u.Path, "/")
	return nil
}

// Origin returns the name of what receives requests: host and port, the bucket and its service, or the directory.
func (e *Endpoint) Origin() string {
	switch e.Kind {
	case S3:
		return "s3:" + e.Bucket + "@" + cmp.Or(e.Host, "amazon")
	case Directory:
		return "file:" + e.Path
	}
	return e.Host
}

// Known reports whether the user has named the server of e: own are those of the user's own configuration and environment. A server
// that only the repository names receives no credentials: the repository may be anyone's. What needs none can be written there.
func (e *Endpoint) Known(own ...*Endpoint) bool {
	for _, o := range own {
		if o != nil && o.Origin() == e.Origin() && (e.TLS || !o.TLS) {
			return true
		}
	}
	return false
}

// String returns the URL, in one form for equal endpoints.
func (e *Endpoint) String() string {
	tail := ""
	if e.Path != "" {
		tail = "/" + strings.TrimPrefix((&url.URL{Path: e.Path}).EscapedPath(), "/")
	}
	secure := ""
	if e.TLS {
		secure = "s"
	}
	switch e.Kind {
	case REAPI:
		return "grpc" + secure + "://" + e.Host + tail
	case HTTP:
		return "http" + secure + "://" + e.Host + tail
	case Turborepo:
		if e.Team != "" {
			tail += "?team=" + url.QueryEscape(e.Team)
		}
		return "turborepo+http" + secure + "://" + e.Host + tail
	case S3:
		return "s3://" + e.Bucket + tail
	}
	return "file://" + tail
}

// errNoFile is the error of an absent description of a machine or a job.
var errNoFile = errors.New("not a file that can be read")
