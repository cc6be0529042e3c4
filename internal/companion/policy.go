package companion

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/plugin/ainb/manifest"
	"github.com/bentobuild/bento/plugin/sep"
)

// policyFile is the name of the user's own policy of SEP extensions, for every workspace, in the
// directory of the user's configuration.
const policyFile = "sep-policy.json"

// restrain removes the permissions of an extension of SEP v1 that the user's policy does not allow. An unreadable
// policy allows nothing.
func (p Places) restrain(e *Extension) {
	if e.SEP == nil || p.Config == "" {
		return
	}
	path := filepath.Join(p.Config, policyFile)
	data, err := content(p.Config, policyFile, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var policy sep.Policy
	if err == nil {
		policy, err = sep.ParsePolicy(path, data)
	}
	own, ok := policy[e.ID]
	switch {
	case err != nil:
		e.broken(RuleUnusable, "correct or remove "+path, "your policy of SEP extensions cannot be used: %v", err)
	case ok && !own.Enabled:
		e.hold(Disabled, RuleDisabled, "remove the entry from "+path, "your policy of SEP extensions disables the extension %s", e.ID)
	case ok && own.Grant != nil:
		maps.DeleteFunc(e.granted, func(name string, _ manifest.Grant) bool { return !slices.Contains(own.Grant, name) })
	}
}

// entry returns the decisions of the user about an extension of SEP v1 that may start.
func (e *Extension) entry() *sep.Entry {
	return &sep.Entry{Enabled: true, Approved: true, Grant: append([]string{}, e.names()...), Events: e.granted[subscribe].Only}
}

// names returns the granted permissions, sorted.
func (e *Extension) names() []string { return slices.Sorted(maps.Keys(e.granted)) }
