package transport

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/internal/proc"
)

// Credentials are what a client identifies itself with. At most one of Token, User and Helper is used: the first that
// is set.
type Credentials struct {
	Token          string // sent as "Authorization: Bearer"
	User, Password string // sent as "Authorization: Basic"

	// Helper is the command line of a credential helper, which speaks Bazel's protocol: "get" is added to it, it
	// reads {"uri": …} and prints {"headers": {NAME: [VALUE]}, "expires": TIME}. Its first word is an absolute path.
	Helper []string
	Env    []string // the helper's whole environment
	Dir    string   // its working directory; "": this process's
}

func (c *Credentials) check() error {
	if len(c.Helper) > 0 && !filepath.IsAbs(c.Helper[0]) {
		return fmt.Errorf("the credential helper %q is no absolute path", c.Helper[0])
	}
	if strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fmt.Errorf("the token of the remote cache has a blank or a control character")
	}
	return nil
}

// Bounds of a credential helper.
const (
	helperTime   = 10 * time.Second
	helperOutput = 64 << 10        // bytes
	helperKeep   = 5 * time.Minute // answers without a time of expiry
	helperEarly  = 10 * time.Second
	helperFailed = time.Second // for requests that have waited for the same answer
)

// Authorizer makes the headers by which a client identifies itself. It is safe for concurrent use.
type Authorizer struct {
	uri    string
	fixed  http.Header
	helper *Credentials
	turn   chan struct{} // the right to ask the helper and to set answer
	answer atomic.Pointer[proof]
}

// proof is what a helper has answered.
type proof struct {
	header  http.Header
	err     error // that the helper has failed
	expires time.Time
}

// Authorizer returns the authorizer of the options, which does nothing unless they are Trusted.
func (o *Options) Authorizer() *Authorizer {
	a := &Authorizer{turn: make(chan struct{}, 1)}
	c := o.Credentials
	if !o.Trusted {
		return a
	}
	if u := o.Address.User; u != nil && c.Token == "" && c.User == "" {
		c.User = u.Username()
		c.Password, _ = u.Password()
	}
	switch {
	case c.Token != "":
		a.fixed = http.Header{"Authorization": {"Bearer " + c.Token}}
	case c.User != "" || c.Password != "":
		a.fixed = http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(c.User+":"+c.Password))}}
	case len(c.Helper) > 0:
		a.uri, a.helper = (&url.URL{Scheme: o.Address.Scheme, Host: o.Address.Host, Path: o.Address.Path}).String(), &c
	}
	return a
}

// Header returns the headers to send with a request, which the caller does not change. It starts the credential helper
// unless its last answer is valid.
func (a *Authorizer) Header(ctx context.Context) (http.Header, error) {
	if a.helper == nil {
		return a.fixed, nil
	}
	if p := a.valid(); p != nil {
		return p.header, p.err
	}
	defer remote.Pause(ctx)() // the helper has its own time
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if p := a.valid(); p != nil { // of a request that had the turn before
		return p.header, p.err
	}
	p, err := a.ask(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		p = &proof{err: fmt.Errorf("the credential helper %s: %w", filepath.Base(a.helper.Helper[0]), err), expires: time.Now().Add(helperFailed)}
	}
	a.answer.Store(p)
	return p.header, p.err
}

func (a *Authorizer) valid() *proof {
	if p := a.answer.Load(); p != nil && time.Now().Before(p.expires) {
		return p
	}
	return nil
}

// Forget reports whether a refused request can succeed with a new answer of the credential helper, which the next
// request asks for. It does nothing without a helper.
func (a *Authorizer) Forget() bool {
	if a.helper == nil {
		return false
	}
	a.answer.Store(nil)
	return true
}

// ask runs the credential helper.
func (a *Authorizer) ask(ctx context.Context) (*proof, error) {
	question, err := json.Marshal(map[string]string{"uri": a.uri})
	if err != nil {
		return nil, err
	}
	out, complaint, res, err := proc.Output(ctx, proc.Spec{
		Argv: append(append([]string(nil), a.helper.Helper...), "get"), Dir: a.helper.Dir, Env: a.helper.Env,
		Stdin: bytes.NewReader(question), Timeout: helperTime, Grace: time.Second,
	}, helperOutput)
	switch {
	case err != nil:
		return nil, err
	case res.TimedOut:
		return nil, fmt.Errorf("timed out after %v", helperTime)
	case res.Canceled:
		return nil, context.Cause(ctx)
	case res.ExitCode != 0:
		return nil, fmt.Errorf("exited with status %d: %s", res.ExitCode, Line(string(complaint)))
	}
	return parseProof(out, time.Now())
}

// parseProof reads the answer of a credential helper.
func parseProof(data []byte, now time.Time) (*proof, error) {
	var doc struct {
		Headers map[string][]string `json:"headers"`
		Expires string              `json:"expires"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("its answer is no JSON with headers") // without the text, which has secrets
	}
	p := &proof{header: make(http.Header), expires: now.Add(helperKeep)}
	for name, values := range doc.Headers {
		if err := checkHeader(name, values); err != nil {
			return nil, err
		}
		p.header[http.CanonicalHeaderKey(name)] = values
	}
	if doc.Expires != "" {
		at, err := time.Parse(time.RFC3339, doc.Expires)
		if err != nil {
			return nil, fmt.Errorf("its answer expires at %.40q, expected a time such as 2006-01-02T15:04:05Z", doc.Expires)
		}
		p.expires = at.Add(-helperEarly)
	}
	return p, nil
}
