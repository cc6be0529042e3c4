package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tomlfile"
)

func initCommand(s *session) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "init", GroupID: "setup",
		Short:   "Make a workspace of the current directory",
		Long:    "Find dishes below the current directory, or below -C DIR, and write bento.toml: the\nleast that makes bento plan work, with a comment about the dishes. bento writes no other\nfile. It prints the tasks of turbo.json, nx.json, .moon/ and Makefile as they would be\nin dish.toml.",
		Example: "  bento init\n  bento init --dry-run",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return s.initialise(cmd.Context(), dry) },
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print bento.toml, write nothing")
	return cmd
}

// initialised is the document of `bento init`.
type initialised struct {
	Schema       string                   `json:"schema"`
	Root         string                   `json:"root"`
	DryRun       bool                     `json:"dry_run"`
	FilesWritten []string                 `json:"files_written"`
	Dishes       []dishRow                `json:"dishes_detected"`
	Excluded     []excluded               `json:"excluded"`
	LeftOut      []discovery.LeftOut      `json:"left_out,omitempty"`
	RootTasks    []report.RootTask        `json:"root_tasks"` // scripts of the root with the name of a lifecycle task
	Foreign      []foreign                `json:"foreign"`
	Problems     []diagnostics.Diagnostic `json:"problems"`
	Text         string                   `json:"text"` // of bento.toml
}

// excluded is a directory that is left out because a plan with it would fail.
type excluded struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

func (s *session) initialise(ctx context.Context, dry bool) error {
	root, err := s.newRootDir()
	if err != nil {
		return err
	}
	doc := initialised{
		Schema: report.Schema("init"), Root: root, DryRun: dry, FilesWritten: []string{}, Dishes: []dishRow{},
		Excluded: []excluded{}, Problems: []diagnostics.Diagnostic{}, RootTasks: []report.RootTask{}, Foreign: foreignTools(root),
	}
	if err := s.discover(ctx, &doc); err != nil {
		return err
	}
	doc.Text = doc.toml()
	if !dry {
		if err := state.WriteFile(filepath.Join(root, config.WorkspaceFile), []byte(doc.Text), 0o644); err != nil {
			return notFound("unusable_directory", fmt.Sprintf("%q cannot be written: %v", root, err), "--dry-run prints the text of "+config.WorkspaceFile)
		}
		doc.FilesWritten = append(doc.FilesWritten, config.WorkspaceFile)
	}
	report.WriteProblems(s.err, s.style, doc.Problems)
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	s.tellInit(doc)
	return nil
}

// newRootDir returns the directory of the new workspace, or an error if one exists.
func (s *session) newRootDir() (string, error) {
	root, err := filepath.Abs(s.flags.dir) // "" is the current directory
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if fi, serr := os.Stat(root); err != nil || serr != nil || !fi.IsDir() {
		return "", notFound("unusable_directory", fmt.Sprintf("%q is no directory", s.flags.dir), "name an existing directory")
	}
	for dir := root; ; dir = filepath.Dir(dir) {
		for _, name := range []string{config.WorkspaceFile, config.BentosDir} {
			if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				return "", notFound("init_already_initialised", fmt.Sprintf("%q is a workspace already: it holds %s", dir, name), "edit that file, or remove it first")
			}
		}
		if dir == filepath.Dir(dir) {
			return root, nil
		}
	}
}

// maxRounds bounds how often init excludes failing directories and discovers again.
const maxRounds = 20

// discover finds the dishes, and the directories to exclude for a valid plan.
func (s *session) discover(ctx context.Context, doc *initialised) error {
	for range maxRounds {
		at := place{root: doc.Root, cwd: doc.Root, exclude: []config.Glob{}}
		for _, e := range doc.Excluded {
			at.exclude = append(at.exclude, config.Glob{Text: escapeGlob(e.Path)})
		}
		w, err := s.openAt(ctx, at, nil)
		if err != nil {
			return err
		}
		w.close()
		p, problems := plan.Build(w.Workspace.Workspace, plan.Request{})
		problems = diagnostics.Sorted(slices.Concat(w.Problems, problems))
		if doc.exclude(w, diagnostics.Errors(problems)) {
			continue
		}
		doc.Problems = append(doc.Problems, problems...)
		for _, d := range w.Dishes {
			doc.Dishes = append(doc.Dishes, w.dishRow(d))
			if p != nil && d.Path == "." {
				doc.RootTasks = append(doc.RootTasks, report.RootTasks(p, d)...)
			}
		}
		doc.LeftOut = w.LeftOut
		break
	}
	return nil
}

// exclude excludes the dishes that have errors. It reports whether it excluded another one.
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

// escapeGlob makes a glob of a path.
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
	return b.String()
}

// maxListed bounds how many dishes the comment lists, and how many tasks of another tool the
// terminal does.
const maxListed = 20

func (s *session) tellInit(doc initialised) {
	if doc.DryRun {
		fmt.Fprint(s.out, doc.Text)
		return
	}
	fmt.Fprintf(s.out, "made %s: %s", config.WorkspaceFile, report.Count(len(doc.Dishes), "dish"))
	if n := len(doc.Excluded); n > 0 {
		fmt.Fprintf(s.out, ", %s left out (see exclude)", report.Count(n, "directory"))
	}
	fmt.Fprintln(s.out)
	s.tellForeign(doc.Foreign)
	for _, t := range doc.RootTasks {
		fmt.Fprintf(s.out, "at the root, %s\n", t.Line())
	}
	if line := report.LeftOutLine(doc.LeftOut); line != "" {
		fmt.Fprintln(s.out, line)
	}
	fmt.Fprintln(s.out, "bento plan says what would run")
}

// tellForeign lists the tasks of other tools as the keys of dish.toml that say the same.
func (s *session) tellForeign(files []foreign) {
	for _, f := range files {
		fmt.Fprintf(s.out, "%s has %s; in dish.toml:\n", f.File, report.Count(len(f.Maps), "task"))
		for _, m := range f.Maps[:min(len(f.Maps), maxListed)] {
			fmt.Fprintf(s.out, "  %s -> %s\n", report.PrintableLine(m.From), report.PrintableLine(m.To))
		}
		if more := len(f.Maps) - maxListed; more > 0 {
			fmt.Fprintf(s.out, "  and %d more; bento init --dry-run --json lists them all\n", more)
		}
	}
}
