// Package reapi is a client of the Remote Execution API v2: a remote.Backend over its action cache and its content-addressed
// storage, and the execution of actions. It writes gRPC's frames onto the HTTP/2 of net/http, since a library for gRPC would make every start of
// bento slower.
package reapi

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// Options describe a server. The zero value of each field but Transport.Address is useful.
type Options struct {
	// Transport is the way to the server. Its Address has the scheme grpc or grpcs; the path is the name of the
	// instance, unless Instance is set. HTTP2 and Redirects are ignored.
	Transport transport.Options
	Instance  string // the name of the instance, of those that the server has; "": the one without a name
	Function  Function

	// Sender names the sender of blobs: that of an interrupted process sends the rest of a large blob. No two
	// processes send under one name at once. "": a new name.
	Sender string

	First time.Duration // the longest wait for an answer, once the server has the question; 0: 1s
	Idle  time.Duration // the longest pause within an answer or a question; 0: 5s
	Quiet time.Duration // the longest pause of an execution until the server is asked whether it is alive; 0: 60s
}

// Defaults of Options.
const (
	defaultFirst = time.Second
	defaultIdle  = 5 * time.Second
	defaultQuiet = time.Minute
)

// Client is a remote.Backend. It opens no connection before the first call.
type Client struct {
	http        *transport.Client
	scheme      string // of HTTP
	host        string
	name        string // of the server in messages
	instance    string
	function    Function
	sender      string
	first, idle time.Duration
	quiet       time.Duration

	pool pool

	mu     sync.Mutex
	known  *capabilities // nil before the server was asked
	asking *asking       // nil if it is not being asked
}

var _ remote.Backend = (*Client)(nil)

// Open checks the options and returns a client of a server.
func Open(o Options) (*Client, error) {
	u := o.Transport.Address
	if u == nil || u.Scheme != "grpc" && u.Scheme != "grpcs" {
		return nil, fmt.Errorf("the address of the remote cache is %v, expected grpcs://HOST", u)
	}
	address := *u
	address.Scheme, address.Path = "https", ""
	if u.Scheme == "grpc" {
		address.Scheme = "http"
	}
	o.Transport.Address, o.Transport.HTTP2, o.Transport.Redirects = &address, true, false
	client, err := transport.New(o.Transport)
	if err != nil {
		return nil, err
	}
	instance := cmp.Or(o.Instance, strings.Trim(u.Path, "/"))
	if err := checkInstance(instance); err != nil {
		return nil, err
	}
	return &Client{
		http: client, scheme: address.Scheme, host: address.Host, name: u.Scheme + "://" + u.Host, instance: instance,
		function: o.Function, sender: cmp.Or(o.Sender, rand.Text()),
		first: cmp.Or(o.First, defaultFirst), idle: cmp.Or(o.Idle, defaultIdle), quiet: cmp.Or(o.Quiet, defaultQuiet),
	}, nil
}

// checkInstance refuses the names that the API forbids, since they would make names of resources ambiguous.
func checkInstance(name string) error {
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "blobs", "uploads", "actions", "actionResults", "operations", "capabilities", "compressed-blobs":
			return fmt.Errorf("the instance %q of the remote cache has the part %q, which the Remote Execution API reserves", name, part)
		}
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("the instance %q of the remote cache is not UTF-8", name)
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("the instance %q of the remote cache has a control character", name)
	}
	return nil
}

// Close ends the connections.
func (c *Client) Close() error { return c.http.Close() }
