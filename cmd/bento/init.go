package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/foreign"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
	"github.com/bentobuild/bento/internal/tomlfile"
	"github.com/bentobuild/bento/internal/tree"
)

// initOptions are the flags of bento init.
type initOptions struct {
	dry       bool
	from      []string
	ci, hooks string
	version   string // of bento for the workflow, without v; "" for none
	gitignore bool
	agents    bool
	force     bool // replace AGENTS.md
}

// additions reports whether files besides bento.toml are requested, which a workspace can get later.
func (o *initOptions) additions() bool {
	return len(o.from) > 0 || o.ci != "" || o.hooks != "" || o.gitignore || o.agents
}

func initCommand(s *session) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use: "init", GroupID: "setup",
		Short: "Make a workspace of the current directory",
		Long: "Find dishes below the current directory, or below -C DIR, and write bento.toml: the\nleast that makes bento plan work, with a comment about the dishes. Without flags bento\nwrites no other file. It prints what the tasks of turbo, nx, moon, lerna, rush, just,\n" +
			"Task and make would be in dish.toml; --from writes them. In a workspace the flags add\nwhat they name, and bento.toml stays as it is. No file is overwritten, except AGENTS.md\nwith --agents --force.",
		Example: "  bento init\n  bento init --dry-run --from turbo\n  bento init --ci github --hooks git\n  bento init --agents",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return s.initialise(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.dry, "dry-run", false, "print the files, write nothing")
	cmd.Flags().StringSliceVar(&o.from, "from", nil, "write the tasks of `TOOL` to dish.toml: "+strings.Join(foreignIDs(), ", "))
	cmd.Flags().StringVar(&o.ci, "ci", "", "write a workflow for `SERVICE`: "+strings.Join(foreign.Services(), ", "))
	cmd.Flags().StringVar(&o.version, "bento-version", "", "the released `VERSION` that the workflow installs; default this one")
	cmd.Flags().StringVar(&o.hooks, "hooks", "", "check changes before a commit, by `KIND`: "+strings.Join(foreign.Hooks(), ", "))
	cmd.Flags().BoolVar(&o.agents, "agents", false, "write "+foreign.AgentsFile+", which tells coding agents how to use bento here")
	cmd.Flags().BoolVar(&o.force, "force", false, "replace an existing "+foreign.AgentsFile)
	cmd.Flags().BoolVar(&o.gitignore, "gitignore", false, "add what tasks make to .gitignore")
	return cmd
}

func foreignIDs() (ids []string) {
	for _, t := range foreign.Tools() {
		ids = append(ids, t.ID)
	}
	return ids
}

func (o *initOptions) check() error {
	for _, id := range o.from {
		if known := foreignIDs(); !slices.Contains(known, id) {
			return usageError(fmt.Sprintf("--from %q is not known", id), orList(id, known, "expected one of: "+strings.Join(known, ", ")))
		}
	}
	if given := trimV(o.version); given != "" && !plainVersion.MatchString(given) {
		return usageError(fmt.Sprintf("--bento-version %q is no version", o.version), "expected MAJOR.MINOR.PATCH, such as 0.2.0")
	}
	if o.force && !o.agents {
		return usageError("--force is only for --agents", "bento init overwrites no other file")
	}
	o.version = cmp.Or(trimV(o.version), publishedVersion())
	for _, f := range []struct {
		flag, value string
		known       []string
	}{{"ci", o.ci, foreign.Services()}, {"hooks", o.hooks, foreign.Hooks()}} {
		if f.value != "" && !slices.Contains(f.known, f.value) {
			return usageError(fmt.Sprintf("--%s %q is not known", f.flag, f.value), orList(f.value, f.known, "expected one of: "+strings.Join(f.known, ", ")))
		}
	}
	return nil
}

// initialised is the document of `bento init`.
type initialised struct {
	Schema       string            `json:"schema"`
	Root         string            `json:"root"`
	DryRun       bool              `json:"dry_run"`
	FilesWritten []string          `json:"files_written"`
	Dishes       []report.DishRow  `json:"dishes_detected"`
	Excluded     []excluded        `json:"excluded"`
	LeftOut      []dish.LeftOut    `json:"left_out,omitempty"`
	RootTasks    []report.RootTask `json:"root_tasks"` // scripts of the root with the name of a lifecycle task
	Foreign      []foreign.Entries `json:"foreign"`
	Unmapped     []foreign.Gap     `json:"unmapped"`    // parts of those files that bento has no key for
	Unignored    []string          `json:"not_ignored"` // lines for .gitignore
	Problems     []report.Problem  `json:"problems"`
	Text         string            `json:"text"`  // of bento.toml, "" if it exists
	Files        []foreign.NewFile `json:"files"` // all files to write, with bento.toml

	problems []diagnostics.Diagnostic
	exists   bool   // the directory is a workspace
	replaces bool   // an existing AGENTS.md
	wrapper  string // the first file that names what the wrapper of a tool fetches, or ""
	wraps    string // that tool
	from     []string
	mapping  *foreign.Mapping
	src      foreign.Source
}

// excluded is a directory that is left out because a plan with it would fail.
type excluded struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

func (s *session) initialise(ctx context.Context, o initOptions) error {
	root, exists, err := s.newRootDir(o)
	if err != nil {
		return err
	}
	doc := &initialised{
		Schema: report.Schema("init"), Root: root, DryRun: o.dry, FilesWritten: []string{}, Dishes: []report.DishRow{}, Foreign: []foreign.Entries{}, Unmapped: []foreign.Gap{},
		Excluded: []excluded{}, Unignored: []string{}, Problems: []report.Problem{}, RootTasks: []report.RootTask{}, Files: []foreign.NewFile{}, exists: exists, from: o.from,
		src: foreign.Source{Files: clone.At(root)},
	}
	if err := s.discover(ctx, doc); err != nil {
		return err
	}
	if err := doc.readForeign(o); err != nil {
		return err
	}
	if err := doc.addFiles(o); err != nil {
		return err
	}
	if !o.dry {
		if err := s.writeNew(ctx, doc); err != nil {
			return err
		}
		if err := s.ignore(ctx, doc, o.gitignore); err != nil {
			return err
		}
	}
	report.WriteProblems(s.err, s.style, doc.problems)
	doc.Problems = append(doc.Problems, report.ProblemsOf(doc.problems)...)
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	s.tellInit(doc)
	return nil
}

// newRootDir returns the directory of the new workspace, or of one that gets additions. It returns an
// error inside of another workspace.
func (s *session) newRootDir(o initOptions) (root string, exists bool, err error) {
	root, err = filepath.Abs(s.flags.dir) // "" is the current directory
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if fi, serr := os.Stat(root); err != nil || serr != nil || !fi.IsDir() {
		return "", false, notFound("unusable_directory", fmt.Sprintf("%q is no directory", s.flags.dir), "name an existing directory")
	}
	for dir := root; ; dir = filepath.Dir(dir) {
		for _, name := range []string{dish.WorkspaceFile, dish.BentosDir} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
				continue
			}
			if dir == root && o.additions() {
				return root, true, nil
			}
			hint := "edit that file, or remove it first"
			if dir == root {
				hint += "; --from, --ci, --hooks, --gitignore and --agents add to the workspace"
			}
			return "", false, notFound("init_already_initialised", fmt.Sprintf("%q is a workspace already: it holds %s", dir, name), hint)
		}
		if dir == filepath.Dir(dir) {
			return root, false, nil
		}
	}
}

// maxRounds bounds how often init excludes failing directories and discovers again.
const maxRounds = 20

// discover finds the dishes, and the directories that a valid plan must exclude.
func (s *session) discover(ctx context.Context, doc *initialised) error {
	for range maxRounds {
		at := place{root: doc.Root, cwd: doc.Root, exclude: []dish.Glob{}}
		for _, e := range doc.Excluded {
			at.exclude = append(at.exclude, dish.Glob{Text: escapeGlob(e.Path)})
		}
		w, err := s.openAt(ctx, at, nil)
		if err != nil {
			return err
		}
		more := doc.note(w)
		w.close()
		if !more {
			break
		}
	}
	return nil
}

// note records the dishes and problems of a workspace. If the plan has errors, it excludes another dish
// instead and returns true.
func (doc *initialised) note(w *opened) (more bool) {
	p, problems := plan.Build(w.Workspace.Workspace, plan.Request{AllTasks: true, AllowEmpty: true})
	problems = diagnostics.Sorted(slices.Concat(w.Problems, problems))
	if !doc.exists && doc.exclude(w, diagnostics.Errors(problems)) {
		return true
	}
	doc.problems = append(doc.problems, problems...)
	for _, d := range w.Dishes {
		doc.Dishes = append(doc.Dishes, report.NewDishRow(d))
		if p != nil && d.Path == "." {
			doc.RootTasks = append(doc.RootTasks, report.RootTasks(p, d)...)
		}
	}
	doc.src.Dishes = doc.foreignDishes()
	for _, e := range w.Tree.Entries() {
		if doc.wrapper == "" && e.Kind == tree.File {
			if doc.wraps = foreign.Wrapper(e.Path, doc.src.Dishes); doc.wraps != "" {
				doc.wrapper = e.Path
			}
		}
		if foreign.Is(e.Path) {
			doc.src.Paths = append(doc.src.Paths, e.Path)
		}
	}
	if p != nil {
		doc.Unignored = append(doc.Unignored, run.IgnoreLines(p, w.Tree, run.Ignorable{
			Makes: w.makesOutputs, Made: func(t *plan.Task) []string { return w.History.Of(t).Outputs },
		})...)
	}
	doc.LeftOut = w.LeftOut
	return false
}

// exclude excludes the dishes that have errors. It reports whether it excluded a further dish.
func (doc *initialised) exclude(w *opened, errs []diagnostics.Diagnostic) (more bool) {
	for _, e := range errs {
		d := w.Owner(e.File)
		if e.File == "" || d == nil || d.Path == "." || d.Config != nil || !utf8.ValidString(d.Path) {
			continue
		}
		if !slices.ContainsFunc(doc.Excluded, func(x excluded) bool { return x.Path == d.Path }) {
			doc.Excluded = append(doc.Excluded, excluded{d.Path, e.String()})
			more = true
		}
	}
	return more
}

// escapeGlob returns a glob that matches only path.
func escapeGlob(path string) string {
	var b strings.Builder
	for _, r := range path {
		if strings.ContainsRune(`*?[]{}\!`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// addFiles lists the files to write. It returns an error if one exists.
func (doc *initialised) addFiles(o initOptions) error {
	if !doc.exists {
		doc.Text = doc.toml()
		doc.Files = append(doc.Files, foreign.NewFile{Path: dish.WorkspaceFile, Text: doc.Text, Mode: 0o644})
	}
	if len(o.from) > 0 {
		for _, t := range doc.mapping.Tables {
			doc.Files = append(doc.Files, foreign.NewFile{Path: t.File(), Text: t.Text(strings.Join(o.from, ",")), Mode: 0o644})
		}
	}
	if o.ci != "" {
		cfg, _ := config.Load(doc.Root, "") // what is wrong with it was said when the dishes were found
		doc.src.Remote = cfg.Cache.Remote
		f := foreign.Workflow(doc.src, o.ci, o.version)
		doc.Files = append(doc.Files, f)
		doc.warnUnpublished(f, o)
	}
	if o.hooks != "" {
		hook, err := foreign.Hook(doc.src, o.hooks)
		if err != nil {
			return err
		}
		doc.Files = append(doc.Files, hook)
	}
	if o.agents {
		doc.Files = append(doc.Files, foreign.Agents())
		doc.replaces = o.force
	}
	for _, f := range doc.Files {
		var stray *clone.StrayError
		switch _, err := doc.src.Files.Mode(f.Path); {
		case err == nil && !o.dry && !(doc.replaces && f.Path == foreign.AgentsFile):
			return notFound("init_exists", f.Path+" exists, and bento init overwrites nothing", f.Absent)
		case errors.As(err, &stray):
			return notFound(clone.RuleLink, fmt.Sprintf("%s cannot be written: %v", f.Path, stray), "replace the link by a file")
		}
	}
	return nil
}

// warnUnpublished warns of a workflow for this build of bento, if it is no released version.
func (doc *initialised) warnUnpublished(workflow foreign.NewFile, o initOptions) {
	if o.version == "" {
		doc.problems = append(doc.problems, diagnostics.Diagnostic{
			Severity: diagnostics.Warning, Rule: "unpublished_bento", File: workflow.Path,
			Message: "this is a development build of bento, which no job can download: the file expects bento on PATH",
			Hint:    "name a released version: bento init --ci " + o.ci + " --bento-version 0.2.0",
		})
	}
}

// toml returns the text of bento.toml.
func (doc *initialised) toml() string {
	var b strings.Builder
	comment := func(format string, args ...any) {
		fmt.Fprintf(&b, "# %s\n", report.PrintableLine(fmt.Sprintf(format, args...)))
	}
	comment("Made by bento init, which found %s:", report.Count(len(doc.Dishes), "dish"))
	for _, d := range doc.Dishes[:min(len(doc.Dishes), maxListed)] {
		language := "none"
		if d.Language != nil {
			language = *d.Language
		}
		tasks := "no tasks"
		if len(d.Tasks) > 0 {
			tasks = strings.Join(d.Tasks, ", ")
		}
		comment("  %s (%s, %s): %s", d.Name, d.Path, language, tasks)
	}
	if more := len(doc.Dishes) - maxListed; more > 0 {
		comment("  and %d more; bento dish list prints them all", more)
	}
	comment("bento plan says what would run; bento run build test runs it.")
	b.WriteString("\n[workspace]\ndiscover = true\n")
	if len(doc.Excluded) > 0 {
		b.WriteString("exclude = [\n")
		for _, e := range doc.Excluded {
			fmt.Fprintf(&b, "    # %s\n", report.PrintableLine(e.Why))
			fmt.Fprintf(&b, "    %s,\n", tomlfile.Quote(escapeGlob(e.Path)))
		}
		b.WriteString("]\n")
	}
	b.WriteString(doc.defaults())
	if doc.wrapper != "" { // on a machine that has never run the wrapper, no task would start
		b.WriteString("\n")
		comment("%s names the %s of this project. A machine that lacks it cannot run", doc.wrapper, doc.wraps)
		comment("any task unless the wrapper may fetch it. Without this line bento lets no tool download another.")
		b.WriteString("[toolchain]\nallow_download = true\n")
	}
	return b.String()
}

// maxListed bounds the number of dishes in the comment of bento.toml, and of tasks of another tool on the
// terminal.
const maxListed = 20

func (s *session) tellInit(doc *initialised) {
	if doc.DryRun {
		for i, f := range doc.Files {
			if i > 0 {
				fmt.Fprintln(s.out)
			}
			if f.Path != dish.WorkspaceFile {
				fmt.Fprintf(s.out, "# %s\n", report.PrintableLine(f.Path))
			}
			fmt.Fprint(s.out, report.Printable(f.Text))
		}
		s.tellUnmapped(doc)
		return
	}
	for _, name := range doc.FilesWritten {
		if name == ignoreFile {
			fmt.Fprintf(s.out, "changed %s\n", name)
			continue
		}
		if name != dish.WorkspaceFile {
			fmt.Fprintf(s.out, "made %s\n", report.PrintableLine(name))
			continue
		}
		fmt.Fprintf(s.out, "made %s: %s", dish.WorkspaceFile, report.Count(len(doc.Dishes), "dish"))
		if n := len(doc.Excluded); n > 0 {
			fmt.Fprintf(s.out, ", %s left out (see exclude)", report.Count(n, "directory"))
		}
		fmt.Fprintln(s.out)
	}
	s.tellForeign(doc)
	s.tellUnignored(doc)
	for _, t := range doc.RootTasks {
		fmt.Fprintf(s.out, "at the root, %s\n", t.Line())
	}
	if line := report.LeftOutLine(doc.LeftOut); line != "" {
		fmt.Fprintln(s.out, line)
	}
	isMade := func(f foreign.NewFile) bool { return f.Path == dish.WorkspaceFile }
	switch {
	case !slices.ContainsFunc(doc.Files, isMade): // the workspace was there before
	case len(doc.Dishes) == 0:
		fmt.Fprintln(s.out, "bento dish add --language go DIR makes a first dish; bento dish add DIR makes one of a directory with files")
	default:
		fmt.Fprintln(s.out, "bento plan says what would run")
	}
}
