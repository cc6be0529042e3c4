package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/export"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/tree"
	"github.com/bentobuild/bento/internal/workspace"
	"github.com/bentobuild/bento/plugin/adapter"
)

// flags are those that every command has.
type flags struct {
	dir                       string
	json, noCache, verbose    bool
	color, output             string
	reportFiles               []string
	events, profile           string
	jobs                      string
	maxLoad                   float64
	keepGoing                 bool
	skipInstall, forceInstall bool
}

func (f *flags) add(set *pflag.FlagSet) {
	set.StringVarP(&f.dir, "workspace", "C", "", "start looking for the workspace in `DIR`")
	set.BoolVar(&f.json, "json", false, "print one JSON document")
	set.BoolVar(&f.noCache, "no-cache", false, "look nothing up in the cache; results are still stored")
	set.BoolVarP(&f.verbose, "verbose", "v", false, "say more on stderr")
	set.StringVar(&f.color, "color", "auto", "`WHEN` to use colour: auto, always, never")
	set.StringVar(&f.output, "output", string(terminal.Grouped), "`MODE` of task output: "+strings.Join(terminal.Modes(), ", "))
	set.Var(repeated{&f.reportFiles}, "report-file", "also write a report of the run to `FILE`: JSON, JUnit if it ends in .xml, SARIF if in .sarif (repeatable)")
	set.StringVar(&f.events, "events", "", "write what happens to `FILE` as it happens, one JSON object a line; - is stdout")
	set.StringVar(&f.profile, "profile", "", "write a trace of the run to `FILE`, for chrome://tracing and Perfetto")
	set.StringVarP(&f.jobs, "jobs", "j", "", "run `N` tasks at once, or N% of the CPUs (default: defaults.parallelism, else one a CPU)")
	set.Float64Var(&f.maxLoad, "max-load", 0, "start no task beside others while the load average is `L` or more")
	set.BoolVar(&f.keepGoing, "keep-going", false, "after a failure go on with what does not depend on it")
	set.BoolVar(&f.skipInstall, "skip-install", false, "install no dependencies")
	set.BoolVar(&f.forceInstall, "force-install", false, "install dependencies even when they are up to date")
}

// session is one invocation.
type session struct {
	process
	flags flags
	style report.Style
	// command is the name of the command that runs, for documents.
	command string
	// line is the command line as people would write it.
	line string
	// outcome is the exit code of a command that ended without an error.
	outcome int
	// spans are what was measured for --profile.
	spans []export.Span
	// opener opens workspaces; nil until the first one. See host.
	opener *workspace.Host
}

func (s *session) end() {
	if s.opener != nil {
		s.opener.Close()
	}
}

// check looks at the flags that no command can work with.
func (s *session) check(cmd *cobra.Command) error {
	s.command = cmd.Name()
	if cmd.GroupID != "run" {
		s.environ = absolutePath(s.environ)
	}
	if s.pipes != nil {
		s.pipes.changes.Store(!onlyLooks(cmd))
	}
	s.style.Color = s.wantsColor()
	for flag, set := range map[string]struct {
		value string
		known []string
	}{
		"output": {s.flags.output, terminal.Modes()},
		"color":  {s.flags.color, []string{"auto", "always", "never"}},
	} {
		if !slices.Contains(set.known, set.value) {
			return usageError(fmt.Sprintf("--%s %q is not known", flag, set.value), diagnostics.Suggest(set.value, set.known))
		}
	}
	if err := noneEmpty(cmd.Flags()); err != nil {
		return err
	}
	if cmd.Flags().Changed("jobs") {
		if _, ok := jobs(s.flags.jobs); !ok {
			return usageError(fmt.Sprintf("--jobs %q is not a number of tasks", s.flags.jobs), "use the number of tasks to run at once, 1 or more, or a percentage of the CPUs such as 50%")
		}
	}
	if _, err := loadAverage(); cmd.Flags().Changed("max-load") && (err != nil || !(s.flags.maxLoad > 0)) { // also NaN
		return usageError(fmt.Sprintf("--max-load %v cannot be kept to", s.flags.maxLoad), "expected a number above 0, on a system that tells its load average")
	}
	return nil
}

// absolutePath returns e without the relative entries of PATH: to a tool that is asked
// in a directory of the workspace they name programs of the workspace, and what does not
// run tasks starts none of these.
func absolutePath(e adapters.Environ) adapters.Environ {
	entries := filepath.SplitList(e.Get("PATH"))
	absolute := slices.DeleteFunc(slices.Clone(entries), func(dir string) bool { return !filepath.IsAbs(dir) })
	if len(absolute) == len(entries) {
		return e
	}
	return e.With(map[string]string{"PATH": strings.Join(absolute, string(filepath.ListSeparator))})
}

// noneEmpty refuses flags that are given nothing: mostly a variable that is not set, and
// then --since "$BASE" must not mean everything.
func noneEmpty(set *pflag.FlagSet) (err error) {
	set.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if r, ok := f.Value.(repeated); ok {
			values = *r.list
		}
		if f.Name != "workspace" && slices.Contains(values, "") {
			err = usageError("--"+f.Name+" is given nothing", "leave it out, or see whether a variable is not set")
		}
	})
	return err
}

func (s *session) wantsColor() bool {
	if s.flags.color != "auto" {
		return s.flags.color == "always"
	}
	if _, no := s.environ.Lookup("NO_COLOR"); no {
		return false
	}
	return s.terminal && s.environ.Get("TERM") != "dumb"
}

// host returns what workspaces are opened with.
func (s *session) host() *workspace.Host {
	if s.opener == nil {
		s.opener = &workspace.Host{Environ: s.environ, Version: version(), Stderr: s.err, Log: s.hear}
	}
	return s.opener
}

// opened is an opened workspace, and all that is needed to evaluate and run its tasks.
type opened struct {
	*workspace.Workspace
	env *run.Env
	dir string // where the user is, relative to the root
}

// locate makes the targets of a request that are paths relative to the workspace.
func (w *opened) locate(req *plan.Request) error {
	req.Dir = w.dir
	for _, list := range [][]string{req.Targets, req.Exclude} {
		for i, target := range list {
			if target == "" {
				return usageError("a target is empty", "leave it out, or see whether a variable is not set")
			}
			path, err := w.place(plan.Center(target))
			if err != nil {
				return err
			}
			list[i] = strings.Replace(target, plan.Center(target), path, 1)
		}
	}
	return nil
}

// place returns a target that is a path as one from the root, with "/" in front. Names,
// and paths that need no work, stay.
func (w *opened) place(target string) (string, error) {
	if !strings.ContainsRune(target, filepath.Separator) && !strings.HasPrefix(target, ".") {
		return target, nil
	}
	path := target
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.Root, filepath.FromSlash(w.dir), target)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(target, "*?[{") {
		real, err = path, nil // a glob, which is matched with the paths of dishes
	}
	if err != nil {
		return "", notFound("target_not_found", fmt.Sprintf("no dish, bento or path with dishes is named %q", target), "bento plan names the dishes")
	}
	rel, err := filepath.Rel(w.Root, real)
	if err != nil || !filepath.IsLocal(rel) {
		return "", notFound("target_not_found", fmt.Sprintf("%q lies outside the workspace %q", target, w.Root), "use -C for another workspace")
	}
	return "/" + filepath.ToSlash(rel), nil
}

// close ends the plugins, and says what is left to say.
func (w *opened) close() {
	w.Close()
	w.env.SumUp()
}

// open finds the workspace and what is in it. Problems of the user's files are in
// the result; the error is what leaves nothing to look at.
func (s *session) open(ctx context.Context, reporter run.Reporter) (*opened, error) {
	return s.openFor(ctx, reporter, false)
}

// openFor is open for a caller that knows whether it will ask about all dishes.
func (s *session) openFor(ctx context.Context, reporter run.Reporter, all bool) (*opened, error) {
	root, cwd, err := s.root()
	if err != nil {
		return nil, err
	}
	return s.openAt(ctx, place{root: root, cwd: cwd, all: all}, reporter)
}

// place is where a workspace is, and the user.
type place struct {
	root, cwd string
	exclude   []config.Glob // in addition to what bento.toml excludes
	all       bool          // all that is in it will be asked about
}

// openAt opens the workspace at a place.
func (s *session) openAt(ctx context.Context, at place, reporter run.Reporter) (*opened, error) {
	env := &run.Env{Root: at.root, Environ: s.environ, Program: workspace.Program(), Reporter: reporter, Executing: guardOnce()}
	ws, err := s.host().Open(ctx, workspace.Options{
		Root: at.root, Exclude: at.exclude, All: at.all, Warn: s.warn, Damaged: env.WarnDamage,
	})
	if err != nil {
		return nil, err
	}
	s.sayLoaded(ws.Plugins, ws.Tree)
	env.State, env.Store, env.Inherit, env.Snapshot = ws.State, ws.Store, ws.Config.Defaults.InheritEnv, ws.Snapshot
	env.Toolchains = key.OpenToolchains(ws.State)
	w := &opened{Workspace: ws, env: env, dir: inside(at.root, at.cwd)}
	w.warnGuest()
	return w, nil
}

// root finds the workspace, and the current directory without links.
func (s *session) root() (root, cwd string, err error) {
	if cwd, err = os.Getwd(); err != nil {
		return "", "", fmt.Errorf("the current directory cannot be found: %w", err)
	}
	if cwd, err = filepath.EvalSymlinks(cwd); err != nil {
		return "", "", err
	}
	root, err = discovery.FindRoot(discovery.RootOptions{
		Dir: s.flags.dir, Env: s.environ.Get("BENTO_WORKSPACE_ROOT"), Cwd: cwd, PassedOver: s.sayPassedOver,
	})
	return root, cwd, err
}

// sayPassedOver says which directory is no workspace, for those who ask.
func (s *session) sayPassedOver(why string) {
	if s.flags.verbose {
		fmt.Fprintf(s.err, "bento: %s\n", report.Printable(why))
	}
}

// hear tells what a plugin says outside of an install.
func (s *session) hear(id string, l adapters.Log) {
	out := s.out
	if s.flags.json {
		out = s.err
	}
	switch {
	case l.Verbatim:
		report.WriteForwarded(out, s.err, l)
	case s.flags.verbose || l.Level == "warn" || l.Level == "error":
		fmt.Fprintf(s.err, "bento: %s: ", id)
		report.WriteLog(s.err, l)
	}
}

// sayLoaded names the plugins that were loaded, and the work trees that are no part of
// the workspace, for those who ask.
func (s *session) sayLoaded(set *adapter.Set, files *tree.Tree) {
	if !s.flags.verbose {
		return
	}
	for _, dir := range files.Worktrees() {
		s.sayPassedOver(dir + " is left out: it is another work tree of a git repository (git worktree list)")
	}
	for _, p := range set.Status() {
		if p.RunsOn {
			continue // it was said when it was started
		}
		if p.Status == adapter.Loaded && !p.Asleep || p.Status == adapter.Shadowed && p.Handshake > 0 {
			fmt.Fprintf(s.err, "bento: loaded plugin: %s from %s\n", p.ID, p.Path)
		}
		if p.Asleep {
			fmt.Fprintf(s.err, "bento: plugin not needed: %s from %s\n", p.ID, p.Path)
		}
	}
}

// inside returns where cwd lies below root, "" if it does not.
func inside(root, cwd string) string {
	if rel, err := filepath.Rel(root, cwd); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return ""
}

func (s *session) warn(code, message, hint string) {
	report.WriteProblems(s.err, s.style, []diagnostics.Diagnostic{{
		Severity: diagnostics.Warning, Rule: code, Message: message, Hint: hint, Source: diagnostics.Source,
	}})
}
