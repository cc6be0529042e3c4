package key

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// ToolStatus is a tool of a dish, compared with a version that the dish requires.
type ToolStatus struct {
	Dish    string `json:"dish"`
	Adapter string `json:"adapter"`
	Tool    string `json:"tool"`
	Wanted  string `json:"wanted,omitempty"`
	Where   string `json:"where,omitempty"` // file:line that requires it
	Found   string `json:"found,omitempty"`
	Status  string `json:"status" enum:"ok,unpinned,mismatch,mismatch_warned,not_compared,missing,failed,known_at_run"`
	Hint    string `json:"hint,omitempty"`
}

// Unmet reports whether the tool keeps the dish from running.
func (r ToolStatus) Unmet() bool {
	return r.Status == "mismatch" || r.Status == "missing" || r.Status == "failed"
}

// Short returns the name of the tool as in pins: Tool of a missing tool may have the version, too.
func (r ToolStatus) Short() string {
	name, _, _ := strings.Cut(r.Tool, " ")
	return strings.ToLower(name)
}

// Compare returns the tools of a dish of the workspace at root: one for each pin, at least one unless the dish has no
// adapter.
func (tc *Toolchains) Compare(ctx context.Context, root string, d *dish.Dish) []ToolStatus {
	if d.Adapter == nil {
		return nil
	}
	m := d.Adapter.Manifest()
	row := ToolStatus{Dish: d.Name, Adapter: m.AdapterID, Tool: m.RuntimeName(), Status: "unpinned"}
	fingerprint, err := tc.Fingerprint(ctx, d.Adapter, d.Dir)
	var missing *adapters.MissingTool
	var late *adapters.KnownAtRun
	switch {
	case errors.As(err, &missing):
		row.Status, row.Tool, row.Hint = "missing", missing.Tool, missing.Hint
	case errors.As(err, &late):
		row.Status, row.Hint = "known_at_run", late.Why
	case err != nil:
		row.Status, row.Hint = "failed", err.Error()
	}
	pins := PinsOf(root, d)
	if missing != nil { // pins of other tools are not the reason
		pins = slices.DeleteFunc(pins, func(p Pin) bool { return p.Tool != row.Short() })
	}
	if len(pins) == 0 {
		row.Found = foundVersion(d.Adapter, row.Tool, fingerprint)
		return []ToolStatus{row}
	}
	var rows []ToolStatus
	for _, p := range pins {
		rows = append(rows, row.with(d, p, fingerprint))
	}
	return rows
}

// with returns the row of one pin.
func (r ToolStatus) with(d *dish.Dish, p Pin, fingerprint string) ToolStatus {
	r.Wanted, r.Where = p.Version, p.File
	if p.Line > 0 {
		r.Where = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	if r.Status != "unpinned" {
		return r
	}
	r.Tool = p.Tool
	if p.Refused != "" {
		r.Status, r.Hint = "mismatch", p.Refused
		return r
	}
	v := adapters.CheckPin(d.Adapter, p.Toolchain, fingerprint)
	r.Status, r.Hint = "ok", v.Hint
	r.Found = cmp.Or(v.Found, firstLine(fingerprint))
	switch {
	case v.NotCompared:
		r.Status = "not_compared"
	case !v.OK && p.Severity(d) == diagnostics.Error:
		r.Status = "mismatch"
	case !v.OK:
		r.Status = "mismatch_warned"
	}
	return r
}

// foundVersion returns the version of an unpinned tool if its adapter can read it from the fingerprint, else
// the first line of the fingerprint.
func foundVersion(a adapters.Adapter, tool, fingerprint string) string {
	return cmp.Or(adapters.CheckPin(a, adapters.Toolchain{Tool: tool, Version: "0"}, fingerprint).Found, firstLine(fingerprint))
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
