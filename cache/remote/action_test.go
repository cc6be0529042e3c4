package remote

import (
	"bytes"
	"testing"
)

// FuzzEnvelopeOf: whatever a server answers, the decoder returns an error or an envelope, without a panic and within the bounds.
func FuzzEnvelopeOf(f *testing.F) {
	e := &Envelope{ID: ID{Class: "linux", Scope: "trunk"}, Record: sample()}
	sealed, err := Seal(e, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(encodeResult(e, sealed).result)
	f.Add(encodeResult(e, bytes.Repeat(sealed, maxInline)).result)
	f.Add([]byte{0x4a, 0x7f})
	f.Fuzz(func(t *testing.T, data []byte) {
		sealed, at, err := envelopeOf(data)
		if err == nil && (sealed == nil) == (at == Digest{}) {
			t.Errorf("envelope of %d bytes and digest %v", len(sealed), at)
		}
		if at.Size < 0 || at.Size > MaxEnvelope || len(sealed) > len(data) {
			t.Errorf("out of bounds: %d bytes, %v", len(sealed), at)
		}
	})
}
