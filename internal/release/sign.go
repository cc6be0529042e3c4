package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"aead.dev/minisign"
)

// keys are the files of private keys, "" for none.
type keys struct{ minisign, ecdsa string }

func readResult(dir, name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name)) }

// sign signs the checksums with the keys that were named. Signatures hold random numbers or times: only they
// differ between two builds of a version.
func (r *release) sign(context.Context) error {
	data, err := readResult(r.out, sumsName)
	if err != nil {
		return err
	}
	if r.keys.minisign != "" {
		key, err := minisign.PrivateKeyFromFile(os.Getenv("BENTO_MINISIGN_PASSWORD"), r.keys.minisign)
		if err != nil {
			return fmt.Errorf("-minisign: read %q: %w", r.keys.minisign, err)
		}
		trusted := "bento " + r.version + " " + sumsName
		if err := r.write(sumsName+".minisig", minisign.SignWithComments(key, data, trusted, "signature of bento")); err != nil {
			return err
		}
	}
	if r.keys.ecdsa == "" {
		return nil
	}
	key, err := readECDSA(r.keys.ecdsa)
	if err != nil {
		return fmt.Errorf("-cosign: %w", err)
	}
	digest := sha256.Sum256(data)
	sig, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		return err
	}
	return r.write(sumsName+".sig", []byte(base64.StdEncoding.EncodeToString(sig)+"\n"))
}

// readECDSA returns the P-256 key of a PEM file, in PKCS #8 or SEC 1.
func readECDSA(path string) (*ecdsa.PrivateKey, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	wrong := fmt.Errorf("%q: expected an unencrypted P-256 key, as openssl ecparam -name prime256v1 -genkey -noout prints it", path)
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		var key *ecdsa.PrivateKey
		switch block.Type {
		case "EC PRIVATE KEY":
			key, err = x509.ParseECPrivateKey(block.Bytes)
		case "PRIVATE KEY":
			var parsed any
			parsed, err = x509.ParsePKCS8PrivateKey(block.Bytes)
			key, _ = parsed.(*ecdsa.PrivateKey)
		default:
			continue
		}
		if err != nil || key == nil || key.Curve != elliptic.P256() {
			return nil, errors.Join(wrong, err)
		}
		return key, nil
	}
	return nil, wrong
}
