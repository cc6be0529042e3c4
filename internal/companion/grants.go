package companion

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bentobuild/bento/plugin/ainb/manifest"
	sep "github.com/bentobuild/bento/plugin/sep/manifest"
)

// RuleGrant is the rule of a table with an invalid grant.
const RuleGrant = "extension_grant"

// weigh sets the permissions of an extension: those that its manifest requests and its table grants. A table that
// limits a permission in a way that bento cannot enforce is an error. A grant without effect is a warning.
func (e *Extension) weigh() {
	asked, granted := e.asked(), make(map[string]manifest.Grant)
	for _, name := range e.Settings.Grant {
		limits, limited := e.Settings.Only[name]
		if limited && !e.limits(name) {
			e.broken(RuleGrant, "remove "+name+" from only, or from grant", "only limits the permission %q, which cannot be limited", name)
			return
		}
		both := manifest.Both(topical(name), asked[name], manifest.Grant{All: !limited, Only: limits})
		switch {
		case !asked[name].Granted():
			e.note("grant has no effect: the manifest does not ask for %q", name)
		case !both.Granted():
			e.note("only leaves nothing of %q: the manifest asks for %s", name, list(asked[name]))
		default:
			granted[name] = both
		}
	}
	e.granted = granted
}

// plan decides whether an extension of SEP v1 starts with a run: it does if it subscribes to a topic of every run.
func (e *Extension) plan() {
	if e.SEP != nil {
		e.Eager = slices.ContainsFunc(e.Topics(), everyRun)
	}
}

// subscribe is the permission of SEP v1 whose lists have topics.
const subscribe = sep.Subscribe

// topical returns the name of the permission of the contract ainb v2 whose lists have the same kind of entries.
func topical(name string) string {
	if name == subscribe {
		return "event_bus"
	}
	return name
}

// limits reports whether a list can limit a permission in the contract of the extension.
func (e *Extension) limits(name string) bool {
	if e.SEP != nil {
		return name == subscribe
	}
	return manifest.IsListed(name)
}

// note adds a warning about the table.
func (e *Extension) note(format string, args ...any) {
	e.Notes = append(e.Notes, e.Settings.Pos.Warning(RuleGrant, format, args...))
}

// list returns a grant as text for people.
func list(g manifest.Grant) string {
	if g.All {
		return "all of it"
	}
	return fmt.Sprintf("%q", g.Only)
}

// asked returns the permissions that the manifest requests.
func (e *Extension) asked() map[string]manifest.Grant {
	asked := make(map[string]manifest.Grant)
	if e.Ainb != nil {
		maps.Copy(asked, e.Ainb.Manifest.Capabilities)
		maps.DeleteFunc(asked, func(_ string, g manifest.Grant) bool { return !g.Granted() })
	}
	if e.SEP != nil {
		for _, name := range e.SEP.Permissions {
			asked[name] = manifest.Grant{All: true}
		}
		if topics := e.SEP.Subscribed(); slices.Contains(e.SEP.Permissions, subscribe) && len(topics) > 0 {
			asked[subscribe] = manifest.Grant{Only: topics}
		}
	}
	return asked
}

// Topics returns the sorted topics that the manifest subscribes to and the grants allow.
func (e *Extension) Topics() []string {
	var list []string
	grant := e.granted[subscribe]
	if e.Ainb != nil {
		list, grant = slices.Clone(e.Ainb.Manifest.Subscribes.Snapshots), e.granted["event_bus"]
	}
	if e.SEP != nil {
		list = slices.Clone(e.SEP.Subscribed())
	}
	list = slices.DeleteFunc(list, func(topic string) bool { return !grant.HasTopic(topic) })
	slices.Sort(list)
	return slices.Compact(list)
}
