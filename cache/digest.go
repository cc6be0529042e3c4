package cache

import (
	"encoding/hex"
	"fmt"

	"github.com/zeebo/blake3"
)

// Key names the result of a task: the hash of all that the result depends on.
type Key [32]byte

// Digest names a blob: the BLAKE3-256 hash of its bytes. The zero Digest names
// none.
type Digest [32]byte

// Sum gives the digest of data.
func Sum(data []byte) Digest { return blake3.Sum256(data) }

// String gives 64 lower-case hex digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// String gives 64 lower-case hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText gives what String gives.
func (k Key) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, k[:]), nil }

// MarshalText gives what String gives.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText reads what MarshalText gives.
func (k *Key) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKey(string(text))
	return err
}

// UnmarshalText reads what MarshalText gives.
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

// ShortSum gives 16 hexadecimal digits that stand for a text, for names of files.
func ShortSum(text string) string { return Sum([]byte(text)).String()[:16] }
