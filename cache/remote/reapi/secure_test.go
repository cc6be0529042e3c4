package reapi

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/remotetest"
	"github.com/bentobuild/bento/cache/remote/servertest"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// authority signs certificates, and is trusted by file.
type authority struct {
	file string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	a.file, _ = a.sign(t, &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, Subject: pkix.Name{CommonName: "test"}})
	return a
}

// sign writes a certificate and its key to files. Its first one is its own.
func (a *authority) sign(t *testing.T, cert *x509.Certificate) (file, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert.SerialNumber = big.NewInt(time.Now().UnixNano())
	if cert.NotAfter.IsZero() {
		cert.NotBefore, cert.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	if a.cert == nil {
		a.cert, a.key = cert, key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{file: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file, keyFile
}

func (a *authority) server(t *testing.T) (file, key string) {
	return a.sign(t, &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, DNSNames: []string{"cache.test"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
}

// secure returns a client with TLS.
func secure(t *testing.T, address string, set ...func(*transport.Options)) *Client {
	t.Helper()
	return client(t, address, func(o *Options) {
		o.Transport.Address.Scheme, o.Transport.Trusted = "grpcs", true
		for _, f := range set {
			f(&o.Transport)
		}
	})
}

func ask(t *testing.T, c *Client) error {
	t.Helper()
	_, err := c.Missing(t.Context(), []remote.Digest{remote.Sum([]byte("x"))})
	return err
}

// TestTLS: a real server with TLS that knows its clients by their certificates.
func TestTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	cert, key := a.server(t)
	s := servertest.BazelRemote(t, "--tls_cert_file", cert, "--tls_key_file", key, "--tls_ca_file", a.file)
	mine, secret := a.sign(t, &x509.Certificate{Subject: pkix.Name{CommonName: "ci"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	known := func(o *transport.Options) { o.CA, o.Certificate, o.Key = a.file, mine, secret }
	remotetest.Run(t, func(t *testing.T) remote.Backend { return secure(t, s.GRPC, known) })

	contains(t, ask(t, secure(t, s.GRPC)), "certificate signed by unknown authority; name the certificates")
	if err := ask(t, secure(t, s.GRPC, func(o *transport.Options) { o.CA = a.file })); err == nil {
		t.Error("a client without a certificate is served")
	}
	if err := ask(t, secure(t, s.GRPC, known, func(o *transport.Options) { o.Trusted = false })); err == nil {
		t.Error("the certificate is sent to a server that only the repository names")
	}
}

// TestExpired: the certificate of the server has expired.
func TestExpired(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	cert, key := a.sign(t, &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour)})
	s := servertest.BazelRemote(t, "--tls_cert_file", cert, "--tls_key_file", key)
	contains(t, ask(t, secure(t, s.GRPC, func(o *transport.Options) { o.CA = a.file })), "certificate has expired", "grpcs://127.0.0.1:")
}

// TestPassword: a real server where anyone may read, and only those with a password may write.
func TestPassword(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "htpasswd")
	const hush = "$2y$05$J2bsqdsLOau3tAgF4vpPN.s.nxSFXQ2neVDUQG.DdhahD8/Rs8t0e" // bcrypt of "hush"
	if err := os.WriteFile(file, []byte("ci:"+hush+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := servertest.BazelRemote(t, "--htpasswd_file", file, "--allow_unauthenticated_reads")
	blobs := make(remotetest.Contents)
	for _, n := range []int{100, 3 << 20} {
		blobs.Add(noise(1, n))
	}
	reader := client(t, s.GRPC)
	sent, err := send(t.Context(), reader, blobs)
	if !errors.Is(err, remote.ErrDenied) || len(sent) != 0 {
		t.Errorf("a reader has sent %d blobs: %v", len(sent), err)
	}
	contains(t, err, "check the token, the client certificate or the credential helper")
	if err := reader.PutResult(t.Context(), remote.Sum(nil), nil); !errors.Is(err, remote.ErrDenied) {
		t.Errorf("a reader has put a result: %v", err)
	}
	writer := client(t, s.GRPC, func(o *Options) {
		o.Transport.Trusted, o.Transport.Credentials = true, transport.Credentials{User: "ci", Password: "hush"}
	})
	if sent, err := send(t.Context(), writer, blobs); err != nil || len(sent) != len(blobs) {
		t.Errorf("%d, %v", len(sent), err)
	}
	for d, data := range blobs {
		if got, err := fetchAll(t.Context(), reader, remote.Want{Digest: d}); err != nil || string(got[d]) != string(data) {
			t.Errorf("a reader got %d bytes, %v", len(got[d]), err)
		}
	}
}

// TestTokenExpires: the credential helper is asked again when the server refuses its token, at the beginning of a call
// and in the middle of a stream. Without a helper, that is the end.
func TestTokenExpires(t *testing.T) {
	t.Parallel()
	var good atomic.Int32
	good.Store(1)
	refused := grpcstatus.Error(codes.Unauthenticated, "the token has expired")
	f := &fake{allow: func(ctx context.Context) error {
		md, _ := metadata.FromIncomingContext(ctx)
		if got := md.Get("authorization"); len(got) != 1 || got[0] != fmt.Sprintf("Bearer %d", good.Load()) {
			return refused
		}
		return nil
	}}
	streams := 0
	f.read = func(_ *bytestream.ReadRequest, s bytestream.ByteStream_ReadServer) bool {
		if streams++; streams > 1 {
			return false
		}
		good.Add(1)
		_ = s.Send(&bytestream.ReadResponse{Data: lines(1 << 20)})
		panic(refused)
	}
	address := f.start(t, grpc.ChainStreamInterceptor(func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
		defer func() {
			if recover() != nil {
				err = refused
			}
		}()
		return next(srv, s)
	}))
	dir := t.TempDir()
	helper, seen := filepath.Join(dir, "helper"), filepath.Join(dir, "seen")
	script := "#!/bin/sh\necho \"$1 $(cat)\" >>" + seen + "\nprintf '{\"headers\": {\"Authorization\": [\"Bearer %d\"]}}' \"$(wc -l <" + seen + ")\"\n"
	if err := os.WriteFile(helper, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c := client(t, address, func(o *Options) {
		o.Transport.Trusted = true
		o.Transport.Credentials = transport.Credentials{Helper: []string{helper}, Env: os.Environ()}
	})
	d := f.put(lines(4 << 20))
	if err := ask(t, c); err != nil {
		t.Fatal(err)
	}
	good.Add(1)
	if err := ask(t, c); err != nil {
		t.Errorf("with an expired token: %v", err)
	}
	if got, err := fetchAll(t.Context(), c, remote.Want{Digest: d}); err != nil || int64(len(got[d])) != d.Size || streams != 2 {
		t.Errorf("%d bytes of %d streams, %v", len(got[d]), streams, err)
	}
	good.Add(1)
	blobs := make(remotetest.Contents)
	blobs.Add(noise(1, 3<<20))
	if sent, err := send(t.Context(), c, blobs); err != nil || len(sent) != 1 {
		t.Errorf("an upload with an expired token: %d, %v", len(sent), err)
	}
	data, err := os.ReadFile(seen)
	if err != nil || strings.Count(string(data), "get {\"uri\":") != 4 {
		t.Errorf("the helper was asked: %v\n%s", err, data)
	}

	fixed := client(t, address, func(o *Options) {
		o.Transport.Trusted, o.Transport.Credentials.Token = true, "old"
	})
	if err := ask(t, fixed); !errors.Is(err, remote.ErrDenied) || strings.Contains(err.Error(), "old") {
		t.Errorf("%v", err)
	}
}

// TestRestart: the next call after the server was restarted succeeds.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := servertest.BazelRemote(t)
	c := client(t, s.GRPC)
	if err := ask(t, c); err != nil {
		t.Fatal(err)
	}
	s.Stop()
	contains(t, ask(t, c), "connection refused")
	s.Start(t)
	if err := ask(t, c); err != nil {
		t.Error(err)
	}
}

// TestWrongPort: the message of what is no server of the API says so.
func TestWrongPort(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	cert, key := a.server(t)
	plain, withTLS := servertest.BazelRemote(t), servertest.BazelRemote(t, "--tls_cert_file", cert, "--tls_key_file", key)
	contains(t, ask(t, client(t, plain.HTTP)), "check the port: the server ", "not speak gRPC at this one") // "may" if the connection is reset before the answer is read
	contains(t, ask(t, secure(t, plain.GRPC)), "the server has no TLS at this port")
	contains(t, ask(t, secure(t, withTLS.HTTP, func(o *transport.Options) { o.CA = a.file })), "check that this is the address of a server of the Remote Execution API")
	contains(t, ask(t, client(t, "localhost:1")), "grpc://localhost:1: GetCapabilities: dial tcp")
}

// TestOneConnection: a hundred calls at once share a connection.
func TestOneConnection(t *testing.T) {
	t.Parallel()
	f := &fake{}
	to := f.start(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var connections atomic.Int32
	go relay(l, to, &connections)
	c := client(t, l.Addr().String())
	var calls sync.WaitGroup
	for i := range 100 {
		calls.Go(func() {
			if _, err := c.Result(t.Context(), remote.Sum(fmt.Append(nil, i))); !errors.Is(err, remote.ErrMiss) {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// relay passes on connections until the listener is closed.
func relay(l net.Listener, to string, connections *atomic.Int32) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		connections.Add(1)
		go join(conn, to)
	}
}

func join(conn net.Conn, to string) {
	defer conn.Close()
	other, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	go func() { _, _ = io.Copy(other, conn); other.Close() }()
	_, _ = io.Copy(conn, other)
}

// TestIPv6: the address of a server may be one of IPv6.
func TestIPv6(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6: %v", err)
	}
	defer l.Close()
	var connections atomic.Int32
	f := &fake{}
	go relay(l, f.start(t), &connections)
	if err := ask(t, client(t, l.Addr().String())); err != nil || connections.Load() != 1 {
		t.Errorf("%v, %d connections", err, connections.Load())
	}
}

// TestProxy: the environment names a proxy, through which the client tunnels. net/http reads the environment once, so
// another process is the client.
func TestProxy(t *testing.T) {
	if address := os.Getenv("BENTO_TEST_PROXIED"); address != "" {
		err := ask(t, secure(t, address, func(o *transport.Options) { o.CA = os.Getenv("BENTO_TEST_CA") }))
		if err != nil {
			t.Error(err)
		}
		return
	}
	t.Parallel()
	a := newAuthority(t)
	cert, key := a.server(t)
	s := servertest.BazelRemote(t, "--tls_cert_file", cert, "--tls_key_file", key)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := make(chan string, 10)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			req, err := http.ReadRequest(bufio.NewReader(conn))
			if err != nil {
				conn.Close()
				continue
			}
			asked <- req.Method + " " + req.Host
			fmt.Fprint(conn, "HTTP/1.1 200 Connected\r\n\r\n")
			go join(conn, s.GRPC)
		}
	}()
	_, port, _ := net.SplitHostPort(s.GRPC)
	kid := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxy$", "-test.v")
	proxy := (&url.URL{Scheme: "http", Host: l.Addr().String()}).String()
	kid.Env = append(os.Environ(), "BENTO_TEST_PROXIED=cache.test:"+port, "BENTO_TEST_CA="+a.file, "HTTPS_PROXY="+proxy, "NO_PROXY=", "https_proxy=", "no_proxy=")
	if out, err := kid.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := <-asked; got != "CONNECT cache.test:"+port {
		t.Errorf("the proxy is asked for %q", got)
	}
}
