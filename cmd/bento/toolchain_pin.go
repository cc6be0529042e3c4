package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/report"
)

func toolchainPinCommand(s *session) *cobra.Command {
	var dish string
	cmd := &cobra.Command{
		Use: "pin [TOOL[=VERSION]…]", Short: "Pin the installed versions",
		Long:    "Write the installed version of each TOOL, or VERSION, under [toolchain] in\nbento.toml, or in the dish.toml of --dish. Without TOOL, pin all tools of the\ndishes. Comments and order stay.",
		Example: "  bento toolchain pin\n  bento toolchain pin go node=22.11.0\n  bento toolchain pin --dish api",
		RunE:    func(cmd *cobra.Command, args []string) error { return s.toolchainPin(cmd.Context(), dish, args) },
	}
	cmd.Flags().StringVar(&dish, "dish", "", "pin for the dish `NAME` only")
	return cmd
}

// pinned is the document of `bento toolchain pin`.
type pinned struct {
	Schema  string      `json:"schema"`
	File    string      `json:"file"`
	Entries []pinnedRow `json:"entries"`
}

type pinnedRow struct {
	Tool     string `json:"tool"`
	Version  string `json:"version"`
	Previous string `json:"previous,omitempty"`
	Changed  bool   `json:"changed"`
}

func (s *session) toolchainPin(ctx context.Context, name string, args []string) error {
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	report.WriteProblems(s.err, s.style, w.Problems)
	dishes, file := w.Dishes, dish.WorkspaceFile
	if name != "" {
		d, err := w.dishToChange(name, "it has no toolchain to pin")
		if err != nil {
			return err
		}
		dishes, file = []*dish.Dish{d}, path.Join(d.Path, dish.File)
	}
	installed, err := w.versions(ctx, dishes)
	if err != nil {
		return err
	}
	want, err := pinsOf(args, installed, w.runtimes())
	if err != nil {
		return err
	}
	doc := pinned{Schema: report.Schema("toolchain.pin"), File: file, Entries: []pinnedRow{}}
	for _, tool := range slices.Sorted(maps.Keys(want)) {
		previous, err := config.Pin(w.Root, file, tool, want[tool])
		if err != nil {
			return err
		}
		doc.Entries = append(doc.Entries, pinnedRow{Tool: tool, Version: want[tool], Previous: previous, Changed: previous != want[tool]})
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	for _, e := range doc.Entries {
		fmt.Fprintf(s.out, "%s: %s = %q\n", report.PrintableLine(file), e.Tool, e.Version)
	}
	return nil
}

// versions returns the installed version of every tool of dishes.
func (w *opened) versions(ctx context.Context, dishes []*dish.Dish) (map[string]string, error) {
	installed := make(map[string]string)
	for _, d := range dishes {
		for _, r := range w.env.Toolchains.Compare(ctx, w.Root, d) {
			if r.Tool != d.Adapter.Manifest().RuntimeName() || !isVersion.MatchString(r.Found) {
				continue
			}
			if old, ok := installed[r.Tool]; ok && old != r.Found {
				return nil, usageError(fmt.Sprintf("dishes use different versions of %s: %s and %s", r.Tool, old, r.Found), "pin them one by one with --dish, or write "+r.Tool+"=VERSION")
			}
			installed[r.Tool] = r.Found
		}
	}
	return installed, nil
}

var isVersion = pattern.New(`^v?[0-9][0-9A-Za-z.+_-]*$`)

// pinsOf returns the versions of the arguments, or all installed versions if there are no arguments.
func pinsOf(args []string, installed map[string]string, known []string) (map[string]string, error) {
	if len(args) == 0 {
		if len(installed) == 0 {
			return nil, usageError("no version of a tool is known here", "run bento toolchain list for the missing tools, or write TOOL=VERSION")
		}
		return installed, nil
	}
	want := make(map[string]string)
	for _, arg := range args {
		tool, version, given := strings.Cut(arg, "=")
		if !slices.Contains(known, tool) {
			return nil, notFound(discovery.RuleUnknownRuntime, fmt.Sprintf("no dish uses a tool %q", tool), discovery.SuggestLanguage(tool, known))
		}
		if !given {
			version = installed[tool]
		}
		if version == "" || strings.ContainsFunc(version, func(r rune) bool { return r < '!' || r == 0x7f }) {
			return nil, usageError(fmt.Sprintf("no version of %s is known to pin", tool), "write "+tool+"=VERSION")
		}
		want[tool] = version
	}
	return want, nil
}
