package remote

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/rawfile"
)

// Trust decides whose results are used.
type Trust struct {
	// Server is true if every result of the server is used, signed or not: all who may write there are trusted.
	Server bool
	// Keys are the public keys of those whose results are used.
	Keys []PublicKey
	// Now returns the time for the ends of keys; nil is time.Now.
	Now func() time.Time
}

// PublicKey is a key whose signatures are trusted.
type PublicKey struct {
	Name     string
	Key      ed25519.PublicKey
	NotAfter time.Time // from then on it is not trusted; zero for no end
}

// Signer signs results.
type Signer struct {
	Name string
	key  ed25519.PrivateKey
}

func (s *Signer) public() ed25519.PublicKey {
	public, _ := s.key.Public().(ed25519.PublicKey)
	return public
}

func (s *Signer) sign(message []byte) []byte { return ed25519.Sign(s.key, message) }

// Public returns the key that verifies what s signs.
func (s *Signer) Public() PublicKey { return PublicKey{Name: s.Name, Key: s.public()} }

// String returns the form that ParsePublicKey reads: "NAME:BASE64".
func (k PublicKey) String() string { return k.Name + ":" + base64.StdEncoding.EncodeToString(k.Key) }

// GenerateKey makes a pair of keys. private is a value of $BENTO_REMOTE_SIGN_KEY, which ParseSigner reads.
func GenerateKey(name string) (public PublicKey, private string, err error) {
	if err := checkName(name); err != nil {
		return PublicKey{}, "", err
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return PublicKey{}, "", err
	}
	s := &Signer{Name: name, key: key}
	return s.Public(), name + ":" + base64.StdEncoding.EncodeToString(key), nil
}

// ParsePublicKey reads "NAME:BASE64", a line of remote_keys.
func ParsePublicKey(text string) (PublicKey, error) {
	name, key, err := parseKey("public key", text)
	if err != nil {
		return PublicKey{}, err
	}
	switch len(key) {
	case ed25519.PublicKeySize:
		return PublicKey{Name: name, Key: key}, nil
	case ed25519.PrivateKeySize: // do not repeat it
		return PublicKey{}, fmt.Errorf("public key %q: this is the private half, which only the writer may have; make a new pair", name)
	}
	return PublicKey{}, fmt.Errorf("public key %q: found %d bytes, want %d", name, len(key), ed25519.PublicKeySize)
}

// maxKeyFile is the size of the largest file with a private key, in bytes.
const maxKeyFile = 4 << 10

// ParseSigner reads a value of $BENTO_REMOTE_SIGN_KEY: "NAME:BASE64", or "@FILE" for a file that contains that. advice
// is a sentence about permissions of the file that are too wide, "" for none. No error contains the key.
func ParseSigner(value string) (s *Signer, advice string, err error) {
	if file, named := strings.CutPrefix(value, "@"); named {
		if value, advice, err = readKeyFile(file); err != nil {
			return nil, "", err
		}
	}
	name, key, err := parseKey("private key", value)
	if err != nil {
		return nil, "", err
	}
	switch len(key) {
	case ed25519.PrivateKeySize:
	case ed25519.PublicKeySize:
		return nil, "", fmt.Errorf("private key %q: this is the public half, which goes into remote_keys", name)
	default:
		return nil, "", fmt.Errorf("private key %q: found %d bytes, want %d", name, len(key), ed25519.PrivateKeySize)
	}
	if full := ed25519.NewKeyFromSeed(key[:ed25519.SeedSize]); subtle.ConstantTimeCompare(full, key) != 1 {
		return nil, "", fmt.Errorf("private key %q: its halves do not belong together; copy it again", name)
	}
	return &Signer{Name: name, key: key}, advice, nil
}

func readKeyFile(name string) (value, advice string, err error) {
	f, err := rawfile.Open(name)
	if err != nil {
		return "", "", fmt.Errorf("private key: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", "", fmt.Errorf("private key: %w", err)
	}
	if !info.Mode.IsRegular() || info.Size > maxKeyFile {
		return "", "", fmt.Errorf("private key %q: not a file of at most %d bytes", name, maxKeyFile)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return "", "", fmt.Errorf("private key: %w", err)
	}
	if info.Mode.Perm()&0o077 != 0 {
		advice = fmt.Sprintf("other users may read the private key %q; chmod 600 it", name)
	}
	return string(data), advice, nil
}

// parseKey reads "NAME:BASE64". Its errors do not repeat what it cannot read, which may be a secret.
func parseKey(what, text string) (name string, key []byte, err error) {
	name, digits, ok := strings.Cut(strings.TrimSpace(text), ":")
	if !ok || checkName(name) != nil {
		return "", nil, fmt.Errorf("%s: want NAME:BASE64, as bento cache keygen prints it", what)
	}
	if key, err = base64.StdEncoding.Strict().DecodeString(digits); err != nil {
		return "", nil, fmt.Errorf("%s %q: not base64", what, name)
	}
	return name, key, nil
}

func checkName(name string) error {
	ok := name != "" && len(name) <= 64
	for _, c := range []byte(name) {
		ok = ok && (c == '-' || c == '_' || c == '.' || c == '@' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z')
	}
	if !ok {
		return errors.New("the name of a key: want 1 to 64 letters, digits and \"-\", \"_\", \".\", \"@\"")
	}
	return nil
}

type signature struct{ key, sum []byte }

func readSignatures(r *pack.Reader) []signature {
	list := make([]signature, 0, 1)
	for range r.Count(ed25519.PublicKeySize + ed25519.SignatureSize) {
		s := signature{r.Raw(ed25519.PublicKeySize), r.Raw(ed25519.SignatureSize)}
		if len(list) < maxSignatures {
			list = append(list, s)
		}
	}
	return list
}

// check returns the name of the trusted key that has signed the message, or a *RefusedError. A trusted server needs no
// signature; by is then the name of a key if one has signed it nevertheless.
func (t *Trust) check(message func() []byte, list []signature) (by string, err error) {
	err = refuse(UnknownKey, nil)
	if len(list) == 0 {
		err = refuse(Unsigned, nil)
	}
	for _, s := range list {
		for _, k := range t.Keys {
			if !k.Key.Equal(ed25519.PublicKey(s.key)) {
				continue
			}
			switch {
			case !ed25519.Verify(k.Key, message(), s.sum):
				err = refuse(BadSignature, fmt.Errorf("key %q", k.Name))
			case !k.NotAfter.IsZero() && !t.now().Before(k.NotAfter):
				err = refuse(ExpiredKey, fmt.Errorf("key %q, until %s", k.Name, k.NotAfter.Format(time.RFC3339)))
			default:
				return k.Name, nil
			}
		}
	}
	if t.Server {
		return "", nil
	}
	return "", err
}

func (t *Trust) now() time.Time {
	if t.Now != nil {
		return t.Now()
	}
	return time.Now()
}
