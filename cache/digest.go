package cache

import (
	"encoding/hex"
	"fmt"

	"github.com/zeebo/blake3"
)

// Key identifies the result of a task: the hash of everything that the result depends on.
type Key [32]byte

// Digest identifies a blob: the BLAKE3-256 hash of its bytes. The zero Digest identifies none.
type Digest [32]byte

// Sum returns the digest of data.
func Sum(data []byte) Digest { return blake3.Sum256(data) }

// String returns 64 lower-case hex digits.
func (k Key) String() string { return digits(k) }

// String returns 64 lower-case hex digits.
func (d Digest) String() string { return digits(d) }

// digits is hex.EncodeToString with one allocation in place of two.
func digits(sum [32]byte) string {
	var b [2 * len(sum)]byte
	hex.Encode(b[:], sum[:])
	return string(b[:])
}

// MarshalText returns the text of String.
func (k Key) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, k[:]), nil }

// MarshalText returns the text of String.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads the text of String.
func (k *Key) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKey(string(text))
	return err
}

// UnmarshalText reads the text of String.
func (d *Digest) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDigest(string(text))
	return err
}

// ParseKey reads 64 hex digits.
func ParseKey(s string) (Key, error) {
	sum, err := parseHex("key", s)
	return Key(sum), err
}

// ParseDigest reads 64 hex digits.
func ParseDigest(s string) (Digest, error) {
	sum, err := parseHex("digest", s)
	return Digest(sum), err
}

func parseHex(what, s string) (sum [32]byte, err error) {
	if len(s) == hex.EncodedLen(len(sum)) {
		if _, err := hex.Decode(sum[:], []byte(s)); err == nil {
			return sum, nil
		}
	}
	return [32]byte{}, fmt.Errorf("%s %q: not 64 hex digits", what, s)
}

// ShortSum returns the first 16 hex digits of the digest of a text, for file names.
func ShortSum(text string) string { return Sum([]byte(text)).String()[:16] }
