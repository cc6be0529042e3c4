package sep

import (
	"fmt"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/plugin/sep/manifest"
)

// Entry is the user's decision about one extension.
type Entry struct {
	Enabled  bool
	Approved bool     // its files, for a trust level that needs it
	Events   []string // the largest set that events.subscribe allows; nil for that of the manifest
	Grant    []string // permissions; nil for no list: all that the manifest declares, if its trust level allows
}

// Policy is the decisions by the id of the extension.
type Policy map[string]Entry

// RulePolicy is the rule of the diagnostics of a policy file.
const RulePolicy = "sep_policy_invalid"

// maxPolicy is the size limit of a policy file, in bytes.
const maxPolicy = 1 << 20

// ParsePolicy reads a policy file: a JSON object with an object for each id, whose members are
// "enabled" (true if missing), "approved" (false) and "grant". path is the name of the file in
// messages. The error is a diagnostics.Problems.
func ParsePolicy(path string, data []byte) (Policy, error) {
	r := policyReader{file: path}
	if len(data) > maxPolicy {
		r.fail(nil, "the policy has %d bytes, required at most %d", len(data), maxPolicy)
		return nil, r.problems
	}
	root, err := jsonfile.ParseStrict(path, data)
	if err != nil {
		return nil, err
	}
	if root.Kind() != jsonfile.Object {
		r.fail(root, "the policy is %v, required %v", root.Kind(), jsonfile.Object)
	}
	p := make(Policy)
	for _, m := range root.Members() {
		if !manifest.ValidID(m.Name) {
			r.fail(m.Value, "%.140q is no id of an extension", m.Name)
			continue
		}
		p[m.Name] = r.entry(m.Name, m.Value)
	}
	if len(r.problems) > 0 {
		return nil, diagnostics.Problems(diagnostics.Sorted(r.problems))
	}
	return p, nil
}

// policyReader collects the problems of a policy file.
type policyReader struct {
	file     string
	problems diagnostics.Problems
}

func (r *policyReader) fail(v *jsonfile.Value, format string, args ...any) {
	r.problems = append(r.problems, diagnostics.Pos{File: r.file, Line: v.Line(), Col: v.Col()}.Error(RulePolicy, format, args...).
		WithHint(`an entry is {"enabled": true, "approved": true, "grant": ["notifications.create"]}`))
}

func (r *policyReader) entry(id string, v *jsonfile.Value) Entry {
	e := Entry{Enabled: true}
	if v.Kind() != jsonfile.Object {
		r.fail(v, "%q is %v, required %v", id, v.Kind(), jsonfile.Object)
	}
	for _, m := range v.Members() {
		switch {
		case m.Name == "enabled" && m.Value.Kind() == jsonfile.Bool:
			e.Enabled = m.Value.IsTrue()
		case m.Name == "approved" && m.Value.Kind() == jsonfile.Bool:
			e.Approved = m.Value.IsTrue()
		case m.Name == "enabled" || m.Name == "approved":
			r.fail(m.Value, `"%s.%s" is %v, required %v`, id, m.Name, m.Value.Kind(), jsonfile.Bool)
		case m.Name == "grant":
			e.Grant = r.grant(id, m.Value)
		default:
			r.fail(m.Value, "%q has an unknown member %.60q, required enabled, approved or grant", id, m.Name)
		}
	}
	return e
}

func (r *policyReader) grant(id string, v *jsonfile.Value) []string {
	if v.Kind() != jsonfile.Array {
		r.fail(v, `"%s.grant" is %v, required %v`, id, v.Kind(), jsonfile.Array)
	}
	grant := []string{}
	for _, item := range v.Items() {
		if item.Kind() != jsonfile.String || !slices.Contains(manifest.Permissions(), item.Text()) {
			r.fail(item, `"%s.grant" has %.60s, required permissions of the contract: %v`, id, described(item), manifest.Permissions())
			continue
		}
		grant = append(grant, item.Text())
	}
	return grant
}

func described(v *jsonfile.Value) string {
	if v.Kind() == jsonfile.String {
		return fmt.Sprintf("%q", v.Text())
	}
	return v.Kind().String()
}
