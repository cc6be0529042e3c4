package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

func addCommand(s *session) *cobra.Command {
	var dish string
	var dev bool
	cmd := &cobra.Command{
		Use: "add PKG…", GroupID: "setup",
		Short:   "Add dependencies to a dish, by its ecosystem's own command",
		Long:    "Add dependencies to the dish of the current directory, or to that of --dish, by\nthe command of its ecosystem: go get, cargo add, npm install, composer require.\nPKG has the form that this command accepts, with or without a version.",
		Example: "  bento add golang.org/x/sync --dish api\n  bento add --dev vitest",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError("bento add requires the name of a package", "run bento add PKG with the name that the dish's own tool uses")
			}
			return s.add(cmd.Context(), dish, args, dev)
		},
	}
	cmd.Flags().StringVar(&dish, "dish", "", "add to the dish `NAME`")
	cmd.Flags().BoolVar(&dev, "dev", false, "add the packages as development dependencies")
	return cmd
}

// added is the document of `bento add`.
type added struct {
	Schema   string   `json:"schema"`
	Dish     string   `json:"dish"`
	Language string   `json:"language"`
	Packages []string `json:"packages"`
	Dev      bool     `json:"dev,omitempty"`
}

// add adds packages to one dish.
func (s *session) add(ctx context.Context, name string, packages []string, dev bool) error {
	for _, p := range packages {
		if p == "" || p[0] == '-' || strings.ContainsFunc(p, unicode.IsControl) {
			return usageError(fmt.Sprintf("%q is no name of a package", p), "remove the option: bento does not pass options to the tool")
		}
	}
	w, err := s.open(ctx, s.lines())
	if err != nil {
		return err
	}
	defer w.close()
	d, err := w.dishToChange(name, "no tool can add packages")
	if err != nil {
		return err
	}
	report.WriteProblems(s.err, s.style, w.Problems)
	language := d.Adapter.Manifest().AdapterID
	if err := run.LinksOut(w.Root, d); err != nil {
		return err
	}
	// A missing tool is reported before any file changes.
	w.env.Snapshot.Acts()
	w.env.Toolchains.LetRun()
	if _, err := w.env.Toolchains.Fingerprint(ctx, d.Adapter, d.Dir); err != nil {
		return err
	}
	err = run.AddPackages(ctx, w.env, d, packages, dev, func(l adapters.Log) { fmt.Fprintln(s.err, report.Printable(l.Message)) })
	var not *adapters.Unsupported
	var failed *adapters.InstallError
	switch {
	case errors.As(err, &not):
		return diagnostics.Problems{diagnostics.Pos{File: d.Path}.Error("unsupported", "%v", not).WithHint(not.Hint)}
	case errors.As(err, &failed):
		s.outcome = exitTask
		return s.failed(fmt.Sprintf("cannot add %s to %s", report.PrintableLine(strings.Join(packages, ", ")), report.PrintableLine(d.Name)), failed)
	case err != nil:
		return err
	}
	if s.flags.json {
		return report.Write(s.out, added{report.Schema("add"), d.Name, language, packages, dev})
	}
	fmt.Fprintf(s.out, "added %s to %s\n", strings.Join(packages, ", "), d.Name)
	return nil
}

// failed reports a tool that failed; what names the operation. The output of the tool was
// printed as it came, except the detail from a plugin.
func (s *session) failed(what string, err *adapters.InstallError) error {
	short := *err
	if short.Plugin == "" {
		short.Detail = ""
	}
	report.WriteError(s.err, s.style, fmt.Errorf("%s: %w", what, &short))
	if s.flags.json {
		return report.Write(s.out, report.NewError(fmt.Errorf("%s: %w", what, err)))
	}
	return nil
}

// dishToChange returns the dish with this name. If name is "", it returns the dish of the current directory,
// else the only dish. without completes the error message for a dish without a language.
func (w *opened) dishToChange(name, without string) (*dish.Dish, error) {
	var found *dish.Dish
	var names []string
	for _, d := range w.Dishes {
		names = append(names, d.Name)
		if d.Name == name {
			found = d
		}
	}
	switch {
	case name != "" && found == nil:
		return nil, notFound("unknown_dish", fmt.Sprintf("no dish is named %q", name), diagnostics.Suggest(name, names))
	case name == "":
		found = w.Owner(w.dir)
	}
	if found == nil && len(w.Dishes) == 1 {
		found = w.Dishes[0]
	}
	switch {
	case found == nil:
		return nil, usageError("no dish is in the current directory", "name a dish with --dish: "+strings.Join(names, ", "))
	case found.Failure != nil:
		return nil, found.Failure
	case found.Adapter == nil:
		return nil, usageError(fmt.Sprintf("the dish %q has no language, so %s", found.Name, without), "name another dish with --dish")
	}
	return found, nil
}
