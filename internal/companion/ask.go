package companion

import (
	"errors"
	"maps"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/ainb/manifest"
)

// Unready returns why an extension cannot start, nil if it can.
func (e *Extension) Unready() error {
	if e.Status == Ready {
		return nil
	}
	d := *e.Problem
	d.Severity = diagnostics.Error
	return diagnostics.Problems{d}
}

// IsDisabled reports whether the user has disabled the extension.
func (e *Extension) IsDisabled() bool { return e.Status == Disabled }

// Row returns the row of an extension of a workspace with that state.
func (e *Extension) Row(st *state.Dir) report.ExtensionRow {
	row := report.ExtensionRow{
		ID: e.ID, Path: e.Dir, Contract: e.Contract, Version: e.Version, Declared: e.Settings.Pos.String(), Own: e.Settings.Own, Status: e.Status,
		Eager: e.Eager, Namespaces: append([]string{}, e.Namespaces()...),
	}
	if e.Ainb != nil {
		row.Screens = e.Ainb.Manifest.Provides.Screens
	}
	for _, p := range e.Panels() {
		row.Panels = append(row.Panels, report.Panel{ID: p.ID, Title: p.Title, Slot: p.Slot})
	}
	if e.SEP != nil {
		row.Counters = &loadJournal(st, e.ID).Counters
	}
	if p := e.Problem; p != nil {
		row.Code, row.Message, row.Hint = p.Rule, p.String(), p.Hint
	}
	return row
}

// Info returns the row of an extension, and what it asks for and is granted.
func (e *Extension) Info(st *state.Dir) report.ExtensionInfo {
	doc := report.ExtensionInfo{
		ExtensionRow: e.Row(st), Digest: e.Digest, Approved: e.Record.Approved, Output: e.Settings.Output, Topics: append([]string{}, e.Topics()...),
	}
	doc.Permissions, doc.AskedOnly = namesOf(e.asked())
	doc.Granted, doc.GrantedOnly = e.Granted()
	doc.Variables = slices.Clone(e.Settings.Env)
	for name := range e.Settings.SetEnv {
		doc.Variables = append(doc.Variables, name)
	}
	slices.Sort(doc.Variables)
	for _, d := range e.Notes {
		doc.Warnings = append(doc.Warnings, d.String())
	}
	return doc
}

// Granted returns the sorted permissions of the extension that its manifest requests and the configuration grants, and
// the lists of those that have one.
func (e *Extension) Granted() (names []string, only map[string][]string) { return namesOf(e.granted) }

func namesOf(all map[string]manifest.Grant) (names []string, only map[string][]string) {
	names = []string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		names = append(names, name)
		if list := all[name].Only; len(list) > 0 {
			if only == nil {
				only = make(map[string][]string)
			}
			only[name] = list
		}
	}
	return names, only
}

// Journal returns the journal of the extension in a workspace with that state.
func (e *Extension) Journal(st *state.Dir) *Journal { return loadJournal(st, e.ID) }

// OwnVariables returns the variables that bento sets for every extension, with that data directory.
func (e *Extension) OwnVariables(data string) map[string]string {
	return map[string]string{bytecodeVariable: "1", dataVariable: data}
}

// Decide saves a decision of the user about an extension: "approve" allows its present content, "enable" and "disable"
// allow and forbid its start, and "reload" forgets its failures.
func (p Places) Decide(e *Extension, decision string) error {
	if p.Records == nil {
		return diagnostics.Refuse("usage", "set HOME", "neither XDG_STATE_HOME nor HOME is set, so the decision cannot be saved")
	}
	var refused error
	err := p.Records.Change(p.Root, e.ID, func(r *Record) {
		switch decision {
		case "approve":
			refused = e.approve(r)
		case "enable", "disable":
			r.Disabled = decision == "disable"
		case "reload":
			r.Quarantined, r.Failures = "", ""
		}
	})
	return errors.Join(refused, err)
}
