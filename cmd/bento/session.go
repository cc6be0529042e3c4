package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/fingerprint"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/export"
	"github.com/bentobuild/bento/internal/report/terminal"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/host"
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
	set.StringArrayVar(&f.reportFiles, "report-file", nil, "also write a report of the run to `FILE`: JSON, JUnit if it ends in .xml, SARIF if in .sarif (repeatable)")
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
	// keep has the plugins run on while the workspace is opened again and again.
	keep *adapter.Keep
	// scratch is for plugins that are confined.
	scratch scratch
	// atEnd is done when the command has ended.
	atEnd []func()
}

func (s *session) end() {
	for _, do := range s.atEnd {
		do()
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
			return usageError(fmt.Sprintf("--jobs %q makes no sense", s.flags.jobs), "give the number of tasks to run at once, 1 or more, or a percentage of the CPUs such as 50%")
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
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
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

// workspace is an opened workspace: its dishes, and all that is needed to evaluate
// and run their tasks.
type workspace struct {
	*discovery.Workspace
	store    cache.Store
	env      *run.Env
	plugins  *adapter.Set
	problems []diagnostics.Diagnostic
	dir      string // where the user is, relative to the root
}

// locate makes the targets of a request that are paths relative to the workspace.
func (w *workspace) locate(req *plan.Request) error {
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

// place gives a target that is a path as one from the root, with "/" in front. Names,
// and paths that need no work, stay.
func (w *workspace) place(target string) (string, error) {
	if !strings.ContainsRune(target, filepath.Separator) && !strings.HasPrefix(target, ".") {
		return target, nil
	}
	path := target
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.Root, filepath.FromSlash(w.dir), target)
	}
	real, err := filepath.EvalSymlinks(path)
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
func (w *workspace) close() {
	w.plugins.Close()
	if disk, ok := w.store.(*cache.Disk); ok {
		disk.Settle()
	}
	w.env.SumUp()
}

// open finds the workspace and what is in it. Problems of the user's files are in
// the result; the error is what leaves nothing to look at.
func (s *session) open(ctx context.Context, reporter run.Reporter) (*workspace, error) {
	return s.openFor(ctx, reporter, false)
}

// openFor is open for who knows whether it is all dishes that will be asked about.
func (s *session) openFor(ctx context.Context, reporter run.Reporter, all bool) (*workspace, error) {
	root, cwd, err := s.root()
	if err != nil {
		return nil, err
	}
	return s.openAt(ctx, place{root: root, cwd: cwd, all: all}, reporter)
}

// place is where a workspace is, and the user.
type place struct {
	root, cwd string
	state     *state.Dir    // of root
	exclude   []config.Glob // in addition to what bento.toml excludes
	all       bool          // all that is in it will be asked about
}

// openIn opens the workspace at a place whose state was checked.
func (s *session) openIn(ctx context.Context, at place, reporter run.Reporter) (*workspace, error) {
	root := at.root
	st := at.state
	var files *tree.Tree
	var walk errgroup.Group // goes on while configuration is read and plugins start
	walk.Go(func() (err error) {
		files, err = tree.Walk(ctx, root, &tree.Options{State: st})
		return err
	})
	this := program()
	memory := config.Remember(st, this)
	if at.exclude != nil {
		memory = nil // it knows what bento.toml says
	}
	cfg, problems := memory.Load(root, s.ownConfig())
	cfg.Exclude = slices.Concat(cfg.Exclude, at.exclude)
	candidates, o, more := s.findPlugins(cfg, st)
	problems = append(problems, more...)
	if cfg.Plugins.Lazy {
		o.Notes = host.NewNotes(st)
	}
	below := clone.At(root)
	own := builtin.All(adapters.Options{Env: s.environ, AllowDownload: cfg.Toolchain.AllowDownload, Clone: below})
	plugins, err := s.startPlugins(ctx, candidates, o, own)
	if err = cmp.Or(walk.Wait(), err); err != nil {
		if plugins != nil {
			plugins.Close()
		}
		return nil, err
	}
	if at.all {
		files.LookAhead(ctx)
	}
	registry := adapters.NewRegistry(append(own, plugins.Adapters()...)...)
	find := discovery.Options{Tree: files, Clone: below, Config: cfg, Memory: memory, Registry: registry, Candidates: candidates, Failures: plugins.Failures()}
	if memory != nil {
		find.State, find.Basis = st, func() string { return s.basis(this, st, cfg) }
	}
	ws, more := discovery.Find(ctx, find)
	if err := ctx.Err(); err != nil {
		plugins.Close()
		return nil, err
	}
	s.sayLoaded(plugins)
	_ = plugins.Remember() // without, all are started again
	problems = slices.Concat(problems, plugins.Warnings(), more, below.Warnings())
	problems = append(problems, ofDishes(ws, files.Problems())...)
	if err := machineFault(problems); err != nil {
		plugins.Close()
		return nil, err
	}
	w := &workspace{Workspace: ws, plugins: plugins, problems: diagnostics.Sorted(problems)}
	w.dir = inside(root, at.cwd)
	w.env = s.runEnv(at, reporter)
	w.env.Inherit = cfg.Defaults.InheritEnv
	w.store = s.storeFor(files, cfg, w.env.WarnDamage)
	w.env.Store = w.store
	return w, nil
}

// runEnv returns what the tasks of the workspace at a place are evaluated and run with.
func (s *session) runEnv(at place, reporter run.Reporter) *run.Env {
	return &run.Env{
		Root: at.root, State: at.state, Environ: s.environ, Program: program(),
		Toolchains: fingerprint.OpenToolchains(at.state), Reporter: reporter, Executing: guardOnce(),
	}
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

// ofDishes returns those problems of the walk that are somebody's concern. What cannot
// be read may hide dishes, unless the configuration excludes it: then it is a warning.
// A special file is reported when it is an input.
func ofDishes(ws *discovery.Workspace, problems []diagnostics.Diagnostic) []diagnostics.Diagnostic {
	problems = slices.DeleteFunc(problems, func(d diagnostics.Diagnostic) bool { return d.Rule == tree.RuleSpecial })
	for i, d := range problems {
		if d.Severity == diagnostics.Error && ws.Owner(d.File) == nil && ws.Excludes(d.File) {
			problems[i].Severity = diagnostics.Warning
		}
	}
	return problems
}

// machineFault returns the first problem that is the machine's fault, nil where there is
// none. What the user's files say is not known then.
func machineFault(problems []diagnostics.Diagnostic) error {
	i := slices.IndexFunc(problems, func(d diagnostics.Diagnostic) bool { return d.Rule == diagnostics.RuleMachine })
	if i < 0 {
		return nil
	}
	return fmt.Errorf("%s: %s (%s)", cmp.Or(problems[i].File, "the workspace"), problems[i].Message, problems[i].Hint)
}

// startPlugins starts the plugins that may be.
func (s *session) startPlugins(ctx context.Context, candidates []adapters.Candidate, o adapter.Options, own []adapters.Adapter) (*adapter.Set, error) {
	for _, a := range own {
		o.Builtin = append(o.Builtin, a.Manifest().AdapterID)
	}
	return adapter.Start(ctx, candidates, o)
}

// findPlugins finds the plugins of a workspace and says how they are started.
func (s *session) findPlugins(cfg *config.Workspace, st *state.Dir) ([]adapters.Candidate, adapter.Options, []diagnostics.Diagnostic) {
	digests := host.NewDigests(st)
	candidates, problems := discovery.Adapters(s.environ.Get("PATH"), cfg, digests.Executable)
	o, more := s.pluginOptions(candidates, cfg, st)
	o.Digests = digests
	return candidates, o, append(problems, more...)
}

// pluginOptions says how plugins of a workspace are started. Candidates that turn out
// not to be are marked, and the problems say why.
func (s *session) pluginOptions(candidates []adapters.Candidate, cfg *config.Workspace, st *state.Dir) (adapter.Options, []diagnostics.Diagnostic) {
	pass := make(map[string][]string, len(cfg.Plugins.ByID))
	for id, p := range cfg.Plugins.ByID {
		pass[id] = p.PassEnv
	}
	boxes, problems := s.confine(candidates, cfg, st)
	return adapter.Options{Env: s.environ, PassEnv: pass, Sandbox: boxes, Version: version(), Stderr: s.err, Log: s.hear, Keep: s.keep}, problems
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

// sayLoaded names the plugins that were loaded, for those who ask.
func (s *session) sayLoaded(set *adapter.Set) {
	if !s.flags.verbose {
		return
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

// storeFor returns the cache, or one that is empty while the keys may lack files that
// git tracks.
func (s *session) storeFor(files *tree.Tree, cfg *config.Workspace, damaged func(error)) cache.Store {
	if files.Unsure() {
		return cache.Nothing{}
	}
	return s.openCache(cfg, damaged)
}

// openCache opens the cache. One that cannot be used is a warning: then every task
// runs and nothing is stored. damaged is told of entries that were dropped.
func (s *session) openCache(cfg *config.Workspace, damaged func(error)) cache.Store {
	dir, err := cacheDir(cfg, s.environ)
	if err == nil {
		var disk *cache.Disk
		if disk, err = openDisk(cfg.Root, dir, cache.Options{Warn: damaged, Bounds: cacheBounds(cfg, s.environ)}); err == nil {
			return disk
		}
	}
	s.warn("cache_unusable", "the cache cannot be used: "+err.Error(), "see $BENTO_CACHE_DIR, and cache.dir in your own configuration or in bento.toml; the build goes on without")
	return cache.Nothing{}
}

// cacheDir returns the directory of the cache. What the user said, in the environment
// or in a file of his own, goes before what a repository says.
func cacheDir(cfg *config.Workspace, env adapters.Environ) (string, error) {
	if dir := env.Get("BENTO_CACHE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := cmp.Or(cfg.Cache.OwnDir, cfg.Cache.Dir); dir != "" {
		return dir, nil
	}
	if dir := env.Get("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "bento"), nil
	}
	home := env.Get("HOME")
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("neither BENTO_CACHE_DIR, XDG_CACHE_HOME nor HOME says where it is")
	}
	return filepath.Join(home, ".cache", "bento"), nil
}

func (s *session) warn(code, message, hint string) {
	report.WriteProblems(s.err, s.style, []diagnostics.Diagnostic{{
		Severity: diagnostics.Warning, Rule: code, Message: message, Hint: hint, Source: diagnostics.Source,
	}})
}
