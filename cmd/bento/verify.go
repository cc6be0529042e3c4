package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/git"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/observe"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/report/export"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/tree"
	"github.com/bentobuild/bento/internal/verify"
	"github.com/bentobuild/bento/internal/workspace"
)

func verifyCommand(s *session) *cobra.Command {
	var sel selection
	far, sample := false, defaultSample
	cmd := &cobra.Command{
		Use: "verify [TARGET|TASK…]", GroupID: "run",
		Annotations: traits{Flags: []string{"jobs", "report-file"}}.annotations(),
		Short:       "Find what the keys of tasks do not hold",
		Long: "Find what the keys of tasks do not hold: execute tasks twice, each time in a fresh copy of\nthe files that git does not ignore, with another directory, time zone, locale and umask, and\n" +
			"compare the outputs. Without TARGET or TASK, these are the tasks of bento ci whose results are\nstored. The exit code is 1 if there are findings.\n\nWith --remote, compare the results that the remote cache has with those of an execution here, and\nwhere they differ with those of a second one.",
		Example: "  bento verify\n  bento verify api\n  bento verify api:build --json\n  bento verify --report-file verify.sarif\n  bento verify --remote --sample 5",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			sel.names = append([]string{}, args...)
			switch {
			case cmd.Flags().Changed("sample") && !far:
				return usageError("--sample is a flag of bento verify --remote", "add --remote")
			case sample < 0:
				return usageError(fmt.Sprintf("--sample is %d, want 0 or more", sample), "--sample 0 compares all results")
			}
			return s.verifyTasks(cmd.Context(), sel, func(ctx context.Context, v *verification) error {
				if far {
					return v.verifyRemote(ctx, sample)
				}
				return v.verifyTwice(ctx)
			})
		},
	}
	cmd.Flags().BoolVar(&far, "remote", false, "compare results of the remote cache with executions")
	cmd.Flags().IntVar(&sample, "sample", defaultSample, "with --remote: how many results to compare, chosen by chance; 0 for all")
	addSelection(cmd, &sel)
	return cmd
}

// verifyTasks opens the workspace and lets do verify the selected tasks.
func (s *session) verifyTasks(ctx context.Context, sel selection, do func(context.Context, *verification) error) error {
	if err := s.checkFiles(); err != nil {
		return err
	}
	w, err := s.openFor(ctx, s.lines(), sel.all())
	if err != nil {
		return err
	}
	defer w.close()
	if err := sel.divide(w); err != nil {
		return err
	}
	p, err := s.planRun(ctx, w, sel)
	if err != nil {
		return err
	}
	v, err := s.newVerification(ctx, w, p)
	if err != nil {
		return err
	}
	defer v.remove()
	return do(ctx, v)
}

// verifyTwice executes the tasks twice and reports what their keys do not hold.
func (v *verification) verifyTwice(ctx context.Context) error {
	for i := range v.rounds {
		fmt.Fprintf(v.s.err, "bento: verify: execution %d of %d, %s\n", i+1, len(v.rounds), report.Count(len(v.tasks), "task"))
		if err := v.prepare(ctx, &v.rounds[i]); err != nil {
			return err
		}
		if err := v.execute(ctx, &v.rounds[i]); err != nil {
			return err
		}
	}
	findings := v.findings()
	return v.publish(ctx, v.document(findings), findings)
}

// document returns the document of the first execution.
func (v *verification) document(findings []verify.Finding) report.Verify {
	outputs, unseen := make(map[string]int), make(map[string][]string)
	for id, seen := range v.rounds[0].seen {
		outputs[id] = len(seen.Outputs)
		if seen.Used != nil {
			unseen[id] = slices.Concat(seen.Used.Unseen, seen.Used.Servers)
		}
	}
	return report.NewVerify(v.tasks, outputs, unseen, findings, observe.Offered() == "")
}

// publish prints the document and writes the reports.
func (v *verification) publish(ctx context.Context, doc report.Verify, findings []verify.Finding) error {
	s := v.s
	for _, name := range s.flags.reportFiles {
		s.writeFile(ctx, name, func(out io.Writer) error {
			if strings.HasSuffix(name, ".sarif") || strings.HasSuffix(name, ".sarif.json") {
				return export.SARIFOf(out, report.VerifyDiagnostics(findings), version())
			}
			return report.Write(out, doc)
		})
	}
	if len(findings) > 0 {
		s.outcome = max(s.outcome, exitTask)
	}
	return show(s, doc, report.WriteVerify)
}

// verification is one invocation of bento verify.
type verification struct {
	s      *session
	w      *opened
	tasks  []*plan.Task // in the order of the plan
	dir    string       // of bento's own, which holds everything
	repo   *git.Repo    // that the workspace lies in, nil for none
	files  []tree.Entry // of the workspace
	rounds [2]round
	ended  time.Time // of the last round
}

// round is one execution of all tasks, in a directory of its own.
type round struct {
	dir    string // holds everything of it
	root   string // of the workspace
	env    map[string]string
	umask  int
	shift  time.Duration // of the times of files
	seen   map[string]*run.Seen
	failed []verify.Finding
	found  []verify.Finding
}

// verifyDir is where the directories of bento verify are, in the cache.
const verifyDir = "verify"

// newVerification makes the directories.
func (s *session) newVerification(ctx context.Context, w *opened, p *plan.Plan) (*verification, error) {
	v := &verification{s: s, w: w}
	for _, t := range p.Tasks {
		if t.Requested && t.Uncached == "" && !t.Persistent && !t.Interactive && t.Question() == "" {
			v.tasks = append(v.tasks, t)
		}
	}
	if len(v.tasks) == 0 {
		return nil, notFound("no_tasks", "no task whose result is stored is selected, so there is nothing to verify", "bento tasks lists the tasks")
	}
	cacheDir, err := workspace.CacheDir(w.Config, s.environ)
	if err != nil {
		return nil, err
	}
	if cacheDir, err = filepath.Abs(cacheDir); err != nil {
		return nil, err
	}
	all := filepath.Join(cacheDir, verifyDir)
	if err := os.MkdirAll(all, 0o700); err != nil {
		return nil, err
	}
	sweepVerified(all)
	if v.dir, err = os.MkdirTemp(all, strconv.Itoa(os.Getpid())+"-"); err != nil {
		return nil, err
	}
	if v.dir, err = filepath.EvalSymlinks(v.dir); err != nil {
		return nil, err
	}
	v.repo, _ = git.Open(w.Root) // without a repository, .gitignore alone decides
	v.files = v.clean(p)
	zone := "Pacific/Kiritimati"
	if _, err := os.Stat("/usr/share/zoneinfo/" + zone); err != nil {
		zone = "<+14>-14"
	}
	v.rounds[0] = round{dir: filepath.Join(v.dir, "a"), umask: 0o022, env: map[string]string{}}
	v.rounds[1] = round{dir: filepath.Join(v.dir, "another", "place"), umask: 0o077, shift: -36 * time.Hour, env: map[string]string{"TZ": zone, "LC_ALL": "C", "LANG": "C"}}
	return v, nil
}

// sweepVerified removes the directories of bentos that were killed.
func sweepVerified(all string) {
	list, _ := os.ReadDir(all)
	for _, e := range list {
		pid, _, _ := strings.Cut(e.Name(), "-")
		if n, err := strconv.Atoi(pid); err == nil && errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
			removeTree(filepath.Join(all, e.Name()))
		}
	}
}

// clean returns the files of the workspace that a clone has, and those that tasks name as inputs.
func (v *verification) clean(p *plan.Plan) []tree.Entry {
	var list []tree.Entry
	seen := make(map[string]bool)
	add := func(e tree.Entry) {
		if !seen[e.Path] {
			seen[e.Path] = true
			list = append(list, e)
		}
	}
	ev, err := v.w.env.Evaluator(p, false, nil)
	for _, e := range v.w.Tree.Under(".") {
		if err == nil && !v.w.Tree.MayTrack(e.Path) {
			if maker, derived := key.FilesOf(ev).Maker(e.Path); maker != nil || derived {
				continue
			}
		}
		add(e)
	}
	if err != nil {
		return list
	}
	for _, t := range p.Tasks {
		if entries, err := key.FilesOf(ev).InputsOf(t); err == nil {
			for _, e := range entries {
				if maker, _ := key.FilesOf(ev).Maker(e.Path); maker == nil {
					add(e)
				}
			}
		}
	}
	return list
}

// remove removes everything.
func (v *verification) remove() { removeTree(v.dir) }

// removeTree removes a directory, also one that holds directories that may not be written.
func removeTree(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

// prepare makes the copy of the workspace for a round.
func (v *verification) prepare(ctx context.Context, r *round) error {
	top, prefix := filepath.Join(r.dir, filepath.Base(v.w.Root)), ""
	if v.repo != nil {
		if rel, err := v.repo.Prefix(v.w.Root); err == nil {
			prefix = rel
		}
	}
	r.root = filepath.Join(top, filepath.FromSlash(prefix))
	for _, dir := range []string{r.root, filepath.Join(r.dir, "tmp"), filepath.Join(r.dir, "cache")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if v.repo != nil {
		if err := v.repo.Borrow(ctx, top); err != nil {
			return err
		}
	}
	return verify.Copy(ctx, v.w.Root, r.root, v.files, r.shift)
}

// betweenRounds is the least time between the rounds: outputs with the time in seconds differ then.
const betweenRounds = 1100 * time.Millisecond

// open opens the copy of a round for a plan of the tasks, with a cache in a directory of the round. The caller calls end.
func (v *verification) open(ctx context.Context, r *round, cacheDir string, reporter run.Reporter) (s *session, w *opened, p *plan.Plan, err error) {
	r.env["BENTO_CACHE_DIR"], r.env["TMPDIR"], r.env["BENTO_WORKSPACE_ROOT"] = filepath.Join(r.dir, cacheDir), filepath.Join(r.dir, "tmp"), ""
	s = &session{process: v.s.process, flags: v.s.flags, style: v.s.style, command: v.s.command}
	s.environ, s.out, s.err, s.columns, s.heap = v.s.environ.With(r.env), io.Discard, io.Discard, nil, nil
	s.flags.json, s.flags.verbose, s.flags.cache = false, false, "local:rw"
	if w, err = s.openAt(ctx, place{root: r.root, cwd: r.root, all: true}, reporter); err != nil {
		s.end()
		return nil, nil, nil, err
	}
	sel := selection{Request: plan.Request{AllowEmpty: true}}
	for _, t := range v.tasks {
		sel.Tasks = append(sel.Tasks, t.ID())
	}
	if p, err = s.planRun(ctx, w, sel); err != nil {
		w.close()
		s.end()
	}
	return s, w, p, err
}

// execute executes the tasks once, in the copy of a round.
func (v *verification) execute(ctx context.Context, r *round) error {
	s, w, p, err := v.open(ctx, r, "cache", nil)
	if err != nil {
		return err
	}
	defer s.end()
	defer w.close()
	for _, t := range p.Tasks {
		t.Observe, t.Sandbox = dish.ObserveAlways, dish.SandboxNone
	}
	r.seen = make(map[string]*run.Seen)
	defer syscall.Umask(syscall.Umask(r.umask))
	if err := pause(ctx, time.Until(v.ended.Add(betweenRounds))); err != nil {
		return err
	}
	done, err := run.Run(ctx, w.env, p, run.Options{
		Workers: s.workers(w.Config), KeepGoing: true, Memory: machineMemory, Observe: dish.ObserveAlways,
		Seen: func(seen *run.Seen) { v.note(r, seen) },
	})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	v.ended = time.Now()
	v.noteFailures(r, done)
	return nil
}

// pause waits, or returns the cause of the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// requested returns the task of the workspace with an id, nil for a dependency.
func (v *verification) requested(id string) *plan.Task {
	if i := slices.IndexFunc(v.tasks, func(t *plan.Task) bool { return t.ID() == id }); i >= 0 {
		return v.tasks[i]
	}
	return nil
}

// note keeps what is known of one execution.
func (v *verification) note(r *round, seen *run.Seen) {
	if v.requested(seen.Task.ID()) == nil {
		return
	}
	r.seen[seen.Task.ID()] = seen
	own := []string{r.dir}
	if self, err := executable(); err == nil {
		own = append(own, self)
	}
	r.found = append(r.found, verify.Undeclared(seen, verify.Place{
		Root: r.root, Original: v.w.Root, Home: v.s.environ.Get("HOME"), Path: v.s.environ.Get("PATH"), Own: own,
	})...)
}

// noteFailures adds the tasks that have failed, with the end of their output.
func (v *verification) noteFailures(r *round, done *run.Report) {
	for _, res := range done.Results {
		t := v.requested(res.Task.ID())
		if t == nil || res.Outcome == run.Built || res.Outcome == run.CacheHit {
			continue
		}
		message := "it fails from its inputs alone: " + res.Message
		if res.Outcome == run.Skipped {
			message = "it did not run from its inputs alone: " + string(res.Reason)
		}
		if res.Install != nil && res.Install.Err != nil {
			message = "its dependencies cannot be installed from its inputs alone: " + res.Install.Err.Error()
		}
		if tail := tailOf(res.LogPath); tail != "" {
			message += "\n" + tail
		}
		r.failed = append(r.failed, verify.Finding{Kind: verify.Failed, Task: t, Message: strings.ReplaceAll(message, r.root, v.w.Root), Hint: "declare what it needs: inputs, depends_on, host_inputs or pass_env"})
	}
}

// maxTail is how much of the output of a failed task is shown, in bytes.
const maxTail = 1000

func tailOf(name string) string {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if fi, err := f.Stat(); err == nil && fi.Size() > maxTail {
		_, _ = f.Seek(-maxTail, io.SeekEnd) // else the beginning is shown
	}
	text, _ := io.ReadAll(io.LimitReader(f, maxTail))
	return strings.TrimSpace(string(text))
}

// findings returns the findings of both rounds. Their tasks are those of the workspace.
func (v *verification) findings() []verify.Finding {
	var list []verify.Finding
	for i := range v.rounds {
		r := &v.rounds[i]
		list = append(append(list, r.found...), r.failed...)
	}
	for _, t := range v.tasks {
		a, b := v.rounds[0].seen[t.ID()], v.rounds[1].seen[t.ID()]
		if a != nil && b != nil {
			list = append(list, verify.Compare(t, v.execution(&v.rounds[0], a), v.execution(&v.rounds[1], b))...)
		}
	}
	for i := range list {
		list[i].Task = v.requested(list[i].Task.ID())
	}
	return verify.Sort(list)
}

func (v *verification) execution(r *round, seen *run.Seen) verify.Execution {
	return verify.Execution{
		Outputs: seen.Outputs, Places: []string{r.root, filepath.Join(r.dir, "tmp"), v.w.Root},
		Open: func(o *cache.Output) (io.ReadCloser, error) {
			return os.OpenFile(filepath.Join(r.root, filepath.FromSlash(o.Path)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
		},
	}
}
