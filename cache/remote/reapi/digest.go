package reapi

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/zeebo/blake3"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bentobuild/bento/cache/remote"
)

// Function is a digest function of 32 bytes.
type Function int

// The digest functions.
const (
	SHA256 Function = iota
	BLAKE3
)

// number returns the number of the function in the API.
func (f Function) number() uint64 {
	if f == BLAKE3 {
		return 9
	}
	return 1
}

func (f Function) String() string {
	if f == BLAKE3 {
		return "BLAKE3"
	}
	return "SHA256"
}

// segment returns what names the function in the name of a resource: nothing for the first functions of the API.
func (f Function) segment() string {
	if f == BLAKE3 {
		return "blake3/"
	}
	return ""
}

func (f Function) hash() hash.Hash {
	if f == BLAKE3 {
		return blake3.New()
	}
	return sha256.New()
}

// sum returns the digest of data.
func (f Function) sum(data []byte) remote.Digest {
	if f == BLAKE3 {
		return remote.Digest{Hash: blake3.Sum256(data), Size: int64(len(data))}
	}
	return remote.Sum(data)
}

func appendDigest(b []byte, number protowire.Number, d remote.Digest) []byte {
	return appendMessage(b, number, encodeDigest(d))
}

func encodeDigest(d remote.Digest) []byte {
	m := make([]byte, 0, 80)
	m = appendBytes(m, 1, hex.EncodeToString(d.Hash[:]))
	return appendNumber(m, 2, uint64(d.Size))
}

func decodeDigest(message []byte) (d remote.Digest, err error) {
	text := ""
	err = fields(message, func(f field) error {
		switch {
		case f.is(1, protowire.BytesType):
			text = string(f.data[:min(len(f.data), 2*len(d.Hash)+1)])
		case f.is(2, protowire.VarintType):
			d.Size = int64(f.n)
		}
		return nil
	})
	switch {
	case err != nil:
		return remote.Digest{}, fmt.Errorf("a digest: %w", err)
	case d.Size < 0:
		return remote.Digest{}, fmt.Errorf("a digest with a size of %d bytes", d.Size)
	case len(text) != 2*len(d.Hash):
		return remote.Digest{}, fmt.Errorf("a digest with a hash of %d characters, expected %d", len(text), 2*len(d.Hash))
	}
	if _, err := hex.Decode(d.Hash[:], []byte(text)); err != nil {
		return remote.Digest{}, fmt.Errorf("a digest with the hash %q", text)
	}
	return d, nil
}

// text returns the form of a digest in names and messages.
func text(d remote.Digest) string { return fmt.Sprintf("%x/%d", d.Hash, d.Size) }
