package manifest

import "slices"

// Grant is a capability as a manifest or a configuration has it: everything, what is in a list, or,
// as the zero value, nothing.
type Grant struct {
	All  bool
	Only []string // nil with All
}

// Granted reports whether the grant is of anything at all.
func (g Grant) Granted() bool { return g.All || len(g.Only) > 0 }

// And returns what both grants allow. Entries of two lists are compared as texts, so that a list of
// patterns can be narrowed by leaving some out, and not by writing narrower ones.
func (g Grant) And(other Grant) Grant {
	switch {
	case g.All:
		return other
	case other.All:
		return g
	}
	var both []string
	for _, one := range g.Only {
		if slices.Contains(other.Only, one) {
			both = append(both, one)
		}
	}
	return Grant{Only: both}
}
