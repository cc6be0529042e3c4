package companion

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/plugin/sep"
)

// policyFile is the name of the user's own policy of SEP extensions, for every workspace, in the
// directory of the user's configuration.
const policyFile = "sep-policy.json"

// entry returns what the user has decided about an extension of SEP v1 that may start: the grants of its
// table, as far as the policy allows them. An unreadable policy allows nothing.
func (p Places) entry(e *Extension) (*sep.Entry, error) {
	entry := &sep.Entry{Enabled: true, Approved: true, Grant: append([]string{}, e.Settings.Grant...)}
	if p.Config == "" {
		return entry, nil
	}
	data, err := content(p.Config, policyFile, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return entry, nil
	}
	if err != nil {
		return nil, err
	}
	policy, err := sep.ParsePolicy(filepath.Join(p.Config, policyFile), data)
	if err != nil {
		return nil, err
	}
	if own, ok := policy[e.ID]; ok {
		entry.Enabled = own.Enabled
		if own.Grant != nil {
			entry.Grant = slices.DeleteFunc(entry.Grant, func(p string) bool { return !slices.Contains(own.Grant, p) })
		}
	}
	return entry, nil
}
