// Package seal checks the detached signatures of packages: those of minisign, and those of cosign
// that were made with a key.
package seal

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"

	"aead.dev/minisign"
)

// The suffixes of the files with signatures, behind the name of the signed file.
const (
	Minisign = ".minisig" // minisign -S
	Cosign   = ".sig"     // cosign sign-blob --key
)

// MaxSize is the largest size of a signature in bytes.
const MaxSize = 16 << 10

// Key is a public key that the user trusts.
type Key struct {
	Name string
	mini minisign.PublicKey
	pub  crypto.PublicKey // of cosign: *ecdsa.PublicKey or ed25519.PublicKey; nil for minisign
}

// Fingerprint returns a digest of the key, in hexadecimal, that does not depend on its name.
func (k Key) Fingerprint() string {
	text, err := k.mini.MarshalText()
	if k.pub != nil {
		text, err = x509.MarshalPKIXPublicKey(k.pub)
	}
	if err != nil {
		panic(err) // it was parsed
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// Signature is the content of a file beside the signed one.
type Signature struct {
	Suffix string // Minisign or Cosign
	Data   []byte
	// Payload is signed in place of the file if it is not nil. The caller has checked that it names
	// the file's digest.
	Payload []byte
}

// ParseKey reads a public key: a file of minisign, its line that begins with "RW", or PEM.
func ParseKey(name, text string) (Key, error) {
	text = strings.TrimSpace(text)
	if block, _ := pem.Decode([]byte(text)); block != nil {
		pub, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return Key{}, fmt.Errorf("the key %q is no public key: %w", name, err)
		}
		switch pub.(type) {
		case *ecdsa.PublicKey, ed25519.PublicKey:
			return Key{Name: name, pub: pub}, nil
		}
		return Key{}, fmt.Errorf("the key %q is of the kind %T, expected one of ECDSA or Ed25519", name, pub)
	}
	k := Key{Name: name}
	if err := k.mini.UnmarshalText([]byte(text)); err != nil {
		return Key{}, fmt.Errorf(`the key %q is no public key, expected the line of minisign that begins with "RW", or PEM`, name)
	}
	return k, nil
}

// Result is the result of checking the signatures of a file.
type Result int

// The results of Check.
const (
	None      Result = iota // no signature
	Untrusted               // by keys that the user does not trust
	Forged                  // the signature names a trusted key, but is not valid for these bytes
	Valid                   // by a trusted key
)

// Check checks the signatures of data. It returns Forged if any of them is, else the best result. It also
// returns the name of the key, the id of an untrusted key, or the reason of Forged.
func Check(data []byte, signatures []Signature, keys []Key) (result Result, by string) {
	for _, s := range signatures {
		signed := data
		if s.Payload != nil {
			signed = s.Payload
		}
		r, key := Untrusted, "of cosign"
		if s.Suffix == Minisign {
			r, key = checkMinisign(signed, s.Data, keys)
		} else if name := cosigner(signed, s.Data, keys); name != "" {
			r, key = Valid, name
		}
		if r == Forged {
			return Forged, key
		}
		if r > result {
			result, by = r, key
		}
	}
	return result, by
}

func checkMinisign(data, text []byte, keys []Key) (Result, string) {
	var sig minisign.Signature
	if err := sig.UnmarshalText(text); err != nil {
		return Forged, "the file is none of minisign"
	}
	for _, k := range keys {
		if k.pub != nil || k.mini.ID() != sig.KeyID {
			continue
		}
		if minisign.Verify(k.mini, data, text) {
			return Valid, k.Name
		}
		return Forged, "the key " + k.Name + " has not signed this package"
	}
	return Untrusted, fmt.Sprintf("%016X", sig.KeyID)
}

// cosigner returns the name of the key that has signed data, "" if it is none of keys. Such a signature
// does not name its key.
func cosigner(data, text []byte, keys []Key) string {
	sig, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return ""
	}
	digest := sha256.Sum256(data)
	for _, k := range keys {
		switch pub := k.pub.(type) {
		case *ecdsa.PublicKey:
			if ecdsa.VerifyASN1(pub, digest[:], sig) {
				return k.Name
			}
		case ed25519.PublicKey:
			if ed25519.Verify(pub, data, sig) {
				return k.Name
			}
		}
	}
	return ""
}
