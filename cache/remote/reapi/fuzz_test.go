package reapi

import (
	"testing"
	"unicode"

	"github.com/bentobuild/bento/cache/remote"
)

// FuzzMessages: no message of a server makes a decoder panic or return a value out of bounds.
func FuzzMessages(f *testing.F) {
	d := remote.Sum([]byte("hello"))
	f.Add(encodeDigest(d))
	f.Add(appendMessage(appendMessage(nil, 1, encodeDigest(d)), 3, appendBytes(appendNumber(nil, 1, 5), 2, "no\x1b[31m such")))
	f.Add(appendMessage(appendNumber(appendNumber(nil, 4, 1<<63), 8, 1<<63), 1, appendNumber(nil, 1, 1)))
	f.Add(appendMessage(nil, 4, appendNumber(nil, 1, 2)))
	f.Fuzz(func(t *testing.T, message []byte) {
		if d, err := decodeDigest(message); err == nil && d.Size < 0 {
			t.Errorf("a digest of %d bytes", d.Size)
		}
		if k, err := decodeCapabilities(message); err == nil {
			if k.batch <= 0 || k.batch > maxBatch || k.blob < 0 || len(k.functions) > maxListed {
				t.Errorf("capabilities %+v", k)
			}
			_ = k.check(SHA256)
		}
		if _, it, err := decodeItem(message); err == nil && len(it.data) > len(message) {
			t.Errorf("%d bytes of %d", len(it.data), len(message))
		}
		if _, s, err := decodeStored(message); err == nil {
			for _, r := range s.text {
				if !unicode.IsPrint(r) || len(s.text) > 8*maxText {
					t.Errorf("the text %q", s.text)
				}
			}
		}
	})
}

// FuzzExpand: compressed data needs memory for what was announced alone, and is exactly so long.
func FuzzExpand(f *testing.F) {
	var p pool
	short, _ := p.compress(make([]byte, 1<<20))
	f.Add(short, int64(1<<20))
	f.Add(short, int64(100))
	f.Fuzz(func(t *testing.T, data []byte, size int64) {
		if size < 0 || size > 1<<20 {
			return
		}
		if out, err := p.expand(data, size); err == nil && int64(len(out)) != size {
			t.Errorf("%d bytes, expected %d", len(out), size)
		}
	})
}
