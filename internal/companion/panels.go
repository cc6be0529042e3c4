package companion

import (
	"encoding/json"
	"slices"
	"strings"

	sep "github.com/bentobuild/bento/plugin/sep/manifest"
)

// maxPanels is the maximal size, in bytes, of the stored panels of one extension.
const maxPanels = 40 << 10

// Panels returns the tool panels of an extension of SEP v1 with that permission: those of its manifest, and those
// that it registered in its last run.
func (e *Extension) Panels() []sep.Panel {
	if e.SEP == nil || !e.granted[sep.RegisterTools].Granted() {
		return nil
	}
	return append(slices.Clone(e.SEP.Panels()), e.registered...)
}

// Registers reports whether an extension may register panels, but no registered panels are stored.
func (e *Extension) Registers() bool {
	return e.SEP != nil && e.Status == Ready && e.granted[sep.RegisterTools].Granted() && e.registered == nil
}

// PanelName returns the name by which bento x reaches a panel: its id, or "EXTENSION:PANEL" if the id alone has
// another meaning for bento x.
func (e *Extension) PanelName(id string) string {
	if e.shared != nil && e.shared(id) {
		return e.ID + ":" + id
	}
	return id
}

// Serves reports whether bento x reaches the extension by a namespace. The name of a panel behind the id of the
// extension always does.
func (e *Extension) Serves(namespace string) bool {
	panel, full := strings.CutPrefix(namespace, e.ID+":")
	return slices.Contains(e.Namespaces(), namespace) || full && e.HasPanel(panel)
}

// HasPanel reports whether an extension has a panel with an id.
func (e *Extension) HasPanel(id string) bool {
	return slices.ContainsFunc(e.Panels(), func(p sep.Panel) bool { return p.ID == id })
}

// recall sets the panels that an extension registered in its last run.
func (e *Extension) recall() {
	var list []sep.Panel
	if e.SEP == nil || e.Record.Panels == "" || json.Unmarshal([]byte(e.Record.Panels), &list) != nil {
		return
	}
	for _, p := range list[:min(len(list), sep.MaxPanels)] {
		if member, _ := sep.PanelProblem(p); member == "" && !e.HasPanel(p.ID) {
			e.registered = append(e.registered, p)
		}
	}
}

// remember stores the panels that a running extension registered, for bento x and for commands that list panels.
func (p Places) remember(e *Extension, all []sep.Panel) {
	var list []sep.Panel
	for _, panel := range all {
		if !slices.ContainsFunc(e.SEP.Panels(), func(other sep.Panel) bool { return other.ID == panel.ID }) {
			panel.Action = ""
			list = append(list, panel)
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // cannot happen for types of this program
	}
	if len(list) == 0 || len(text) > maxPanels || p.Records == nil || string(text) == e.Record.Panels {
		return
	}
	_ = p.Records.Change(p.Root, e.ID, func(r *Record) { r.Panels = string(text) }) // after a failure, the next run stores them
}
