package companion

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
)

// judge decides whether an extension with a valid manifest may start.
func (p Places) judge(e *Extension) {
	if err := p.load(e); err != nil {
		e.broken(RuleUnusable, "remove the file, and approve the extension again", "what you have decided about the extension cannot be read: %v", err)
		return
	}
	switch {
	case e.Record.Disabled:
		e.hold(Disabled, RuleDisabled, "bento ext enable "+e.ID, "you have disabled the extension %s", e.ID)
	case e.Record.Quarantined != "":
		e.hold(Quarantined, RuleQuarantined, "bento ext logs "+e.ID+", then bento ext reload "+e.ID, "the extension %s failed too often: %s", e.ID, e.Record.Quarantined)
	case !e.Settings.Own || e.Settings.SHA256.Text != "":
		p.compare(e)
	}
}

// digest sets the digest of an extension. It reads the files only if their stats have changed since the last digest.
func (p Places) digest(e *Extension) (err error) {
	stamp := stampOf(e.Dir)
	e.stamp = stamp
	if e.Digest = e.Record.Recall(stamp); e.Digest != "" {
		return nil
	}
	if e.Digest, err = digestOf(e.Dir); err != nil || stamp == "" || p.Records == nil || e.Record.Approved == "" && !e.Settings.Own || stampOf(e.Dir) != stamp {
		return err
	}
	digest := e.Digest
	_ = p.Records.Change(p.Root, e.ID, func(r *Record) { r.Stamp, r.Stamped = stamp, digest }) // else it is computed again
	return nil
}

func (p Places) load(e *Extension) (err error) {
	if p.Records != nil {
		e.Record, err = p.Records.Load(p.Root, e.ID)
	}
	return err
}

// compare checks the content of an extension. If only the repository names the extension, the user must have
// approved its content.
func (p Places) compare(e *Extension) {
	if err := p.digest(e); err != nil {
		e.broken(RuleUnusable, "", "the files of the extension cannot be digested: %v", err)
		return
	}
	digest := e.Digest
	switch pin := e.Settings.SHA256.Text; {
	case pin != "" && pin != digest:
		e.hold(Changed, RuleChanged, "see what has changed, then correct sha256", "the extension %s is pinned to sha256 %s, found %s", e.ID, short(pin), short(digest))
	case e.Settings.Own:
	case e.Record.Approved == "":
		e.hold(NotApproved, RuleNotApproved, "look at "+e.Settings.Path.Text+", then run bento ext approve "+e.ID, "the extension %s is not started: only the repository names it, and you have not approved it", e.ID)
	case e.Record.Approved != digest:
		e.hold(Changed, RuleChanged, "see what has changed, then run bento ext approve "+e.ID, "the extension %s has changed since you approved it: approved %s, found %s", e.ID, short(e.Record.Approved), short(digest))
	case e.Record.Terms != terms(&e.Settings):
		e.hold(Changed, RuleChanged, "see bento ext info "+e.ID+", then run bento ext approve "+e.ID, "what [extensions.%q] grants, or sets in the environment, has changed since you approved the extension %s", e.ID, e.ID)
	}
}

// warned reports whether a warning has named an extension that is not approved within a day before now; if not, it notes
// that one does so now.
func (p Places) warned(e *Extension, now time.Time) bool {
	if p.Records == nil {
		return false
	}
	if ago := now.Unix() - e.Record.Warned; ago >= 0 && ago < int64(24*time.Hour/time.Second) {
		return true
	}
	_ = p.Records.Change(p.Root, e.ID, func(r *Record) { r.Warned = now.Unix() }) // else the next run warns again
	return false
}

// unchanged returns a function that returns an error if the files have changed since the decision. The caller calls
// it right before each start. unchanged returns nil for an extension that may have any content.
func (e *Extension) unchanged() func() error {
	if e.Settings.Own && e.Settings.SHA256.Text == "" {
		return nil
	}
	dir, stamp, want := e.Dir, e.stamp, e.Digest
	return func() error {
		if stamp != "" && stampOf(dir) == stamp {
			return nil
		}
		found, err := digestOf(dir)
		switch {
		case err != nil:
			return &adapters.Failure{Code: adapters.NotTrusted, Message: fmt.Sprintf("its files cannot be digested: %v", err)}
		case found != want:
			return &adapters.Failure{Code: adapters.NotTrusted, Message: fmt.Sprintf("its files have changed: expected sha256 %s, found %s", short(want), short(found))}
		}
		return nil
	}
}

// short returns the beginning of a digest.
func short(digest string) string { return digest[:min(12, len(digest))] }

// terms returns the digest of the grants and variables of a table. It leaves out the settings: the approved program
// validates these.
func terms(t *config.Extension) string {
	text, err := json.Marshal([]any{slices.Sorted(slices.Values(t.Grant)), t.Only, t.Output, t.Env, t.SetEnv})
	if err != nil {
		panic(err) // cannot happen for types of this program
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// approve changes a record so that it approves the present content of an extension. The extension must have a valid
// manifest, and only the repository may name it.
func (e *Extension) approve(r *Record) error {
	digest, err := e.approval()
	if err == nil {
		r.Approved, r.Terms, r.Panels, r.Failures = digest, terms(&e.Settings), "", ""
	}
	return err
}

// approval returns the digest of an extension that can be approved.
func (e *Extension) approval() (string, error) {
	switch {
	case e.Status == Failed:
		return "", diagnostics.Problems{*e.Problem}
	case e.Settings.Own:
		return "", diagnostics.Refuse(RuleNotApproved, "bento ext list", "your own configuration names the extension %s, so it needs no approval", e.ID)
	case e.Digest != "":
		return e.Digest, nil
	}
	return digestOf(e.Dir)
}

// conflicts marks an extension as failed if an earlier one has the same namespace. An id of a panel belongs to its
// extension: others may use it, too, and bento x then needs the id of the extension.
func conflicts(list []Extension) {
	taken := make(map[string]string)
	for i := range list {
		e := &list[i]
		for _, name := range e.commands() {
			if other, dup := taken[name]; dup && e.Status != Failed {
				e.broken(RuleUnusable, "remove one of the two", "the extension %s has the namespace %q, which is that of %s too", e.ID, name, other)
			} else if e.Status != Failed {
				taken[name] = e.ID
			}
		}
	}
	users := make(map[string]int)
	for name := range taken {
		users[name]++
	}
	for i := range list {
		e := &list[i]
		e.recall()
		for _, p := range e.Panels() {
			users[p.ID]++
		}
	}
	for i := range list {
		e := &list[i]
		e.shared = func(panel string) bool { return users[panel] > 1 }
	}
}

// commands returns the namespaces of an extension of ainb v2: those of its manifest, or its id if it has only screens.
func (e *Extension) commands() []string {
	if e.Ainb == nil {
		return nil
	}
	p := e.Ainb.Manifest.Provides
	if len(p.CLINamespaces) == 0 && len(p.Screens) > 0 {
		return []string{e.ID}
	}
	return slices.Clone(p.CLINamespaces)
}

// Namespaces returns the names by which bento x reaches an extension, sorted: its own, and those of its panels.
func (e *Extension) Namespaces() []string {
	names := e.commands()
	for _, p := range e.Panels() {
		names = append(names, e.PanelName(p.ID))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
