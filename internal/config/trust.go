package config

import (
	"crypto/ed25519"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Trust has the conditions under which the user accepts packages of tools.
type Trust struct {
	Keys          map[string]ed25519.PublicKey // by the name that manifests call signing_key_id
	RequireSigned bool                         // by one of the keys
	HashPolicy    string                       // as in Tools
	Plugins       PluginTrust
}

// PluginTrust has the conditions under which the user accepts packages of plugins.
type PluginTrust struct {
	Keys          map[string]dish.Text // a key of minisign or cosign, by a name for messages
	RequireSigned bool                 // by one of the keys
}

// ownPackages is the table [packages] of the user's own file.
type ownPackages struct {
	TrustedKeys   map[string]tomlfile.At[string] `toml:"trusted_keys" doc:"public keys by name: packages of plugins that they sign are trusted; the line of minisign that begins with RW, or the PEM of cosign"`
	RequireSigned bool                           `toml:"require_signed" default:"false" doc:"refuse packages of plugins that none of the keys has signed"`
}

func (t *ownPackages) trust() PluginTrust {
	p := PluginTrust{Keys: make(map[string]dish.Text), RequireSigned: t.RequireSigned}
	for name, at := range t.TrustedKeys {
		p.Keys[name] = textOf(at)
	}
	return p
}

// ownTools is the table [tools] of the user's own file.
type ownTools struct {
	TrustedKeys   map[string]tomlfile.At[string] `toml:"trusted_keys" doc:"public Ed25519 keys by name, in hexadecimal: packages that they sign are trusted"`
	RequireSigned bool                           `toml:"require_signed" default:"false" doc:"refuse packages that none of the keys has signed"`
	Hash          choice[hashWords]              `toml:"module_hash_policy" default:"enforce" doc:"what happens if a module does not have the digest of its manifest: warn, enforce or skip. In the directories of a workspace the stricter value of this file and bento.toml applies"`
}

// ownTrust reads the keys. It leaves out a bad key, which then accepts no package.
func (w *Workspace) ownTrust(t ownTools) (problems []diagnostics.Diagnostic) {
	w.Trust = Trust{Keys: make(map[string]ed25519.PublicKey), RequireSigned: t.RequireSigned, HashPolicy: t.Hash.At.Value}
	for _, name := range slices.Sorted(maps.Keys(t.TrustedKeys)) {
		at := t.TrustedKeys[name]
		key, err := hex.DecodeString(at.Value)
		if err != nil || len(key) != ed25519.PublicKeySize {
			problems = append(problems, at.Pos.Error(diagnostics.RuleInvalid, "tools.trusted_keys.%s is no public Ed25519 key, expected %d hexadecimal digits", name, 2*ed25519.PublicKeySize))
			continue
		}
		w.Trust.Keys[name] = key
	}
	return problems
}
