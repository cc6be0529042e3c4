package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/owner"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/plugin/adapter"
	"github.com/bentobuild/bento/plugin/host"
)

func dishCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "dish", GroupID: "setup",
		Short: "List and make dishes",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(dishListCommand(s), dishAddCommand(s))
	return cmd
}

func dishAddCommand(s *session) *cobra.Command {
	var language string
	cmd := &cobra.Command{
		Use:     "add DIR",
		Short:   "Make a new dish, or make a directory a dish",
		Long:    "Make the smallest project of a language that builds, tests and lints, in a new\ndirectory. In a directory with files bento writes only a dish.toml, if the directory\nis no dish without it.",
		Example: "  bento dish add --language go services/api\n  bento dish add tools/gen",
		Args:    exactly(1, "bento dish add requires a directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.dishAdd(cmd.Context(), args[0], language)
		},
	}
	cmd.Flags().StringVar(&language, "language", "", "make a project of `LANGUAGE`: an adapter's id")
	return cmd
}

// newDish is a dish that bento dish add creates.
type newDish struct {
	root, dir string // absolute
	path      string // of dir, relative to root
	name      string
	language  string
	made      []string // files, relative to dir
}

// dishAdd makes a dish and checks that discovery finds it.
func (s *session) dishAdd(ctx context.Context, dir, language string) error {
	n, err := s.placeOf(dir)
	if err != nil {
		return err
	}
	known := adapters.NewRegistry(s.host().Adapters(snapshot.Options{Env: s.environ, Clone: clone.At(n.root)})...)
	n.language = language
	entries, err := os.ReadDir(n.dir)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return notFound("unusable_directory", fmt.Sprintf("%q cannot be a dish: %v", n.path, err), "name a directory")
	case language == "" && len(entries) == 0:
		return usageError(fmt.Sprintf("%q is new and has no language", n.path), "use --language with one of: "+strings.Join(known.IDs(), ", "))
	case language == "" || language == dish.NoLanguage:
		err = nil
	case len(entries) > 0 && s.knows(n.root, known, language):
		err = n.isProject(ctx, known.ByID(language))
	case known.ByID(language) == nil && s.knows(n.root, known, language):
		err = s.withPlugin(ctx, language, func(p *adapter.Process, _ adapter.Status) error { return n.scaffold(p, known.IDs()) })
	default:
		err = n.scaffold(known.ByID(language), known.IDs())
	}
	if err != nil {
		return err
	}
	if err := s.takeIn(ctx, n); err != nil {
		return err
	}
	return s.tellDish(n)
}

// isProject returns an error that names the missing file if the directory has files, but none that the
// tool of the language works on. It does not check the language of a plugin, for which a is nil.
func (n *newDish) isProject(ctx context.Context, a adapters.Adapter) error {
	if _, err := os.Lstat(filepath.Join(n.dir, dish.File)); a == nil || err == nil {
		return nil
	}
	if is, err := a.Detect(ctx, n.dir); is || err != nil {
		return err
	}
	if answer, err := adapters.Tasks(ctx, a, n.dir); err == nil && len(answer.Tasks) > 0 {
		return nil
	}
	made, _ := adapters.Scaffold(a, n.name) // without a scaffold the missing file is unknown
	for _, f := range made {
		if !slices.Contains(a.Manifest().FingerprintFiles, f.Path) {
			continue
		}
		if _, err := os.Stat(filepath.Join(n.dir, f.Path)); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		fresh := owner.ShellWord(path.Join(n.path, "NEW"))
		return usageError(fmt.Sprintf("%q is no project of the language %q: %s is missing", n.path, n.language, f.Path),
			fmt.Sprintf("write %s, or make a whole project in a new or empty directory: bento dish add --language %s %s", f.Path, n.language, fresh))
	}
	return nil
}

// knows reports whether language is the id of an adapter, built in or on PATH.
func (s *session) knows(root string, known *adapters.Registry, language string) bool {
	if known.ByID(language) != nil {
		return true
	}
	cfg, _ := config.Load(root, s.host().OwnConfig()) // its problems are reported later
	in, _ := s.host().Places(cfg)
	candidates, _ := discovery.Adapters(in, &config.Workspace{}, (*host.Digests)(nil).Executable)
	return slices.ContainsFunc(candidates, func(c adapters.Candidate) bool { return c.ID == language && c.Skip != adapters.SkipUnusable })
}

// placeOf returns the directory of a new dish.
func (s *session) placeOf(dir string) (*newDish, error) {
	if dir == "" {
		return nil, usageError("the name of the directory is empty", "check for an unset variable; . is the current directory")
	}
	root, cwd, err := s.root()
	if err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(root, cwd); err != nil || !filepath.IsLocal(rel) {
		cwd = root // -C or the environment names a workspace elsewhere
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cwd, dir)
	}
	below := clone.At(root)
	if real, err := filepath.EvalSymlinks(dir); err == nil && !below.Holds(dir) {
		dir = real // -C, or the directory, was named through a link
	}
	path, err := below.Resolve(filepath.Clean(dir)) // no walk follows a link
	var stray *clone.StrayError
	switch {
	case errors.As(err, &stray):
		return nil, usageError(fmt.Sprintf("%q is outside of the workspace %q: %v", dir, root, stray), "name a directory inside, or another workspace with -C")
	case err != nil:
		return nil, usageError(fmt.Sprintf("%q is outside of the workspace %q", dir, root), "name a directory inside, or another workspace with -C")
	}
	dir = filepath.Join(root, path)
	n := &newDish{root: root, dir: dir, path: filepath.ToSlash(path), name: filepath.Base(dir)}
	if path == "." {
		n.name = "root"
	}
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`).MatchString(n.name) {
		return nil, usageError(fmt.Sprintf("%q is no name for a dish", n.name), "expected letters, digits, dots, dashes and underscores, a letter or digit in front")
	}
	return n, nil
}

// scaffold writes the smallest project of a language.
func (n *newDish) scaffold(a adapters.Adapter, ids []string) error {
	if a == nil {
		return diagnostics.Refuse("unknown_language", discovery.SuggestLanguage(n.language, ids), "no new project can be made for the language %q", n.language)
	}
	files, err := adapters.Scaffold(a, n.name)
	var not *adapters.Unsupported
	if errors.As(err, &not) {
		return notFound("unsupported", not.Error(), not.Hint)
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		mode := f.Mode
		if mode == 0 {
			mode = 0o644
		}
		if err := n.write(f.Path, f.Data, mode); err != nil {
			return err
		}
	}
	return nil
}

// write creates a file. It returns an error if the file exists.
func (n *newDish) write(name string, data []byte, mode fs.FileMode) error {
	if err := clone.At(n.root).Create(filepath.Join(n.dir, filepath.FromSlash(name)), data, mode.Perm()); err != nil {
		return err
	}
	n.made = append(n.made, name)
	return nil
}

// takeIn writes dish.toml if the directory is no dish of the required language without it.
func (s *session) takeIn(ctx context.Context, n *newDish) error {
	if is, err := s.isDish(ctx, n); is || err != nil {
		return err
	}
	if n.language == "" {
		n.language = dish.NoLanguage
	}
	text := fmt.Sprintf("name = %q\nlanguage = %q\n", n.name, n.language)
	err := n.write(dish.File, []byte(text), 0o644)
	is := false
	if err == nil {
		is, err = s.isDish(ctx, n)
	}
	if err == nil && !is || errors.Is(err, fs.ErrExist) {
		return usageError(fmt.Sprintf("%q is excluded from the workspace, even with a dish.toml", n.path), "check exclude in bento.toml and git's ignore files")
	}
	return err
}

// isDish reports whether the directory is a dish. It sets the name and language of n to the discovered ones.
func (s *session) isDish(ctx context.Context, n *newDish) (bool, error) {
	w, err := s.open(ctx, nil)
	if err != nil {
		return false, err
	}
	defer w.close()
	i := slices.IndexFunc(w.Dishes, func(d *dish.Dish) bool { return d.Path == n.path })
	if i < 0 {
		return false, nil
	}
	d, id := w.Dishes[i], dish.NoLanguage
	if d.Adapter != nil {
		id = d.Adapter.Manifest().AdapterID
	}
	switch {
	case n.language == "" || n.language == id || d.Failure != nil:
	case d.Config == nil:
		return false, nil
	default:
		return false, usageError(fmt.Sprintf("%q is a dish of the language %q already", n.path, id), "edit its dish.toml")
	}
	n.name, n.language = d.Name, id
	report.WriteProblems(s.err, s.style, w.Problems)
	return true, nil
}

// addedDish is the document of `bento dish add`.
type addedDish struct {
	Schema   string   `json:"schema"`
	Name     string   `json:"name"`
	Path     string   `json:"path"`
	Language string   `json:"language"`
	Files    []string `json:"files"`
}

func (s *session) tellDish(n *newDish) error {
	slices.Sort(n.made)
	if s.flags.json {
		return report.Write(s.out, addedDish{report.Schema("dish.add"), n.name, n.path, n.language, slices.Concat([]string{}, n.made)})
	}
	for _, name := range n.made {
		fmt.Fprintf(s.out, "made  %s\n", report.PrintableLine(filepath.ToSlash(filepath.Join(n.path, name))))
	}
	fmt.Fprintf(s.out, "%s is a dish (%s); bento ci --dish %[1]s runs its tasks\n", report.PrintableLine(n.name), report.PrintableLine(n.language))
	return nil
}
