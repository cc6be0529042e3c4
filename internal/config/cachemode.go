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

// cacheMode is the permission for the cache. The default allows everything.
type cacheMode struct {
	Local, Remote tierAccess
}

// fullCacheMode allows everything.
func fullCacheMode() cacheMode {
	all := tierAccess{Read: true, Write: true}
	return cacheMode{Local: all, Remote: all}
}

// Parse reads "local:rw,remote:r", the form of the key and of the flag. A tier without a name or
// without rights is not used.
func parseCacheMode(s string) (cacheMode, error) {
	var m cacheMode
	seen := make(map[string]bool)
	for part := range strings.SplitSeq(s, ",") {
		tier, rights, _ := strings.Cut(strings.TrimSpace(part), ":")
		access, ok := parseAccess(rights)
		switch {
		case !ok:
			return cacheMode{}, fmt.Errorf("%q: rights %q, expected r, w, rw or nothing", s, rights)
		case seen[tier]:
			return cacheMode{}, fmt.Errorf("%q: tier %q is given twice", s, tier)
		case tier == "local":
			m.Local = access
		case tier == "remote":
			m.Remote = access
		default:
			return cacheMode{}, fmt.Errorf("%q: tier %q, expected local or remote", s, tier)
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

// Shape returns the schema.
func (*cacheMode) Shape() tomlfile.Schema { return tomlfile.Schema{"type": "string"} }

// UnmarshalTOML reads the string that Parse reads.
func (m *cacheMode) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected(`a string such as "local:rw,remote:r"`)}
	}
	mode, err := parseCacheMode(s)
	if err != nil {
		return []diagnostics.Diagnostic{v.Pos().Error(diagnostics.RuleInvalid, "%s: %v", v.Path(), err)}
	}
	*m = mode
	return nil
}
