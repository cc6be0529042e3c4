// Package mode reads what may be done with each tier of the cache.
package mode

import (
	"fmt"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config/unit"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// Access is what may be done with one tier of the cache.
type Access struct {
	Read, Write bool
}

// Mode is what may be done with the cache. The default is everything.
type Mode struct {
	Local, Remote Access
}

// All allows everything.
func All() Mode {
	all := Access{Read: true, Write: true}
	return Mode{Local: all, Remote: all}
}

// Parse reads "local:rw,remote:r", the form of the key and of the flag. A tier
// that is not named, or named without rights, is not used.
func Parse(s string) (Mode, error) {
	var m Mode
	seen := make(map[string]bool)
	for part := range strings.SplitSeq(s, ",") {
		tier, rights, _ := strings.Cut(strings.TrimSpace(part), ":")
		access, ok := parseAccess(rights)
		switch {
		case !ok:
			return Mode{}, fmt.Errorf("%q: rights %q, expected r, w, rw or nothing", s, rights)
		case seen[tier]:
			return Mode{}, fmt.Errorf("%q: %q stands there twice", s, tier)
		case tier == "local":
			m.Local = access
		case tier == "remote":
			m.Remote = access
		default:
			return Mode{}, fmt.Errorf("%q: tier %q, expected local or remote", s, tier)
		}
		seen[tier] = true
	}
	return m, nil
}

func parseAccess(rights string) (Access, bool) {
	switch rights {
	case "":
		return Access{}, true
	case "r":
		return Access{Read: true}, true
	case "w":
		return Access{Write: true}, true
	case "rw":
		return Access{Read: true, Write: true}, true
	default:
		return Access{}, false
	}
}

// UnmarshalTOML reads the string that Parse reads.
func (m *Mode) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected(`a string such as "local:rw,remote:r"`)}
	}
	mode, err := Parse(s)
	if err != nil {
		return []diagnostics.Diagnostic{v.Pos().Error(unit.Rule, "%s: %v", v.Path(), err)}
	}
	*m = mode
	return nil
}
