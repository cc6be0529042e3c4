package seal

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"testing"

	"aead.dev/minisign"
)

func rsaKey(t *testing.T) crypto.PublicKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key.Public()
}

// FuzzSignature: bytes that were not made with the key are never a valid signature.
func FuzzSignature(f *testing.F) {
	pub, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	data := []byte("signed")
	f.Add(string(minisign.Sign(private, []byte("other"))), ".minisig")
	f.Add("MEUCIQ==", ".sig")
	text, _ := pub.MarshalText()
	key, err := ParseKey("k", string(text))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, sig, suffix string) {
		if r, _ := Check(data, []Signature{{Suffix: suffix, Data: []byte(sig)}}, []Key{key}); r == Valid {
			t.Errorf("%q is valid", sig)
		}
		_, _ = ParseKey("k", sig)
	})
}
