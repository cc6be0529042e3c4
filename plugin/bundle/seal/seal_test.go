package seal

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"aead.dev/minisign"
)

func minisignKey(t *testing.T, name string) (Key, minisign.PrivateKey) {
	t.Helper()
	pub, private, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := pub.MarshalText()
	return parsed(t, name, string(text)), private
}

func parsed(t *testing.T, name, text string) Key {
	t.Helper()
	k, err := ParseKey(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func pemOf(t *testing.T, pub crypto.PublicKey) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func TestCheck(t *testing.T) {
	data := []byte("a package")
	mine, private := minisignKey(t, "mine")
	other, theirs := minisignKey(t, "other")
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	edPub, edKey, _ := ed25519.GenerateKey(rand.Reader)
	blob, ed := parsed(t, "blob", pemOf(t, curve.Public())), parsed(t, "ed", pemOf(t, edPub))
	digest := sha256.Sum256(data)
	raw, err := ecdsa.SignASN1(rand.Reader, curve, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	cosigned := Signature{Suffix: Cosign, Data: []byte(base64.StdEncoding.EncodeToString(raw) + "\n")}
	edSigned := Signature{Suffix: Cosign, Data: []byte(base64.StdEncoding.EncodeToString(ed25519.Sign(edKey, data)))}
	signed := Signature{Suffix: Minisign, Data: minisign.Sign(private, data)}
	foreign := Signature{Suffix: Minisign, Data: minisign.Sign(theirs, data)}
	comment := Signature{Suffix: Minisign, Data: bytes.Replace(minisign.SignWithComments(private, data, "one", "x"), []byte("one"), []byte("two"), 1)}
	for _, c := range []struct {
		name string
		data string
		sigs []Signature
		keys []Key
		want string
	}{
		{"none", "a package", nil, []Key{mine}, "0 "},
		{"minisign", "a package", []Signature{signed}, []Key{other, blob, mine}, "3 mine"},
		{"other bytes", "a packagE", []Signature{signed}, []Key{mine}, "2 the key mine has not signed this package"},
		{"another comment", "a package", []Signature{comment}, []Key{mine}, "2 the key mine has not signed this package"},
		{"no signature at all", "a package", []Signature{{Suffix: Minisign, Data: []byte("x")}}, []Key{mine}, "2 the file is none of minisign"},
		{"another key", "a package", []Signature{foreign}, []Key{mine, blob}, fmt.Sprintf("1 %016X", theirs.ID())},
		{"both keys", "a package", []Signature{foreign, signed}, []Key{mine}, "3 mine"},
		{"forged and valid", "a package", []Signature{cosigned, comment}, []Key{mine, blob}, "2 the key mine has not signed this package"},
		{"cosign", "a package", []Signature{cosigned}, []Key{mine, ed, blob}, "3 blob"},
		{"cosign with Ed25519", "a package", []Signature{edSigned}, []Key{ed}, "3 ed"},
		{"cosign, other bytes", "a packagE", []Signature{cosigned}, []Key{blob}, "1 of cosign"},
		{"cosign, no key", "a package", []Signature{cosigned}, []Key{mine}, "1 of cosign"},
		{"cosign, no base64", "a package", []Signature{{Suffix: Cosign, Data: []byte("%")}}, []Key{blob}, "1 of cosign"},
	} {
		result, by := Check([]byte(c.data), c.sigs, c.keys)
		if got := fmt.Sprint(int(result), " ", by); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestParseKey(t *testing.T) {
	for text, want := range map[string]string{
		"": "is no public key", "RWx": "is no public key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----": "is no public key",
		pemOf(t, rsaKey(t)): "expected one of ECDSA or Ed25519",
	} {
		if _, err := ParseKey("k", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	k, _ := minisignKey(t, "k")
	line, _ := k.mini.MarshalText()
	_, line, _ = bytes.Cut(line, []byte("\n"))
	if again, err := ParseKey("k", string(line)); err != nil || again.mini.ID() != k.mini.ID() {
		t.Errorf("the line alone: %v", err)
	}
}
