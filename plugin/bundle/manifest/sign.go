package manifest

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Canonical returns the bytes that a signature signs: compact JSON with sorted keys, without the
// signature itself. Strings are escaped as little as JSON permits.
func (m *Module) Canonical() []byte {
	var c canon
	c.list("{\"allowed_host_calls\":", m.AllowedHostCalls)
	c.list(",\"capabilities\":", m.Capabilities)
	c = append(c, ",\"dependencies\":["...)
	for i, d := range m.Dependencies {
		if i > 0 {
			c = append(c, ',')
		}
		c.member("{\"id\":", d.ID)
		c.member(",\"version_req\":", d.VersionReq)
		c = append(c, '}')
	}
	c = append(c, ']')
	if m.HasDescription {
		c.member(",\"description\":", m.Description)
	} else {
		c = append(c, ",\"description\":null"...)
	}
	c.member(",\"entrypoint\":", m.Entrypoint)
	c.list(",\"hooks\":", m.Hooks)
	c.member(",\"id\":", m.ID)
	c = strconv.AppendInt(append(c, ",\"max_runtime_api\":"...), int64(m.MaxRuntimeAPI), 10)
	c = strconv.AppendInt(append(c, ",\"min_runtime_api\":"...), int64(m.MinRuntimeAPI), 10)
	c.member(",\"version\":", m.Version)
	c.member(",\"wasm_file\":", m.WasmFile)
	c.member(",\"wasm_sha256\":", m.WasmSHA256)
	return append(c, '}')
}

// canon is JSON in the making.
type canon []byte

func (c *canon) list(before string, list []string) {
	*c = append(append(*c, before...), '[')
	for i, text := range list {
		comma := ","
		if i == 0 {
			comma = ""
		}
		c.member(comma, text)
	}
	*c = append(*c, ']')
}

// member appends a string. encoding/json would escape U+2028, which other writers do not.
func (c *canon) member(before, text string) {
	*c = append(append(*c, before...), '"')
	for i := range len(text) {
		switch b := text[i]; {
		case b == '"' || b == '\\':
			*c = append(*c, '\\', b)
		case b >= 0x20:
			*c = append(*c, b)
		case strings.IndexByte("\b\t\n\f\r", b) >= 0:
			*c = append(*c, '\\', "btn\x00fr"[b-'\b'])
		default:
			*c = fmt.Appendf(*c, "\\u%04x", b)
		}
	}
	*c = append(*c, '"')
}

// Keys are the public Ed25519 keys that the user trusts, by their names.
type Keys map[string]ed25519.PublicKey

// Sign signs the manifest with a private key of that name.
func (m *Module) Sign(name string, key ed25519.PrivateKey) {
	m.SigningKeyID = name
	m.Signature = hex.EncodeToString(ed25519.Sign(key, m.Canonical()))
}

// The results of CheckSignature.
const (
	Signed    = "valid"       // by a trusted key
	Unsigned  = "unsigned"    // no signature
	Untrusted = "unknown_key" // by a key that the user does not trust
	Forged    = "invalid"     // the trusted key has not signed this manifest
)

// CheckSignature returns Signed, Unsigned, Untrusted or Forged. signing_key_id names the key.
func (m *Module) CheckSignature(keys Keys) string {
	if m.Signature == "" {
		return Unsigned
	}
	key, ok := keys[m.SigningKeyID]
	if !ok {
		return Untrusted
	}
	sig, err := hex.DecodeString(m.Signature)
	if err != nil || len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, m.Canonical(), sig) {
		return Forged
	}
	return Signed
}
