package transport

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache/remote"
)

func address(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func client(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func get(t *testing.T, c *Client, where string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, where, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Do(req)
}

// TestPlainTextStaysHere: only this machine is reached without TLS.
func TestPlainTextStaysHere(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{
		"http://127.0.0.1:80": true, "http://[::1]:80": true, "http://localhost": true, "http://LOCALHOST.:8080/x": true, "http://cache.localhost": true,
		"http://[::ffff:127.0.0.1]": true, "https://cache.example": true,
		"http://cache.example": false, "http://10.0.0.1": false, "http://localhost.example": false, "http://127.0.0.1.example": false, "http://0.0.0.0": false,
		"ftp://127.0.0.1": false, "https://": false, "https://:443": false, "": false,
	} {
		if _, err := New(Options{Address: address(t, text)}); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestAgents: a cloud's agent has no TLS, and an address that does not leave the machine.
func TestAgents(t *testing.T) {
	t.Parallel()
	for text, good := range map[string]bool{"http://169.254.170.2/v2": true, "http://169.254.169.254": true, "http://[fd00:ec2::254]": true, "http://[fe80::1]": true, "http://127.0.0.1": true,
		"http://10.0.0.1": false, "http://agent.example": false, "http://[fd00:ec3::254]": false} {
		if _, err := New(Options{Address: address(t, text), Agent: true}); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := New(Options{Address: address(t, text)}); good && text != "http://127.0.0.1" && err == nil {
			t.Errorf("%s, which is no agent: %v", text, err)
		}
	}
}

func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	u := address(t, "https://user:hush@cache.example")
	for name, o := range map[string]Options{
		"half a certificate": {Certificate: "/c.pem"},
		"a header of ours":   {Header: http.Header{"content-length": {"1"}}},
		"a header's end":     {Header: http.Header{"X-A": {"1\r\nX-B: 2"}}},
		"no name":            {Header: http.Header{"X A": {"1"}}},
		"a relative helper":  {Credentials: Credentials{Helper: []string{"helper"}}},
		"a token's end":      {Credentials: Credentials{Token: "a\nb"}},
	} {
		o.Address = u
		if _, err := New(o); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCredentialsNeedTrust: a host that only the repository names gets no credential.
func TestCredentialsNeedTrust(t *testing.T) {
	t.Parallel()
	var got atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.Header.Get("Authorization") + "|" + r.Header.Get("X-Team"))
	}))
	defer s.Close()
	u := address(t, s.URL)
	withUser := *u
	withUser.User = url.UserPassword("me", "hush")
	for name, c := range map[string]struct {
		o    Options
		want string
	}{
		"untrusted":         {Options{Address: &withUser, Credentials: Credentials{Token: "hush"}, Header: http.Header{"X-Team": {"a"}}}, "|a"},
		"token":             {Options{Address: u, Trusted: true, Credentials: Credentials{Token: "hush"}}, "Bearer hush|"},
		"password":          {Options{Address: u, Trusted: true, Credentials: Credentials{User: "me", Password: "hush"}}, "Basic bWU6aHVzaA==|"},
		"of the address":    {Options{Address: &withUser, Trusted: true}, "Basic bWU6aHVzaA==|"},
		"token over a user": {Options{Address: &withUser, Trusted: true, Credentials: Credentials{Token: "hush"}}, "Bearer hush|"},
	} {
		res, err := get(t, client(t, c.o), s.URL)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		Discard(res)
		if got.Load() != c.want {
			t.Errorf("%s: the server got %q, want %q", name, got.Load(), c.want)
		}
	}
	c := client(t, Options{Address: u, Trusted: true, Credentials: Credentials{Token: "hush"}})
	if _, err := get(t, c, "http://127.0.0.1:1/"); err == nil || !strings.Contains(err.Error(), "expected one to") {
		t.Errorf("another host: %v", err)
	}
}

// TestRedirects: a redirect is an answer, or is followed without anything that identifies the client.
func TestRedirects(t *testing.T) {
	t.Parallel()
	var got atomic.Value
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.Header.Get("Authorization") + "|" + r.Header.Get("X-Team") + "|" + r.Header.Get("Range"))
	}))
	defer other.Close()
	to := atomic.Value{}
	to.Store(other.URL + "/blob")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to.Load().(string), http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	o := Options{Address: address(t, s.URL), Trusted: true, Credentials: Credentials{Token: "hush"}, Header: http.Header{"X-Team": {"a"}}}
	res, err := get(t, client(t, o), s.URL)
	if err != nil || res.StatusCode != http.StatusTemporaryRedirect {
		t.Fatalf("not asked to follow: %v, %v", res, err)
	}
	Discard(res)

	o.Redirects = true
	c := client(t, o)
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	req.Header.Set("Range", "bytes=1-")
	if res, err = c.Do(req); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("followed: %v, %v", res, err)
	}
	Discard(res)
	if got.Load() != "||bytes=1-" {
		t.Errorf("the second server got %q", got.Load())
	}
	req, _ = http.NewRequestWithContext(t.Context(), http.MethodPut, s.URL, strings.NewReader("x"))
	if res, err = c.Do(req); err != nil || res.StatusCode != http.StatusTemporaryRedirect {
		t.Errorf("a PUT was redirected: %v, %v", res, err)
	} else {
		Discard(res)
	}
	for _, where := range []string{"http://cache.example/", "ftp://127.0.0.1/", s.URL} {
		to.Store(where)
		if _, err := get(t, c, s.URL); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("a redirect to %s: %v", where, err)
		}
	}
}

// pemFile writes a certificate, and a key unless it is nil.
func pemFile(t *testing.T, cert []byte, key *ecdsa.PrivateKey) (certificate, secret string) {
	t.Helper()
	dir := t.TempDir()
	certificate, secret = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err := os.WriteFile(certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600); err != nil {
		t.Fatal(err)
	}
	if key != nil {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(secret, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, secret
}

// TestTLS: the server is checked by the given certificates, the client is identified by its own, and HTTP/2 is used.
func TestTLS(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	mine, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	var seen atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(int32(len(r.TLS.PeerCertificates)))
		io.WriteString(w, r.Proto)
	}))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	defer s.Close()
	ca, _ := pemFile(t, s.Certificate().Raw, nil)
	certificate, secret := pemFile(t, mine, key)
	u := address(t, s.URL)

	if _, err := get(t, client(t, Options{Address: u}), s.URL); err == nil {
		t.Error("a server with an unknown certificate is accepted")
	}
	for _, trusted := range []bool{false, true} {
		res, err := get(t, client(t, Options{Address: u, CA: ca, Certificate: certificate, Key: secret, Trusted: trusted}), s.URL)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := Small(res, 100); err != nil || string(text) != "HTTP/2.0" {
			t.Errorf("%q, %v", text, err)
		}
		if (seen.Load() == 1) != trusted {
			t.Errorf("trusted %v: the server has seen %d certificates", trusted, seen.Load())
		}
	}
	for name, o := range map[string]Options{
		"no file":     {CA: ca + "x"},
		"no PEM":      {CA: secret},
		"a directory": {CA: filepath.Dir(ca)},
		"no key":      {CA: ca, Certificate: certificate, Key: ca, Trusted: true},
	} {
		o.Address = u
		if _, err := get(t, client(t, o), s.URL); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestPlainHTTP2: gRPC's HTTP/2 needs no TLS on this machine.
func TestPlainHTTP2(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	defer s.Close()
	res, err := get(t, client(t, Options{Address: address(t, s.URL), HTTP2: true}), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := Small(res, 100); err != nil || string(text) != "HTTP/2.0" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestSilentHandshake: a server that accepts and is silent costs what Connect allows, and a cancelled request ends.
func TestSilentHandshake(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u := address(t, "https://"+l.Addr().String())
	if _, err := get(t, client(t, Options{Address: u, Connect: 20 * time.Millisecond}), u.String()); err == nil || !strings.Contains(err.Error(), u.Host) {
		t.Errorf("%v", err)
	}
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if _, err := client(t, Options{Address: u}).Do(req); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	var status atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", r.URL.Query().Get("after"))
		w.WriteHeader(int(status.Load()))
		io.WriteString(w, "\x1b[31mno\x00 way\nat all")
	}))
	defer s.Close()
	c := client(t, Options{Address: address(t, s.URL)})
	for code, want := range map[int]error{404: remote.ErrMiss, 410: remote.ErrMiss, 401: remote.ErrDenied, 403: remote.ErrDenied, 413: remote.ErrFull, 507: remote.ErrFull,
		400: nil, 301: nil, 407: nil, 429: nil, 500: nil, 503: nil} {
		status.Store(int32(code))
		res, err := get(t, c, s.URL+"/?after=7")
		if err != nil {
			t.Fatal(err)
		}
		err = Expect(res, http.StatusOK)
		var r *Refusal
		if !errors.As(err, &r) || r.RetryAfter() != 7*time.Second || !strings.Contains(err.Error(), "([31mno way)") {
			t.Errorf("%d: %q", code, err)
		}
		for _, is := range []error{remote.ErrMiss, remote.ErrDenied, remote.ErrFull} {
			if errors.Is(err, is) != (is == want) {
				t.Errorf("%d: %v is %v: %v", code, err, is, errors.Is(err, is))
			}
		}
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{"": 0, "x": 0, "-3": 0, "5": 5 * time.Second, "99999999999999": time.Hour,
		"Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second, "Fri, 02 Jan 2026 03:04:00 GMT": 0, "Fri, 02 Jan 2099 03:04:00 GMT": time.Hour} {
		if got := wait(text, now); got != want {
			t.Errorf("Retry-After %q: %v, want %v", text, got, want)
		}
	}
}

// TestBodies: an answer is as long as expected, begins where it was asked to, and is not compressed.
func TestBodies(t *testing.T) {
	t.Parallel()
	const whole = "0123456789"
	answer := func(status int, header, body string) *http.Response {
		w := httptest.NewRecorder()
		for _, line := range strings.Split(header, "\n") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				w.Header().Set(name, value)
			}
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
		return w.Result()
	}
	for name, c := range map[string]struct {
		res  *http.Response
		from int64
		want string
	}{
		"whole":           {answer(200, "Content-Length: 10", whole), 0, whole},
		"length unknown":  {answer(200, "", whole), 0, whole},
		"range":           {answer(206, "Content-Range: bytes 4-9/10\nContent-Length: 6", whole[4:]), 4, whole[4:]},
		"range ignored":   {answer(200, "Content-Length: 10", whole), 4, whole[4:]},
		"another start":   {answer(206, "Content-Range: bytes 3-9/10", whole[3:]), 4, ""},
		"another size":    {answer(206, "Content-Range: bytes 4-10/11", whole[4:]+"x"), 4, ""},
		"no range":        {answer(206, "", whole[4:]), 4, ""},
		"too long":        {answer(200, "Content-Length: 11", whole+"x"), 0, ""},
		"too short":       {answer(200, "Content-Length: 9", whole[:9]), 0, ""},
		"ends before it":  {answer(200, "", whole[:3]), 4, ""},
		"a range's error": {answer(206, "Content-Range: bytes */10", ""), 4, ""},
	} {
		body, err := From(c.res, c.from, int64(len(whole)))
		if err != nil {
			if c.want != "" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		text, err := io.ReadAll(body)
		body.Close()
		if err != nil || string(text) != c.want {
			t.Errorf("%s: %q, %v, want %q", name, text, err, c.want)
		}
	}
	if err := Expect(answer(200, "Content-Encoding: gzip", "x"), 200); err == nil || !strings.Contains(err.Error(), "gzip") {
		t.Errorf("a compressed answer: %v", err)
	}
	for _, header := range []string{"", "Content-Length: 10"} {
		if text, err := Small(answer(200, header, whole), 9); err == nil {
			t.Errorf("more than the limit: %q", text)
		}
	}
}
