package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/git"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/observe"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/sandbox"
	"github.com/bentobuild/bento/internal/workspace"
)

func doctorCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "doctor", GroupID: "setup",
		Annotations: traits{Reads: true, Warns: true, Flags: []string{"cache"}}.annotations(),
		Short:       "Check tools, cache, git and plugins",
		Long:        "Check the workspace, the tools that its dishes require and their versions, the\ncache, git, plugins, the sandbox and the file system. The exit code is 2 if a dish\ncannot run; with warnings only it is 0.",
		Example:     "  bento doctor\n  bento doctor --json",
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return s.doctor(cmd.Context()) },
	}
}

// diagnosis collects the checks of `bento doctor`.
type diagnosis struct{ report.Diagnosis }

func (doc *diagnosis) add(name, status, detail, hint string) {
	doc.Add(report.Check{Name: name, Status: status, Detail: detail, Hint: hint})
}

func (s *session) doctor(ctx context.Context) error {
	doc := &diagnosis{report.Diagnosis{Schema: report.Schema("doctor"), Version: version(), Checks: []report.Check{}}}
	w, err := s.open(ctx, s.lines())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		e := report.NewError(err)
		doc.add("workspace", "fail", e.Message, e.Hint)
		for _, name := range []string{"config", "toolchain", "git.repo", "filesystem"} {
			doc.add(name, "skipped", "there is no workspace", "")
		}
		cfg, problems := config.LoadOwn(s.host().OwnConfig())
		doc.checkOwn(s, cfg, problems)
		doc.checkCache(ctx, s, cfg)
	default:
		defer w.close()
		w.keepNames()
		doc.Root = w.Root
		p, problems := wholePlan(w)
		problems = append(problems, run.UnmatchedInputs(p, w.Tree)...)
		doc.checkWorkspace(w, problems)
		doc.checkOwn(s, w.Config, nil)
		doc.checkTools(ctx, w)
		doc.checkPrograms(w.env.Lacking(p))
		doc.checkCache(ctx, s, w.Config)
		doc.checkRemote(ctx, s, w)
		doc.checkExec(ctx, s, w)
		doc.checkContainers(ctx, s, w)
		doc.checkGit(ctx, w.Root)
		doc.checkPlugins(w)
		doc.checkCallable(s, w)
		doc.checkExtensions(s, w)
		doc.checkFiles(w)
	}
	doc.checkSandbox()
	doc.checkObserver()
	if doc.Summary.Fail > 0 {
		s.outcome = exitInput
	}
	if s.flags.json {
		return report.Write(s.out, doc.Diagnosis)
	}
	report.WriteDiagnosis(s.out, s.shown(), doc.Diagnosis)
	return nil
}

func (doc *diagnosis) checkWorkspace(w *opened, problems []diagnostics.Diagnostic) {
	status, hint := "ok", ""
	if len(w.Dishes) == 0 {
		status, hint = "warn", w.lookedFor()
	}
	doc.add("workspace", status, fmt.Sprintf("%s, %s, %s", w.Root, report.Count(len(w.Dishes), "dish"), report.Count(len(w.Bentos), "bento")), hint)
	problems = diagnostics.Sorted(slices.Concat(w.Problems, problems))
	if len(problems) == 0 {
		doc.add("config", "ok", "no problem found", "")
	}
	doc.checkProblems(problems)
}

func (doc *diagnosis) checkProblems(problems []diagnostics.Diagnostic) {
	for _, p := range problems {
		status := "warn"
		if p.Severity == diagnostics.Error {
			status = "fail"
		}
		doc.Add(report.Check{Name: "config", Status: status, Detail: p.String(), Hint: p.Hint, Problem: &p})
	}
}

// checkOwn reports the user's own configuration file, with its problems unless they were
// reported before.
func (doc *diagnosis) checkOwn(s *session, cfg *config.Workspace, problems []diagnostics.Diagnostic) {
	doc.checkProblems(problems)
	switch own := s.host().OwnConfig(); {
	case cfg.Own != "":
		doc.add("config.own", "ok", cfg.Own+" is your own configuration", "")
	case own == "":
		doc.add("config.own", "skipped", "neither XDG_CONFIG_HOME nor HOME is set to find your own configuration", "")
	default:
		doc.add("config.own", "skipped", "you have no configuration of your own at "+own, "")
	}
}

// checkTools checks the tools of the dishes. Dishes with the same required and found version
// share one check.
func (doc *diagnosis) checkTools(ctx context.Context, w *opened) {
	at := make(map[key.ToolStatus]int)
	for _, d := range w.Dishes {
		for _, r := range w.env.Toolchains.Compare(ctx, w.Root, d) {
			same := r
			same.Dish, same.Where, same.Adapter = "", "", ""
			if i, ok := at[same]; ok {
				doc.Checks[i].Dishes = append(doc.Checks[i].Dishes, r.Dish)
				continue
			}
			at[same] = len(doc.Checks)
			doc.Add(toolCheck(r))
		}
	}
	if len(at) == 0 {
		doc.add("toolchain", "skipped", "no dish requires a tool", "")
	}
	_ = w.env.Toolchains.Save() // after a failure, the next command runs the tools again
}

// checkPrograms reports programs that tasks start by name and that are missing on PATH.
func (doc *diagnosis) checkPrograms(list []key.Lacking) {
	for _, l := range list {
		byStatus := make(map[string][]string)
		for _, d := range l.Dishes {
			status := "fail"
			if d.Toolchain.SkipMissing {
				status = "warn"
			}
			byStatus[status] = append(byStatus[status], d.Name)
		}
		for _, status := range slices.Sorted(maps.Keys(byStatus)) {
			doc.Add(report.Check{Name: "program." + l.Tool, Status: status, Detail: l.Tool + " is not installed", Hint: l.Hint, Dishes: byStatus[status]})
		}
	}
}

func toolCheck(r key.ToolStatus) report.Check {
	c := report.Check{Name: "toolchain." + r.Short(), Status: "ok", Hint: r.Hint, Dishes: []string{r.Dish}, Detail: r.Found}
	switch r.Status {
	case "missing":
		c.Status, c.Detail = "fail", r.Tool+" is not installed"
	case "failed":
		c.Status = "fail"
		c.Detail, _, _ = strings.Cut(strings.TrimSpace(r.Hint), "\n")
		c.Hint = strings.TrimSpace(strings.TrimPrefix(r.Hint, c.Detail))
	case "known_at_run":
		c.Status, c.Detail = "skipped", "known when the task runs"
	case "not_compared":
		c.Detail = strings.TrimSpace(c.Detail + " not compared")
	case "mismatch":
		c.Status = "fail"
	case "mismatch_warned":
		c.Status = "warn"
	}
	if r.Wanted != "" {
		c.Detail += fmt.Sprintf(", wanted %s (%s)", r.Wanted, r.Where)
		c.Place = r.Where
	}
	return c
}

func (doc *diagnosis) checkCache(ctx context.Context, s *session, cfg *config.Workspace) {
	disk, err := workspace.OpenDisk(cfg, s.environ, cache.Options{})
	var stats cache.Stats
	if err == nil {
		stats, err = disk.Stats(ctx)
	}
	if err == nil {
		if err = disk.CheckWritable(); err != nil {
			err = fmt.Errorf("no result can be stored below %s: %w", disk.Dir(), err)
		}
	}
	if err != nil {
		doc.add("cache.local", "warn", err.Error(), "set $BENTO_CACHE_DIR, or [cache] dir in your own configuration; without a cache every task runs")
		return
	}
	dir, _ := workspace.CacheDir(cfg, s.environ) // it is open
	most := workspace.CacheBounds(cfg, s.environ).MaxSize
	doc.add("cache.local", "ok", fmt.Sprintf("%s, %s, %s of %s", dir, report.Count(stats.Records, "result"), report.ByteSize(stats.Bytes), report.ByteSize(most)), "")
}

func (doc *diagnosis) checkGit(ctx context.Context, root string) {
	path, err := git.Find(root)
	if err != nil {
		doc.add("git", "warn", "git is not installed outside of the workspace", "install git: without it --since does not work, and tracked files are unknown")
	} else {
		doc.add("git", "ok", path, "")
	}
	repo, rerr := git.Open(root)
	shallow := false
	if rerr == nil && repo != nil && err == nil {
		shallow, rerr = repo.Shallow(ctx)
	}
	switch {
	case errors.Is(rerr, git.ErrStalls):
		doc.add("git.repo", "warn", rerr.Error(), "remove it; until then --since does not work")
	case rerr != nil:
		doc.add("git.repo", "warn", rerr.Error(), "")
	case repo == nil:
		doc.add("git.repo", "skipped", "the workspace is in no repository", "")
	case shallow:
		doc.add("git.repo", "warn", repo.TopLevel()+" is a shallow clone", "run git fetch --unshallow to use --since")
	default:
		doc.add("git.repo", "ok", repo.TopLevel(), "")
	}
}

func (doc *diagnosis) checkPlugins(w *opened) {
	for _, p := range w.Plugins.Status() {
		c := report.Check{Name: "plugin." + p.ID, Status: "ok", Detail: p.Path + ", " + p.Status}
		if p.Status == "failed" {
			c.Status, c.Detail, c.Hint = "warn", p.Message, cmp.Or(p.Hint, "bento explain "+string(p.Code))
		}
		for _, d := range w.Dishes {
			if d.Adapter != nil && d.Adapter.Manifest().AdapterID == p.ID {
				c.Dishes = append(c.Dishes, d.Name)
			}
		}
		doc.Add(c)
	}
}

// checkCallable reports the tools of the workspace, without starting one.
func (doc *diagnosis) checkCallable(s *session, w *opened) {
	if len(w.Config.Tools.ByID) == 0 && w.Tools == nil {
		return
	}
	tools, problems := kit.FindTools(s.host(), w.Config, w.State, kit.ToolOptions{})
	defer tools.Close()
	for i := range tools.List {
		row := rowOfTool(&tools.List[i])
		c := report.Check{Name: "tool." + row.ID, Status: "ok", Detail: row.Path + ", " + row.Status}
		if row.Status == "failed" {
			c.Status, c.Detail, c.Hint = "warn", row.Message, "bento tool info "+row.ID
		} else if f := tools.List[i]; row.Status == report.ToolReady {
			if _, err := f.Tool.Identity(); err != nil {
				c.Status, c.Detail = "warn", err.Error()
			}
		}
		doc.Add(c)
	}
	for _, p := range problems {
		doc.Add(report.Check{Name: "tools", Status: "warn", Detail: p.Message, Hint: p.Hint})
	}
}

func (doc *diagnosis) checkObserver() {
	if why := observe.Refused(); why != "" {
		doc.add("observe", "ok", "tasks are not observed: "+why, "")
		return
	}
	doc.add("observe", "ok", "bento can observe which files tasks use", "")
}

func (doc *diagnosis) checkSandbox() {
	offer := sandbox.Offered()
	if why := cmp.Or(offer.LacksRules(false), observe.Offered()); why != "" {
		doc.add("task sandbox", "warn", why, `bento refuses sandbox = "inputs" and --sandbox here`)
	} else {
		doc.add("task sandbox", "ok", "sandbox = \"inputs\" and --sandbox are available", "")
	}
	if lacks := offer.Lacks(); len(lacks) > 0 {
		doc.add("sandbox", "warn", strings.Join(lacks, "; "), "[plugins] sandbox cannot confine plugins fully here")
		return
	}
	doc.add("sandbox", "ok", fmt.Sprintf("Landlock %d and seccomp", offer.Landlock), "")
}
