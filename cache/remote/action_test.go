package remote

import (
	"bytes"
	"errors"
	"testing"
)

// FuzzOpen: an envelope is an error, or a record that may be used and is sealed again to the same meaning.
func FuzzOpen(f *testing.F) {
	id := ID{Class: "linux", Scope: "trunk"}
	e := &Envelope{ID: id, Record: sample(), Wire: []Digest{{Size: 3}, {Size: 4}}}
	sealed, err := Seal(e, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed)
	f.Add(sealed[:len(sealed)-1])
	f.Add([]byte(envelopeMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Open(data, id, &Trust{Server: true})
		if err != nil {
			if !errors.Is(err, ErrMiss) {
				t.Errorf("%v, want a miss", err)
			}
			return
		}
		again, err := Seal(e, nil)
		if err != nil {
			t.Fatalf("accepted what cannot be sealed: %v", err)
		}
		if e2, err := Open(again, id, &Trust{Server: true}); err != nil || len(e2.Record.Outputs) != len(e.Record.Outputs) || len(e2.Wire) != len(e.Wire) {
			t.Errorf("another one: %v", err)
		}
	})
}

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
