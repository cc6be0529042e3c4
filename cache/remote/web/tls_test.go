package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/servertest"
	"github.com/bentobuild/bento/cache/remote/transport"
)

// certificate writes a certificate that signs itself, for this machine as a server and as a client, and its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
}

// TestCertificates: the real server with TLS serves a client with a certificate, and no other.
func TestCertificates(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	s := servertest.BazelRemote(t, "--tls_cert_file", cert, "--tls_key_file", key, "--tls_ca_file", cert)
	all, digests := texts("a", "b")
	for name, c := range map[string]struct {
		change func(*transport.Options)
		good   bool
	}{
		"certificate":  {func(o *transport.Options) { o.CA, o.Certificate, o.Key = cert, cert, key }, true},
		"untrusted":    {func(o *transport.Options) { o.CA, o.Certificate, o.Key, o.Trusted = cert, cert, key, false }, false},
		"none":         {func(o *transport.Options) { o.CA = cert }, false},
		"no authority": {func(o *transport.Options) { o.Certificate, o.Key = cert, key }, false},
	} {
		b := open(t, "https://"+s.HTTP, c.change)
		n, err := all.send(t.Context(), b, digests...)
		if (err == nil) != c.good || (n == 2) != c.good {
			t.Errorf("%s: %d sent, %v", name, n, err)
		}
		if errors.Is(err, remote.ErrMiss) || errors.Is(err, remote.ErrFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
