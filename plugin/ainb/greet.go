package ainb

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/wire"
)

// greeting is the result of plugin/init. The document of the contract has manifest and abi_version; the
// extensions of its reference send name and version.
type greeting struct {
	Name     *string         `json:"name"`
	Version  *string         `json:"version"`
	ABI      json.RawMessage `json:"abi_version"`
	Manifest *struct {
		Plugin *self `json:"plugin"`
	} `json:"manifest"`
}

// self is what an extension says of itself. Members may be missing.
type self struct {
	Name    *string         `json:"name"`
	Version *string         `json:"version"`
	ABI     json.RawMessage `json:"abi_version"`
}

// checkGreeting returns an error if the result of plugin/init is not that of the extension with this
// manifest.
func checkGreeting(result json.RawMessage, m *manifest.Manifest) error {
	var got greeting
	if err := wire.Decode(result, &got); err != nil {
		return handshake("the result of plugin/init: %v", err)
	}
	top, inner := self{got.Name, got.Version, got.ABI}, self{}
	if got.Manifest != nil && got.Manifest.Plugin != nil {
		inner = *got.Manifest.Plugin
	}
	if err := cmp.Or(top.differs(m, ""), inner.differs(m, "manifest.plugin.")); err != nil {
		return err
	}
	switch {
	case top.Name != nil && top.Version != nil:
	case inner.Name == nil || inner.Version == nil:
		return handshake("the result of plugin/init has neither name and version nor a manifest with both")
	case isNull(top.ABI):
		return handshake("the result of plugin/init has a manifest and no abi_version, required both")
	}
	return nil
}

// differs returns an error if a member, whose name follows at, is another one than in a manifest.
func (s self) differs(m *manifest.Manifest, at string) error {
	var abi float64
	switch {
	case s.Name != nil && *s.Name != m.Plugin.Name:
		return handshake("plugin/init answered the %sname %.60q, required %q as in the manifest", at, *s.Name, m.Plugin.Name)
	case s.Version != nil && *s.Version != m.Plugin.Version:
		return handshake("plugin/init answered the %sversion %.60q, required %q as in the manifest", at, *s.Version, m.Plugin.Version)
	case !isNull(s.ABI) && (json.Unmarshal(s.ABI, &abi) != nil || abi != manifest.ABI):
		return handshake("plugin/init answered the %sabi_version %.40s, required %d", at, s.ABI, manifest.ABI)
	}
	return nil
}

// isNull reports whether a member is missing or null.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func handshake(format string, args ...any) error {
	return &adapters.Failure{Code: adapters.HandshakeFailed, Message: fmt.Sprintf(format, args...)}
}
