package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/foreign"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
)

// writeNew writes the files of doc, all or none. It then removes tasks of other tools that would make the
// plan invalid, such as by a cycle with a recipe.
func (s *session) writeNew(ctx context.Context, doc *initialised) error {
	below := clone.At(doc.Root)
	for _, f := range doc.Files {
		if doc.replaces && f.Path == foreign.AgentsFile {
			continue // it is replaced when nothing else can fail
		}
		if err := below.Create(f.Path, []byte(f.Text), f.Mode); err != nil {
			doc.unwrite(below)
			if errors.Is(err, fs.ErrExist) {
				return notFound("init_exists", f.Path+" exists, and bento init overwrites nothing", f.Absent)
			}
			return notFound("unusable_directory", fmt.Sprintf("%q cannot be written: %v", f.Path, err), "--dry-run prints the text of each file")
		}
		doc.FilesWritten = append(doc.FilesWritten, f.Path)
	}
	if len(doc.from) > 0 {
		if err := s.verify(ctx, doc, below); err != nil {
			doc.unwrite(below)
			return err
		}
	}
	return doc.replaceAgents(below)
}

// replaceAgents writes AGENTS.md if an existing one is to be replaced.
func (doc *initialised) replaceAgents(below *clone.Clone) error {
	if !doc.replaces {
		return nil
	}
	f := foreign.Agents()
	if err := below.Replace(f.Path, []byte(f.Text), f.Mode); err != nil {
		doc.unwrite(below)
		return notFound("unusable_directory", fmt.Sprintf("%q cannot be written: %v", f.Path, err), "--dry-run prints the text of each file")
	}
	doc.FilesWritten = append(doc.FilesWritten, f.Path)
	return nil
}

// unwrite removes the files that were written.
func (doc *initialised) unwrite(below *clone.Clone) {
	for _, name := range doc.FilesWritten {
		_ = below.Remove(name) // the error that led here is reported
	}
	doc.FilesWritten = nil
}

// verify plans with the written dish.toml files, and removes entries that make the plan invalid.
func (s *session) verify(ctx context.Context, doc *initialised, below *clone.Clone) error {
	for range maxRounds {
		w, err := s.openAt(ctx, place{root: doc.Root, cwd: doc.Root}, nil)
		if err != nil {
			return err
		}
		_, problems := plan.Build(w.Workspace.Workspace, plan.Request{AllTasks: true, AllowEmpty: true})
		problems = diagnostics.Errors(slices.Concat(w.Problems, problems))
		w.close()
		changed := doc.mapping.DropInvalid(problems)
		if len(changed) == 0 {
			doc.Unmapped = append(doc.Unmapped[:0], doc.mapping.Gaps...)
			return nil
		}
		for _, t := range changed {
			text := t.Text(strings.Join(doc.from, ","))
			if err := below.Replace(t.File(), []byte(text), 0o644); err != nil {
				return err
			}
			i := slices.IndexFunc(doc.Files, func(f foreign.NewFile) bool { return f.Path == t.File() })
			doc.Files[i].Text = text
		}
	}
	return notFound("init_foreign", fmt.Sprintf("the tasks of %s make no valid plan", strings.Join(doc.from, ", ")), "bento init --dry-run --from TOOL prints them; write those that you need by hand")
}

// goCommand matches the package clause of a command. For a library, go build makes no file.
var goCommand = pattern.New(`(?m)^package main\b`)

// makesOutputs reports whether a task makes its declared outputs. The recipe of Go declares an output even for
// a library.
func (w *opened) makesOutputs(t *plan.Task) bool {
	if t.Dish.Adapter == nil || t.Dish.Adapter.Manifest().AdapterID != "go" {
		return true
	}
	below := clone.At(w.Root)
	for _, e := range w.Tree.Under(t.Dish.Path) {
		if path.Dir(e.Path) != path.Clean(t.Dish.Path) || path.Ext(e.Path) != ".go" || strings.HasSuffix(e.Path, "_test.go") {
			continue
		}
		if data, err := below.Read(e.Path, maxIgnore); err == nil && goCommand.MatchString(string(data)) {
			return true
		}
	}
	return false
}

// ignoreFile is the file to which init writes lines for git.
const ignoreFile = ".gitignore"

// maxIgnore is the maximal size in bytes of a .gitignore to which init adds lines.
const maxIgnore = 1 << 20

// ignore adds the outputs of recipes that git does not ignore to .gitignore, if the user wants that.
func (s *session) ignore(ctx context.Context, doc *initialised, wanted bool) error {
	if len(doc.Unignored) == 0 {
		return nil
	}
	if !wanted && s.asks() {
		yes, err := s.confirm(ctx, "bento init", fmt.Sprintf("git does not ignore %s, which tasks make; add to %s?", diagnostics.Few(doc.Unignored), ignoreFile))
		if err != nil {
			return err
		}
		wanted = yes
	}
	if !wanted {
		return nil
	}
	below := clone.At(doc.Root)
	data, err := below.Read(ignoreFile, maxIgnore)
	var stray *clone.StrayError
	if err != nil && (errors.As(err, &stray) || !errors.Is(err, fs.ErrNotExist)) {
		return notFound(config.RuleUnreadable, fmt.Sprintf("%s cannot be changed: %v", ignoreFile, err), "add to it: "+strings.Join(doc.Unignored, " "))
	}
	text := string(data)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	text += strings.Join(doc.Unignored, "\n") + "\n"
	if err := below.Replace(ignoreFile, []byte(text), 0o644); err != nil {
		return notFound("unusable_directory", fmt.Sprintf("%s cannot be written: %v", ignoreFile, err), "add to it: "+strings.Join(doc.Unignored, " "))
	}
	doc.FilesWritten = append(doc.FilesWritten, ignoreFile)
	return nil
}

// tellUnignored prints the lines for .gitignore that were not written.
func (s *session) tellUnignored(doc *initialised) {
	if len(doc.Unignored) == 0 || slices.Contains(doc.FilesWritten, ignoreFile) {
		return
	}
	fmt.Fprintf(s.out, "git does not ignore what tasks make; bento init --gitignore adds to %s:\n", ignoreFile)
	for _, line := range doc.Unignored[:min(len(doc.Unignored), maxListed)] {
		fmt.Fprintf(s.out, "  %s\n", report.PrintableLine(line))
	}
	if more := len(doc.Unignored) - maxListed; more > 0 {
		fmt.Fprintf(s.out, "  and %d more\n", more)
	}
}
