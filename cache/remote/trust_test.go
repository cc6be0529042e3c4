package remote

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache"
)

func TestKeysAreRead(t *testing.T) {
	public, private, err := GenerateKey("ci")
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParsePublicKey(" " + public.String() + "\n")
	if err != nil || got.Name != "ci" || !got.Key.Equal(public.Key) {
		t.Errorf("%v, %v", got, err)
	}
	file := filepath.Join(t.TempDir(), "key")
	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o604: true} {
		if err := os.WriteFile(file, []byte(private+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		s, advice, err := ParseSigner("@" + file)
		if err != nil || (advice != "") != warned || s.Name != "ci" || s.Public().String() != public.String() {
			t.Errorf("mode %o: %v, %q, %v", mode, s, advice, err)
		}
		if err := os.Chmod(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s, _, err := ParseSigner(private); err != nil || s.Public().String() != public.String() {
		t.Errorf("%v, %v", s, err)
	}
}

// No error repeats a private key, or what might be one.
func TestKeysAreRefused(t *testing.T) {
	public, private, err := GenerateKey("ci")
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.TrimPrefix(private, "ci:")
	dir := t.TempDir()
	pipe, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "large")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, make([]byte, maxKeyFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	other := "ci:" + strings.Replace(secret, secret[:4], "AAAA", 1)
	for name, value := range map[string]string{
		"empty": "", "no name": secret, "empty name": ":" + secret, "a name with a space": "c i:" + secret, "cut": private[:len(private)-8],
		"not base64": "ci:" + secret[:20] + "*" + secret[21:], "the public half": public.String(), "halves of two pairs": other,
		"missing file": "@" + filepath.Join(dir, "missing"), "pipe": "@" + pipe, "large file": "@" + large, "directory": "@" + dir, "a trailing word": private + " x",
	} {
		_, _, err := ParseSigner(value)
		if err == nil || strings.Contains(err.Error(), secret[8:20]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, value := range map[string]string{"empty": "", "no name": secret, "the private half": private, "cut": public.String()[:20]} {
		_, err := ParsePublicKey(value)
		if err == nil || strings.Contains(err.Error(), secret[8:20]) {
			t.Errorf("public %s: %v", name, err)
		}
	}
	if _, err := ParsePublicKey(private); err == nil || !strings.Contains(err.Error(), "private half") {
		t.Errorf("the private half as a public key: %v", err)
	}
	if _, _, err := GenerateKey("c:i"); err == nil {
		t.Error("a name with a colon")
	}
}

// A key is trusted until its end, and not from then on.
func TestEndOfAKey(t *testing.T) {
	_, private, err := GenerateKey("ci")
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := ParseSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	end := time.Date(2027, 1, 2, 0, 0, 0, 0, time.UTC)
	id := ID{Class: "linux", Scope: "trunk"}
	sealed, err := Seal(&Envelope{ID: id, Record: sample()}, s)
	if err != nil {
		t.Fatal(err)
	}
	key := s.Public()
	key.NotAfter = end
	for now, ok := range map[time.Time]bool{end.Add(-time.Nanosecond): true, end: false, end.Add(24 * time.Hour): false} {
		e, err := Open(sealed, id, &Trust{Keys: []PublicKey{key}, Now: func() time.Time { return now }})
		if (err == nil) != ok || ok && e.By != "ci" {
			t.Errorf("at %v: %v", now, err)
		}
	}
}

// The names and the format are those of every bento: a change of them makes all results of others misses, so it must be meant.
func TestNamesAreStable(t *testing.T) {
	id := ID{Key: cache.Key{1, 2, 3}, Class: "linux/amd64 debian-12 glibc-2.36", Scope: "trunk"}
	d := id.Action()
	if got, want := hex.EncodeToString(d.Hash[:]), "f625a22cbe3795c35a9aa27338214d5abce8c2cc250c948bd91805c0ed596c57"; got != want {
		t.Errorf("the action of %v is %s, want %s", id, got, want)
	}
	sealed, err := Seal(&Envelope{ID: id, Record: sample()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := Sum(sealed)
	if got, want := hex.EncodeToString(sum.Hash[:]), "373362232ee2b71875922a796b014b16f06d1e8a76fcfb37dc6e15a060c10642"; got != want {
		t.Errorf("the envelope has the digest %s, want %s", got, want)
	}
}

func TestSealRefuses(t *testing.T) {
	for name, e := range map[string]*Envelope{
		"no class":      {ID: ID{Scope: "trunk"}, Record: sample()},
		"no scope":      {ID: ID{Class: "linux"}, Record: sample()},
		"NUL in class":  {ID: ID{Class: "a\x00b", Scope: "trunk"}, Record: sample()},
		"long class":    {ID: ID{Class: strings.Repeat("x", maxWord+1), Scope: "trunk"}, Record: sample()},
		"with its host": {ID: ID{Class: "linux", Scope: "trunk"}, Record: &cache.Record{Host: "me"}},
		"with its pack": {ID: ID{Class: "linux", Scope: "trunk"}, Record: &cache.Record{Pack: cache.Digest{1}}},
	} {
		if _, err := Seal(e, nil); err == nil {
			t.Errorf("%s: sealed", name)
		}
	}
}
