package main

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/report"
)

// lookedFor returns a hint for a workspace without dishes: which directories bento takes as dishes.
func (w *opened) lookedFor() string {
	if !w.Config.Discover {
		return "bento looked for dish.toml files below " + w.Root + ", and for no manifests: [workspace] discover = true in bento.toml makes it look for these too"
	}
	var manifests []string
	for _, a := range append(builtin.All(snapshot.Options{}), w.Plugins.Adapters()...) {
		m := a.Manifest()
		if names := slices.Concat(m.Projects, m.FingerprintFiles); len(names) > 0 && !slices.Contains(manifests, names[0]) {
			manifests = append(manifests, names[0])
		}
	}
	text := "bento looked below " + w.Root + " for dish.toml and the manifests of languages: " + strings.Join(manifests, ", ")
	if left := report.LeftOutLine(w.LeftOut); left != "" {
		text += "\n" + left
	}
	return text
}

// nothingToDo returns the reason why no dish of the workspace has a task, "" if a dish has one.
func (w *opened) nothingToDo() string {
	if len(w.Dishes) == 0 {
		return w.lookedFor()
	}
	for _, d := range w.Dishes {
		if len(d.Tasks) > 0 || d.Config != nil && len(d.Config.Tasks) > 0 {
			return ""
		}
	}
	return "no dish has a task: the manifests name nothing to build, check, lint or test\n" +
		"write [tasks.NAME] with run = \"…\" in the dish.toml of a dish, for example " + path.Join(w.Dishes[0].Path, dish.File)
}

// planRun is plan for a command that runs something. A selection without dishes is an error unless
// the user accepts it: a job that checks nothing must not pass unnoticed.
func (s *session) planRun(ctx context.Context, w *opened, sel selection) (*plan.Plan, error) {
	strict := !sel.AllowEmpty && len(diagnostics.Errors(s.stopping(w))) == 0
	if _, _, err := parseShard(sel.shard); sel.shard != "" && err != nil {
		return nil, err // even without dishes
	}
	if strict && len(w.Dishes) == 0 {
		err := notFound("no_dishes", "the workspace has no dishes, so there is nothing to do", w.lookedFor()+"\nbento dish add DIR makes a dish; --allow-empty accepts a workspace without dishes")
		return nil, after(w.Problems, err)
	}
	p, err := s.plan(ctx, w, sel)
	if err == nil && strict && len(p.Dishes) == 0 {
		return nil, notFound("no_dishes", "no dish is selected, so there is nothing to do", "bento dishes lists the dishes; --allow-empty accepts a selection without dishes")
	}
	return p, err
}

// after puts the possible causes of problems, such as a failed plugin, in front of them. It returns any other
// error unchanged.
func after(causes []diagnostics.Diagnostic, err error) error {
	var problems diagnostics.Problems
	if errors.As(err, &problems) {
		return append(diagnostics.Problems(slices.Clone(causes)), problems...)
	}
	return err
}

// warnNoTasks warns of a run without tasks in a workspace that has none.
func (s *session) warnNoTasks(w *opened, p *plan.Plan) {
	if len(p.Tasks) > 0 || len(w.Dishes) == 0 {
		return
	}
	if message, hint, _ := strings.Cut(w.nothingToDo(), "\n"); message != "" {
		s.warn("no_tasks", message, hint)
	}
}
