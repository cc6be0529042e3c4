package companion

import (
	"encoding/json"
	"slices"

	"github.com/bentobuild/bento/internal/extension"
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

// recall sets the panels that an extension registered in its last run. It leaves out panels whose id is already a
// namespace.
func (e *Extension) recall(taken map[string]string) {
	var list []sep.Panel
	if e.Record.Panels == "" || json.Unmarshal([]byte(e.Record.Panels), &list) != nil {
		return
	}
	for _, p := range list[:min(len(list), sep.MaxPanels)] {
		if member, _ := sep.PanelProblem(p); member == "" && taken[p.ID] == "" {
			e.registered, taken[p.ID] = append(e.registered, p), e.ID
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
	_ = p.Records.Change(p.Root, e.ID, func(r *extension.Record) { r.Panels = string(text) }) // after a failure, the next run stores them
}
