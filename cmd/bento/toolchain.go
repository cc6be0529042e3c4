package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
)

func toolchainCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "toolchain", GroupID: "setup",
		Short: "Compare the installed tools with the versions that dishes require",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "list [TARGET…]", Short: "List each dish's tools with the required and the found version",
		Annotations: traits{Reads: true}.annotations(),
		Example:     "  bento toolchain list\n  bento toolchain list api --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.toolchain(cmd.Context(), "toolchain.list", args)
		},
	}, &cobra.Command{
		Use: "check [TARGET…]", Short: "The same; exit code 2 if a tool is missing or has a wrong version",
		Annotations: traits{Reads: true}.annotations(),
		Example:     "  bento toolchain check",
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.toolchain(cmd.Context(), "toolchain.check", args)
		},
	}, toolchainPinCommand(s))
	return cmd
}

// toolReport is the document of `bento toolchain list` and `check`.
type toolReport struct {
	Schema  string    `json:"schema"`
	Entries []toolRow `json:"entries"`
	Unmet   int       `json:"unmet"` // entries that are missing or mismatched
}

// toolRow is one tool of one dish.
type toolRow struct {
	Dish    string `json:"dish"`
	Adapter string `json:"adapter"`
	Tool    string `json:"tool"`
	Wanted  string `json:"wanted,omitempty"`
	Where   string `json:"where,omitempty"` // file:line that requires it
	Found   string `json:"found,omitempty"`
	Status  string `json:"status" enum:"ok,unpinned,mismatch,mismatch_warned,not_compared,missing,failed,known_at_run"`
	Hint    string `json:"hint,omitempty"`
}

func (r toolRow) unmet() bool {
	return r.Status == "mismatch" || r.Status == "missing" || r.Status == "failed"
}

// short returns the name of the tool as in pins: Tool of a missing tool may have the version, too.
func (r toolRow) short() string {
	name, _, _ := strings.Cut(r.Tool, " ")
	return strings.ToLower(name)
}

// toolchain lists tools. toolchain check ends with exitInput if a tool is missing or has a
// wrong version.
func (s *session) toolchain(ctx context.Context, command string, targets []string) error {
	w, dishes, err := s.selected(ctx, targets)
	if err != nil {
		return err
	}
	defer w.close()
	doc := toolReport{Schema: report.Schema(command), Entries: []toolRow{}}
	for _, d := range dishes {
		doc.Entries = append(doc.Entries, w.tools(ctx, d)...)
	}
	_ = w.env.Toolchains.Save() // after a failure, the next run runs the tools again
	for _, r := range doc.Entries {
		if r.unmet() {
			doc.Unmet++
		}
	}
	if doc.Unmet > 0 && command == "toolchain.check" {
		s.outcome = exitInput
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	doc.write(s.out, s.style)
	return nil
}

// selected opens the workspace and returns the dishes of targets. It prints problems, and returns an error
// if they leave no dishes.
func (s *session) selected(ctx context.Context, targets []string) (*opened, []*dish.Dish, error) {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return nil, nil, err
	}
	if len(targets) == 0 {
		report.WriteProblems(s.err, s.style, w.Problems)
		return w, w.Dishes, nil
	}
	p, _, problems, err := s.build(ctx, w, selection{Request: plan.Request{Targets: targets}})
	problems = diagnostics.Sorted(append(w.Problems, problems...))
	if p == nil && err == nil {
		err = diagnostics.AsError(problems)
	}
	if err != nil {
		w.close()
		return nil, nil, err
	}
	report.WriteProblems(s.err, s.style, problems)
	return w, p.Dishes, nil
}

// tools returns the tools of a dish: one row for each pin, at least one.
func (w *opened) tools(ctx context.Context, d *dish.Dish) []toolRow {
	if d.Adapter == nil {
		return nil
	}
	m := d.Adapter.Manifest()
	row := toolRow{Dish: d.Name, Adapter: m.AdapterID, Tool: m.RuntimeName(), Status: "unpinned"}
	fingerprint, err := w.env.Toolchains.Fingerprint(ctx, d.Adapter, d.Dir)
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
	pins := key.PinsOf(w.Root, d)
	if missing != nil { // pins of other tools are not the reason
		pins = slices.DeleteFunc(pins, func(p key.Pin) bool { return p.Tool != row.short() })
	}
	if len(pins) == 0 {
		row.Found = foundVersion(d.Adapter, row.Tool, fingerprint)
		return []toolRow{row}
	}
	var rows []toolRow
	for _, p := range pins {
		rows = append(rows, row.with(d, p, fingerprint))
	}
	return rows
}

// with returns the row of one pin.
func (r toolRow) with(d *dish.Dish, p key.Pin, fingerprint string) toolRow {
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

func (doc toolReport) write(w io.Writer, style report.Style) {
	words := map[string]string{
		"ok": style.Green("ok      "), "unpinned": style.Dim("unpinned"), "mismatch": style.Red("mismatch"),
		"mismatch_warned": style.Yellow("mismatch"), "missing": style.Red("missing "), "failed": style.Red("failed  "),
		"not_compared": style.Dim("?       "), "known_at_run": style.Dim("at run  "),
	}
	for _, r := range doc.Entries {
		line := fmt.Sprintf("%s  %-16s %-8s", words[r.Status], report.PrintableLine(r.Dish), report.PrintableLine(r.Tool))
		if r.Found != "" {
			line += " " + report.PrintableLine(r.Found)
		}
		if r.Wanted != "" {
			line += style.Dim(fmt.Sprintf("  wants %s (%s)", report.PrintableLine(r.Wanted), report.PrintableLine(placeShown(style, r.Where))))
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
		if r.Status != "ok" && r.Hint != "" {
			fmt.Fprintf(w, "            %s\n", report.Indent(report.Printable(r.Hint)))
		}
	}
}

// runtimes returns the names of the pinnable tools of dishes.
func (w *opened) runtimes() []string {
	var names []string
	for _, d := range w.Dishes {
		if d.Adapter != nil {
			names = append(names, d.Adapter.Manifest().RuntimeName())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
