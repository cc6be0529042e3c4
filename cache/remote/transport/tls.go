package transport

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"os"
	"syscall"
)

// maxPEM is the largest size of a file with certificates or a key, in bytes.
const maxPEM = 1 << 20

// TLS returns the configuration of TLS. It reads the certificates that vouch for the server; those of the client are
// read at each handshake, since short-lived ones change.
func (o *Options) TLS() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CA != "" {
		data, err := readFile(o.CA, maxPEM)
		if err != nil {
			return nil, fmt.Errorf("the certificates of the remote cache: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("%q has no PEM certificate", o.CA)
		}
	}
	if o.Certificate != "" && o.Trusted {
		certificate, key := o.Certificate, o.Key
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return keyPair(certificate, key)
		}
	}
	return config, nil
}

func keyPair(certificate, key string) (*tls.Certificate, error) {
	cert, err := readFile(certificate, maxPEM)
	if err != nil {
		return nil, fmt.Errorf("the client certificate of the remote cache: %w", err)
	}
	secret, err := readFile(key, maxPEM)
	if err != nil {
		return nil, fmt.Errorf("the key of the client certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, secret)
	if err != nil {
		return nil, fmt.Errorf("%q and %q: %w", certificate, key, err)
	}
	return &pair, nil
}

// readFile reads a regular file of at most limit bytes.
func readFile(name string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, cmp.Or(err, fmt.Errorf("%q is no regular file", name))
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%q has more than %d bytes", name, limit)
	}
	return data, err
}
