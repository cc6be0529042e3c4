package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/diagnostics/parse"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/observe"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/export"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tier"
	"github.com/bentobuild/bento/internal/tree"
	"github.com/bentobuild/bento/internal/workspace"
	"github.com/bentobuild/bento/plugin/adapter"
)

// session is one invocation.
type session struct {
	process
	flags flags
	style report.Style
	// command is the name of the command that runs, for documents.
	command string
	// line is the command line, for documents and reports.
	line string
	// warns says that the command warns of keys that have no effect, strict that a failed plugin that the workspace
	// needs fails it.
	warns, strict bool
	// unknown is the error of a line that asks for the help of an unknown command.
	unknown error
	// few is the number of requested tasks up to which a run shows what they print as it comes.
	few int
	// outcome is the exit code of a command that ended without an error.
	outcome int
	// spans are the measured times for --profile.
	spans []export.Span
	// opener opens workspaces; nil until the first one. See host.
	opener *workspace.Host
	// moves watches directories while tasks run.
	moves record.Moves
}

func (s *session) end() {
	s.moves.Close()
	if s.opener != nil {
		s.opener.Close()
	}
}

// shown returns the style of what is written to stdout: a file or another program gets whole lines.
func (s *session) shown() report.Style {
	style := s.style
	if !s.terminal {
		style.Columns = nil
	}
	return style
}

// check returns an error for global flags that are invalid for every command.
func (s *session) check(cmd *cobra.Command) error {
	s.command = cmd.Name()
	t, runs := traitsOf(cmd), cmd.GroupID == "run"
	reads := t.onlyReads(cmd)
	s.warns, s.strict = t.Warns || runs && reads, t.Strict
	if !runs || reads {
		s.environ = absolutePath(s.environ)
	}
	if s.pipes != nil {
		s.pipes.changes.Store(!reads)
	}
	s.style = report.Style{Color: s.wantsColor(), Places: &places{find: s.root}, Columns: s.columns}
	for flag, set := range map[string]struct {
		value string
		known []string
	}{
		"output": {s.flags.output, terminal.Modes()}, "observe": {cmp.Or(s.flags.observe, "auto"), []string{"auto", "always", "never"}},
		"sandbox": {cmp.Or(s.flags.sandbox, "none"), []string{"inputs", "none"}},
		"color":   {s.flags.color, []string{"auto", "always", "never"}},
	} {
		if !slices.Contains(set.known, set.value) {
			return usageError(fmt.Sprintf("--%s %q is not known", flag, set.value), diagnostics.Suggest(set.value, set.known))
		}
	}
	if _, err := (config.CacheMode{}).Under(s.flags.cache); cmd.Flags().Changed("cache") && s.flags.cache != "" && err != nil {
		return usageError("--cache "+err.Error(), "write local: or remote: and r, w, rw or nothing, such as local:rw,remote:r")
	}
	if err := noneEmpty(cmd.Flags()); err != nil {
		return err
	}
	if err := noneUnused(cmd); err != nil {
		return err
	}
	if cmd.Flags().Changed("jobs") {
		if _, ok := jobs(s.flags.jobs); !ok {
			return usageError(fmt.Sprintf("--jobs %q is not a number of tasks", s.flags.jobs), "use the number of tasks to run at once, 1 or more, or a percentage of the CPUs such as 50%")
		}
	}
	if _, err := loadAverage(); cmd.Flags().Changed("max-load") && (err != nil || !(s.flags.maxLoad > 0)) { // NaN is invalid, too
		return usageError(fmt.Sprintf("--max-load %v cannot be kept to", s.flags.maxLoad), "expected a number above 0, on a system that has a load average")
	}
	return nil
}

// absolutePath returns e without the relative entries of PATH. For a tool that runs in a directory of the
// workspace, these entries name programs of the workspace, which only commands that run tasks may start.
func absolutePath(e adapters.Environ) adapters.Environ {
	entries := filepath.SplitList(e.Get("PATH"))
	absolute := slices.DeleteFunc(slices.Clone(entries), func(dir string) bool { return !filepath.IsAbs(dir) })
	if len(absolute) == len(entries) {
		return e
	}
	return e.With(map[string]string{"PATH": strings.Join(absolute, string(filepath.ListSeparator))})
}

func (s *session) wantsColor() bool {
	if s.flags.color != "auto" {
		return s.flags.color == "always"
	}
	if _, no := s.environ.Lookup("NO_COLOR"); no {
		return false
	}
	for _, name := range []string{"FORCE_COLOR", "CLICOLOR_FORCE"} {
		switch s.environ.Get(name) {
		case "":
		case "0", "false":
			return false
		default:
			return true
		}
	}
	return s.terminal && s.environ.Get("TERM") != "dumb"
}

// taskColor returns whether tasks print colours: never with --color never, always if bento does, else as each task
// decides.
func (s *session) taskColor() action.Color {
	switch {
	case s.flags.color == "never":
		return action.ColorNever
	case s.wantsColor():
		return action.ColorAlways
	}
	return action.ColorAsIs
}

// host returns the Host by which this session opens workspaces.
func (s *session) host() *workspace.Host {
	if s.opener == nil {
		s.opener = &workspace.Host{Environ: s.environ, Version: version(), Stderr: s.err, Log: s.logPlugin}
		kit.Equip(s.opener)
		if s.builtin != nil {
			s.opener.Builtin = s.builtin
		}
	}
	return s.opener
}

// opened is an opened workspace with the environment to evaluate and run its tasks.
type opened struct {
	*workspace.Workspace
	env *run.Env
	dir string // the current directory of the user, relative to the root

	remote *tier.Tier // nil for none
	leave  func()     // ends the remote execution; nil for none
}

// close ends the plugins, and prints pending summaries.
func (w *opened) close() {
	if w.remote != nil {
		w.remote.Close()
	}
	if w.leave != nil {
		w.leave()
	}
	w.Close()
	w.env.SumUp()
}

// open finds and opens the workspace. Problems of the user's files are in the result; an error means that
// there is no result.
func (s *session) open(ctx context.Context, reporter run.Reporter) (*opened, error) {
	return s.openFor(ctx, reporter, false)
}

// openFor is open for a caller that knows whether it needs all dishes.
func (s *session) openFor(ctx context.Context, reporter run.Reporter, all bool) (*opened, error) {
	root, cwd, err := s.root()
	if err != nil {
		return nil, err
	}
	return s.openAt(ctx, place{root: root, cwd: cwd, all: all}, reporter)
}

// openRun is openFor for a command that runs tasks. It starts the extensions of the workspace.
func (s *session) openRun(ctx context.Context, t *reporting, all bool) (*opened, error) {
	root, cwd, err := s.root()
	if err != nil {
		return nil, err
	}
	w, err := s.openAt(ctx, place{root: root, cwd: cwd, all: all, configured: s.companionsOf(ctx, t)}, t)
	if err == nil {
		s.openRemote(w)
		s.openElsewhere(w)
	}
	return w, err
}

// unfit returns why a task is executed on this machine although it wants a worker, "" if a worker can execute it.
func (w *opened) unfit(t *plan.Task) string { return w.env.Elsewhere.Unfit(t, w.env.Inherit) }

// openElsewhere connects runs with the server that executes tasks, if one is configured. It opens nothing.
func (s *session) openElsewhere(w *opened) {
	r, problems := kit.FindRemoteExec(s.host(), w.Config)
	w.Problems = append(w.Problems, problems...)
	if r == nil {
		return
	}
	if s.flags.remoteJobs > 0 {
		r.Jobs = s.flags.remoteJobs
	}
	w.env.Elsewhere, w.leave = r.Connect(w.Workspace)
}

// openRemote connects runs with the remote cache, if one is configured. It opens nothing.
func (s *session) openRemote(w *opened) {
	r, problems := kit.FindRemote(s.host(), w.Config, w.Mode)
	w.Problems = append(w.Problems, problems...)
	if r == nil {
		return
	}
	if w.remote = r.Tier(w.Workspace); w.remote != nil {
		w.env.Remote = w.remote
	}
	for _, why := range []string{r.Why.Read, r.Why.Write} {
		if why != "" && (s.flags.cache != "" || s.flags.verbose) {
			s.warn("remote_unused", "the remote cache is not used for all that cache.mode says: "+why, "bento cache status says what it is used for")
		}
	}
}

// place has the directories of a workspace and of the user.
type place struct {
	root, cwd string
	exclude   []dish.Glob // in addition to what bento.toml excludes
	all       bool        // the command needs all dishes
	// configured receives the configuration before the search for dishes; it may be nil.
	configured func(*config.Workspace)
}

// openAt opens the workspace at a place.
func (s *session) openAt(ctx context.Context, at place, reporter run.Reporter) (*opened, error) {
	env := &run.Env{Root: at.root, Environ: s.environ, Program: workspace.Program(), Reporter: reporter, Executing: guard, Moves: &s.moves, Color: s.taskColor(), Parse: parse.Parse}
	ws, err := s.host().Open(ctx, workspace.Options{
		Root: at.root, Exclude: at.exclude, All: at.all, Cache: s.flags.cache, Warn: s.warn, Damaged: env.WarnDamage, Configured: at.configured,
		First: s.heap.expectFirstLook,
	})
	if err != nil {
		return nil, err
	}
	s.sayLoaded(ws.Plugins, ws.Tree)
	ws.Problems = slices.DeleteFunc(ws.Problems, func(d diagnostics.Diagnostic) bool {
		return ws.Config.Silences(d) || d.Rule == config.RuleUnserved && d.Severity == diagnostics.Warning && !s.warns
	})
	if self, err := executable(); err == nil {
		env.Observer = &observe.Executor{Root: at.root, Self: self, Name: os.Args[0]}
		env.Sandbox = sandboxOf(env.Observer, self)
	}
	env.Containers = containersOf(s.containers(ws))
	env.Tree, env.State, env.Store, env.Inherit, env.Snapshot = ws.Tree, ws.State, ws.Store, ws.Config.Defaults.InheritEnv, ws.Snapshot
	env.Installs = run.SettingsOfInstalls(ws.Config.Defaults.PassEnv, ws.Dishes)
	env.Installs.Observe = cmp.Or(dish.Observe(s.flags.observe), ws.Config.Defaults.Observe)
	env.History = ws.History
	env.Toolchains = key.OpenToolchains(ws.State, state.OpenShared(s.host().AnswersDir(at.root)))
	w := &opened{Workspace: ws, env: env, dir: inside(at.root, at.cwd)}
	w.Problems = append(w.Problems, w.absentSubmodules(w.Problems)...)
	w.warnGuest()
	return w, nil
}

// root finds the workspace, and the current directory without links. If that was removed, an absolute path to
// the workspace is enough, and the current directory is the workspace's.
func (s *session) root() (root, cwd string, err error) {
	o := discovery.RootOptions{Dir: cmp.Or(s.within, s.flags.dir), Env: s.environ.Get("BENTO_WORKSPACE_ROOT"), PassedOver: s.sayPassedOver}
	if o.Cwd, err = os.Getwd(); err == nil {
		o.Cwd, err = filepath.EvalSymlinks(o.Cwd)
	}
	if err != nil && !filepath.IsAbs(cmp.Or(o.Dir, o.Env)) {
		return "", "", diagnostics.Refuse(discovery.RuleNoWorkspace, "change to a directory that exists, or name the workspace by an absolute path after -C",
			"the current directory cannot be found: %v", err)
	}
	root, err = discovery.FindRoot(o)
	if err == nil && s.within != "" && root != s.within {
		err = diagnostics.Refuse(discovery.RuleNoWorkspace, "start bento again in the other workspace", "%q is no workspace any more", s.within)
	}
	return root, cmp.Or(o.Cwd, root), err
}

// configured finds the workspace and reads its configuration, without opening it. It prints the problems.
func (s *session) configured(ctx context.Context) (*config.Workspace, *state.Dir, error) {
	root, _, err := s.root()
	if err != nil {
		return nil, nil, err
	}
	st := state.Open(root)
	if err := st.Check(ctx); err != nil {
		return nil, nil, err
	}
	cfg, problems := config.Load(root, s.host().OwnConfig())
	s.writeProblems(problems)
	return cfg, st, nil
}

// sayPassedOver prints with --verbose why a directory was passed over.
func (s *session) sayPassedOver(why string) {
	if s.flags.verbose {
		fmt.Fprintf(s.err, "bento: %s\n", report.Printable(why))
	}
}

// logPlugin prints a log message of a plugin outside of an install.
func (s *session) logPlugin(id string, l adapters.Log) {
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

// sayLoaded prints with --verbose the loaded plugins, and the work trees that the workspace leaves
// out.
func (s *session) sayLoaded(set *adapter.Set, files *tree.Tree) {
	if !s.flags.verbose {
		return
	}
	for _, dir := range files.Worktrees() {
		s.sayPassedOver(dir + " is left out: it is another work tree of a git repository (git worktree list)")
	}
	for _, p := range set.Status() {
		if p.RunsOn {
			continue // printed when the plugin was started
		}
		if p.Status == adapter.Loaded && !p.Asleep || p.Status == adapter.Shadowed && p.Handshake > 0 {
			fmt.Fprintf(s.err, "bento: loaded plugin: %s from %s\n", p.ID, p.Path)
		}
		if p.Asleep {
			fmt.Fprintf(s.err, "bento: plugin not needed: %s from %s\n", p.ID, p.Path)
		}
	}
}

// inside returns the path of cwd relative to root, "" if cwd is not below root.
func inside(root, cwd string) string {
	if rel, err := filepath.Rel(root, cwd); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return ""
}

// show writes a document as JSON with --json, and else for people.
func show[D any](s *session, doc D, write func(io.Writer, report.Style, D)) error {
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	write(s.out, s.style, doc)
	return nil
}

func (s *session) warn(code, message, hint string) {
	s.writeProblems([]diagnostics.Diagnostic{diagnostics.Pos{}.Warning(code, "%s", message).WithHint(hint)})
}

func (s *session) writeProblems(list []diagnostics.Diagnostic) {
	report.WriteProblems(s.err, s.style, list)
}
