package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/template"
	"github.com/bentobuild/bento/internal/tree"
)

// templateDir has the templates that are named without a path.
const templateDir = "templates"

func newCommand(s *session) *cobra.Command {
	var set []string
	var dry bool
	cmd := &cobra.Command{
		Use: "new [TEMPLATE DIR]", GroupID: "setup",
		Annotations: traits{Unless: "dry-run"}.annotations(),
		Short:       "Make a directory from a template of the repository",
		Long:        "Make a new directory from a template: a directory of the repository with a\n" + template.File + ". TEMPLATE is its name in " + templateDir + "/, or a path. At a terminal bento asks for\nthe variables that --set does not name. It overwrites no file.\nWithout arguments, list the templates.",
		Example:     "  bento new\n  bento new service services/orders --set port=8080\n  bento new service services/orders --dry-run",
		Args:        cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			values, err := settings(set)
			switch {
			case err != nil:
				return err
			case len(args) == 0:
				return s.listTemplates(cmd.Context())
			case len(args) == 1:
				return usageError("bento new requires the directory to make", "as in bento new "+args[0]+" services/"+path.Base(args[0]))
			}
			return s.makeNew(cmd.Context(), args[0], args[1], newOptions{values, dry})
		},
	}
	cmd.Flags().Var(repeated{&set}, "set", "the value of a variable, as `NAME=VALUE` (repeatable)")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the paths of the files, write nothing")
	return cmd
}

// settings reads the values of --set.
func settings(set []string) (map[string]string, error) {
	values := make(map[string]string)
	for _, text := range set {
		name, value, found := strings.Cut(text, "=")
		switch _, twice := values[name]; {
		case !found || name == "":
			return nil, usageError(fmt.Sprintf("--set %q is no NAME=VALUE", text), "as in --set port=8080")
		case twice:
			return nil, usageError(fmt.Sprintf("--set names %q twice", name), "leave one out")
		}
		values[name] = value
	}
	return values, nil
}

type newOptions struct {
	values map[string]string // of variables
	dry    bool
}

// madeNew is the document of `bento new TEMPLATE DIR`.
type madeNew struct {
	Schema   string   `json:"schema"`
	Template string   `json:"template"` // its directory, relative to the root
	Path     string   `json:"path"`     // of the new directory, relative to the root
	Files    []string `json:"files"`    // relative to the new directory
	Dishes   []string `json:"dishes"`   // in the new directory; empty with --dry-run
}

// makeNew makes a directory from a template, and checks the workspace with it.
func (s *session) makeNew(ctx context.Context, name, dir string, o newOptions) error {
	n, err := s.placeOf(dir)
	if err != nil {
		return err
	}
	t, err := s.findTemplate(ctx, n.root, name)
	if err != nil {
		return err
	}
	if n.path == t.Dir || strings.HasPrefix(n.path, t.Dir+"/") {
		return usageError(fmt.Sprintf("%q is in the template %s", n.path, t.Dir), "name another directory")
	}
	values, err := s.valuesOf(ctx, t, n, o.values)
	if err != nil {
		return err
	}
	files, problems := t.Fill(values)
	if err := diagnostics.AsError(problems); err != nil {
		return err
	}
	if err := n.isFree(files); err != nil {
		return err
	}
	doc := madeNew{report.Schema("new"), t.Dir, n.path, []string{}, []string{}}
	for _, f := range files {
		if !o.dry {
			err = n.write(f.Path, f.Data, f.Mode)
		}
		if err != nil {
			return fmt.Errorf("%w; %s of %s are written in %s", err, report.Count(len(n.made), "file"), report.Count(len(files), "file"), n.path)
		}
		doc.Files = append(doc.Files, f.Path)
	}
	if !o.dry {
		doc.Dishes, err = s.dishesIn(ctx, n)
	}
	if err != nil {
		return err
	}
	return show(s, doc, func(w io.Writer, _ report.Style, doc madeNew) { writeNew(w, doc, o.dry) })
}

func writeNew(w io.Writer, doc madeNew, dry bool) {
	word := "made"
	if dry {
		word = "would make"
	}
	for _, name := range doc.Files {
		fmt.Fprintf(w, "%s  %s\n", word, report.PrintableLine(path.Join(doc.Path, name)))
	}
	for _, name := range doc.Dishes {
		fmt.Fprintf(w, "%s is a dish; bento ci --dish %[1]s runs its tasks\n", report.PrintableLine(name))
	}
}

// isFree returns an error if a file of a template exists: bento overwrites none.
func (n *newDish) isFree(files []template.Output) error {
	in := clone.At(n.root)
	var have []string
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(n.dir, filepath.FromSlash(f.Path))); !errors.Is(err, fs.ErrNotExist) {
			have = append(have, path.Join(n.path, f.Path))
		}
	}
	if len(have) > 0 {
		return notFound("new_exists", fmt.Sprintf("%s exists, and bento new overwrites nothing", strings.Join(have[:min(3, len(have))], ", ")), "name another directory, or move the files")
	}
	_, err := in.Resolve(n.path)
	return err
}

// dishesIn returns the names of the dishes in a new directory. It reports the problems of the workspace with them.
func (s *session) dishesIn(ctx context.Context, n *newDish) ([]string, error) {
	w, err := s.open(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("the files are made, but the workspace is invalid with them: %w", err)
	}
	defer w.close()
	names := []string{}
	for _, d := range w.Dishes {
		if d.Path == n.path || strings.HasPrefix(d.Path, n.path+"/") {
			names = append(names, d.Name)
		}
	}
	report.WriteProblems(s.err, s.style, w.Problems)
	if err := diagnostics.AsError(diagnostics.Errors(w.Problems)); err != nil {
		return nil, err
	}
	if len(names) == 0 {
		s.warn("no_dishes", n.path+" has no dish", "its template needs a manifest that bento knows, or a dish.toml; bento dish list --left-out names the reasons")
	}
	return names, nil
}

// valuesOf returns the values of all variables: those of --set, then answers at the terminal, then defaults.
func (s *session) valuesOf(ctx context.Context, t *template.Template, n *newDish, set map[string]string) (map[string]string, error) {
	values := template.Derived(n.name, n.path)
	var names, missing []string
	for _, v := range t.Variables {
		names = append(names, v.Name)
		value, given := set[v.Name]
		switch {
		case given:
			if why := v.Check(value); why != "" {
				return nil, usageError("--set: the value of "+v.Name+" "+why, v.Description)
			}
		case s.asks():
			var err error
			if value, err = s.askFor(ctx, v); err != nil {
				return nil, err
			}
		case v.Default != nil:
			value = *v.Default
		default:
			missing = append(missing, "--set "+v.Name+"=VALUE")
		}
		values[v.Name] = value
	}
	for name := range set {
		if !slices.Contains(names, name) {
			return nil, usageError(fmt.Sprintf("the template %s has no variable %q", t.Dir, name), diagnostics.Suggest(name, names))
		}
	}
	if len(missing) > 0 {
		return nil, usageError(fmt.Sprintf("the template %s needs %s", t.Dir, report.Count(len(missing), "more value")), "add "+strings.Join(missing, " "))
	}
	return values, nil
}

// askFor asks for the value of a variable until the answer is one. An empty answer is the default.
func (s *session) askFor(ctx context.Context, v template.Variable) (string, error) {
	question := v.Name
	if v.Description != "" {
		question += ": " + v.Description
	}
	if v.Default != nil {
		question += " [" + *v.Default + "]"
	}
	for {
		fmt.Fprintf(s.err, "bento: %s: ", report.PrintableLine(question))
		answer, err := readAnswer(ctx, s.files[0])
		ended := !strings.HasSuffix(answer, "\n")
		if ended {
			fmt.Fprintln(s.err) // the cursor is still on the line of the question
		}
		if err != nil {
			return "", err
		}
		answer = strings.TrimSpace(answer)
		if answer == "" && v.Default != nil {
			answer = *v.Default
		}
		why := v.Check(answer)
		if why == "" && (answer != "" || v.Default != nil) {
			return answer, nil
		}
		if ended { // the end of the input
			return "", usageError("no value for "+v.Name, "add --set "+v.Name+"=VALUE")
		}
		if why == "" {
			why = "is required"
		}
		fmt.Fprintf(s.err, "bento: the value %s\n", report.PrintableLine(why))
	}
}

// findTemplate reads the template of a name in templateDir, or of a path.
func (s *session) findTemplate(ctx context.Context, root, name string) (*template.Template, error) {
	files, err := tree.Walk(ctx, root, &tree.Options{})
	if err != nil {
		return nil, err
	}
	defer files.Close()
	dirs := templatesIn(files)
	_, cwd, err := s.root()
	if err != nil {
		return nil, err
	}
	dir := path.Join(templateDir, name)
	if !slices.Contains(dirs, dir) {
		if below, err := filepath.Rel(root, filepath.Join(cwd, filepath.FromSlash(name))); err == nil {
			dir = filepath.ToSlash(below)
		}
	}
	if !slices.Contains(dirs, dir) || dir == "." {
		return nil, notFound("unknown_template", fmt.Sprintf("%q is no template: no directory of that name in %s/, and no path of a directory, has a %s", name, templateDir, template.File), suggestTemplate(name, dirs))
	}
	t, problems := readTemplate(files, dir)
	return t, diagnostics.AsError(problems)
}

// readTemplate reads the template in a directory of the snapshot files.
func readTemplate(files *tree.Tree, dir string) (*template.Template, []diagnostics.Diagnostic) {
	var sources []template.Source
	for _, e := range files.Under(dir) {
		mode := e.Mode
		switch e.Kind {
		case tree.File:
		case tree.Link:
			mode |= fs.ModeSymlink
		default:
			mode |= fs.ModeIrregular
		}
		sources = append(sources, template.Source{Path: e.Path, Mode: mode})
	}
	return template.Read(clone.At(files.Root()), dir, sources)
}

// templatesIn returns the directories that are templates, sorted.
func templatesIn(files *tree.Tree) (dirs []string) {
	for _, e := range files.Entries() {
		if path.Base(e.Path) == template.File && e.Path != template.File {
			dirs = append(dirs, path.Dir(e.Path))
		}
	}
	slices.Sort(dirs)
	return dirs
}

func suggestTemplate(name string, dirs []string) string {
	if len(dirs) == 0 {
		return "write " + path.Join(templateDir, "NAME", template.File) + ", which may be empty"
	}
	var names []string
	for _, dir := range dirs {
		names = append(names, shortTemplate(dir))
	}
	return diagnostics.Suggest(name, names)
}

// shortTemplate returns the name of a template on the command line.
func shortTemplate(dir string) string {
	if name, ok := strings.CutPrefix(dir, templateDir+"/"); ok {
		return name
	}
	return dir
}
