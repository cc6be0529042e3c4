package manifest

import (
	"path"
	"slices"
	"strings"
)

// Grant is a capability as a manifest or a configuration has it: everything, the items of a list, or, as
// the zero value, nothing.
type Grant struct {
	All  bool
	Only []string // nil with All
}

// Granted reports whether the grant includes anything.
func (g Grant) Granted() bool { return g.All || len(g.Only) > 0 }

// Fleet is the prefix of the topics that only the host publishes, and that no pattern grants.
const Fleet = "fleet."

// HasTopic reports whether a grant includes a topic. A grant of everything excludes the topics of the
// fleet.
func (g Grant) HasTopic(topic string) bool {
	if g.All {
		return !strings.HasPrefix(topic, Fleet)
	}
	return slices.ContainsFunc(g.Only, func(pattern string) bool { return coversTopic(pattern, topic) })
}

// IsListed reports whether a list constrains a capability.
func IsListed(capability string) bool { return covers(capability) != nil }

// needsList reports whether a capability that is granted as true allows nothing.
func needsList(capability string) bool {
	return capability == "read_paths" || capability == "spawn_managed_subprocess" || capability == "unix_socket_dial"
}

// isTopical reports whether the lists of a capability have topics.
func isTopical(capability string) bool {
	return capability == "event_bus" || capability == "event_stream_subscribe"
}

// covers returns the function that reports whether one entry of a list allows all that another one
// does; nil for a capability without lists.
func covers(capability string) func(wide, narrow string) bool {
	switch {
	case isTopical(capability):
		return coversTopic
	case capability == "network":
		return strings.EqualFold
	case capability == "read_paths":
		return coversPath
	case capability == "spawn_managed_subprocess", capability == "unix_socket_dial", capability == "secrets:read":
		return func(wide, narrow string) bool { return wide == narrow }
	}
	return nil
}

// coversTopic reports whether one pattern of topics includes a topic or another pattern: "*" at the end
// means any text.
func coversTopic(wide, narrow string) bool {
	prefix, isPattern := strings.CutSuffix(wide, "*")
	return wide == narrow || isPattern && strings.HasPrefix(narrow, prefix) && !strings.HasPrefix(narrow, Fleet)
}

// coversPath reports whether narrow is the path wide or below it, compared as texts: "~" and "${VAR}" are
// not expanded, and a path with ".." is only equal to itself.
func coversPath(wide, narrow string) bool {
	if slices.Contains(strings.Split(wide+"/"+narrow, "/"), "..") {
		return wide == narrow
	}
	wide, narrow = path.Clean(wide), path.Clean(narrow)
	return wide == narrow || strings.HasPrefix(narrow, strings.TrimSuffix(wide, "/")+"/")
}

// Both returns the intersection of two grants of a capability. Of two lists it has each entry that an
// entry of the other list covers.
func Both(capability string, declared, allowed Grant) Grant {
	switch {
	case allowed.All || declared.All && needsList(capability) && allowed.Granted():
		return declared
	case declared.All && isTopical(capability):
		return Grant{Only: slices.DeleteFunc(slices.Clone(allowed.Only), func(topic string) bool { return strings.HasPrefix(topic, Fleet) })}
	case declared.All:
		return allowed
	}
	return Grant{Only: common(covers(capability), declared.Only, allowed.Only)}
}

// common returns the entries of each list that one of the other covers, each once, in order.
func common(covers func(wide, narrow string) bool, a, b []string) []string {
	if covers == nil {
		covers = func(wide, narrow string) bool { return wide == narrow }
	}
	var both []string
	add := func(from, other []string) {
		for _, one := range from {
			if !slices.Contains(both, one) && slices.ContainsFunc(other, func(wide string) bool { return covers(wide, one) }) {
				both = append(both, one)
			}
		}
	}
	add(a, b)
	add(b, a)
	slices.Sort(both)
	return both
}
