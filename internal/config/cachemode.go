package config

import (
	"fmt"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// tierAccess is the permission for one tier of the cache.
type tierAccess struct {
	Read, Write bool
}

// CacheMode is the permission for the tiers of the cache.
type CacheMode struct {
	Local, Remote tierAccess
}

// defaultCacheMode returns the permission without a configured one. Results go to the remote cache only where somebody
// has chosen that.
func defaultCacheMode() CacheMode {
	return CacheMode{Local: tierAccess{Read: true, Write: true}, Remote: tierAccess{Read: true}}
}

// Under returns m, changed by a text such as "local:rw,remote:r", the form of the key and of the flag. A tier without
// rights is not used. One that the text does not name keeps its permission.
func (m CacheMode) Under(text string) (CacheMode, error) {
	seen := make(map[string]bool)
	for part := range strings.SplitSeq(text, ",") {
		tier, rights, _ := strings.Cut(strings.TrimSpace(part), ":")
		access, ok := parseAccess(rights)
		switch {
		case !ok:
			return CacheMode{}, fmt.Errorf("%q: rights %q, expected r, w, rw or nothing", text, rights)
		case seen[tier]:
			return CacheMode{}, fmt.Errorf("%q: tier %q is given twice", text, tier)
		case tier == "local":
			m.Local = access
		case tier == "remote":
			m.Remote = access
		default:
			return CacheMode{}, fmt.Errorf("%q: tier %q, expected local or remote", text, tier)
		}
		seen[tier] = true
	}
	return m, nil
}

func parseAccess(rights string) (tierAccess, bool) {
	switch rights {
	case "":
		return tierAccess{}, true
	case "r":
		return tierAccess{Read: true}, true
	case "w":
		return tierAccess{Write: true}, true
	case "rw":
		return tierAccess{Read: true, Write: true}, true
	default:
		return tierAccess{}, false
	}
}

// modeText is a text that CacheMode.Under accepts.
type modeText string

// Shape returns the schema.
func (*modeText) Shape() tomlfile.Schema { return tomlfile.Schema{"type": "string"} }

// UnmarshalTOML reads and checks the text.
func (m *modeText) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected(`a string such as "local:rw,remote:r"`)}
	}
	if _, err := defaultCacheMode().Under(s); err != nil {
		return []diagnostics.Diagnostic{v.Pos().Error(diagnostics.RuleInvalid, "%s: %v", v.Path(), err)}
	}
	*m = modeText(s)
	return nil
}
