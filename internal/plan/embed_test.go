package plan

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
)

// TestWhatSourcesTakeIn: by the path that a source of "app" takes in, what app:build depends on and
// counts, and what graph says. "web" makes dist/**, and its other task makes packed and *.tar.
func TestWhatSourcesTakeIn(t *testing.T) {
	for _, c := range []struct {
		path, glob string
		ignored    bool
		owner      string
		deps       []string
		inputs     []string
		onDisk     []string
		taken      []string
		warned     bool
	}{
		{path: "web/dist", ignored: true, owner: "web", deps: []string{"web:build 1"}, taken: []string{"web outputs"}},
		{path: "web/dist/a/b.js", ignored: true, owner: "web", deps: []string{"web:build 1"}, taken: []string{"web outputs"}},
		{path: "web/dist", glob: "*.js", owner: "web", deps: []string{"web:build 1"}, taken: []string{"web outputs"}},
		{path: "web/packed", ignored: true, owner: "web", deps: []string{"web:pack 1"}, taken: []string{"web outputs"}},
		{path: "web/x.tar", owner: "web", deps: []string{"web:pack 1"}, taken: []string{"web outputs"}},
		{path: "web/x.zip", owner: "web", inputs: []string{"//web/x.zip"}, taken: []string{"web "}},
		{
			path: "web", owner: "web", deps: []string{"web:pack 1", "web:build 1"}, inputs: []string{"//web"},
			taken: []string{"web outputs", "web "},
		},
		{path: "app/static", owner: "app"},
		{path: "app/static", ignored: true, owner: "app", onDisk: []string{"//app/static"}, warned: true},
		{path: "app/made", ignored: true, owner: "app", deps: []string{"app:gen 1"}},
		{path: "loose/[x]", glob: "*.x", ignored: true, onDisk: []string{`//loose/\[x]/*.x`, `//loose/\[x]/*.x/**`}, warned: true},
		{path: "loose/x", inputs: []string{"//loose/x"}},
	} {
		app, web := newDish("app", "build", "gen"), newDish("web", "build!", "pack")
		app.Tasks[1].Outputs = []string{"made"}
		web.Tasks[1].Outputs = []string{"packed", "*.tar"}
		owners := map[string]*dish.Dish{"app": app, "web": web}
		embed := dish.Embed{Path: c.path, Glob: c.glob, Ignored: c.ignored, Owner: owners[c.owner], Pos: diagnostics.Pos{File: "app/a.go", Line: 3}}
		app.Embeds = []dish.Embed{embed, embed}
		p, problems := Build(workspace(app, web), Request{Tasks: []string{"build"}, Targets: []string{"app"}})
		task := p.Tasks[len(p.Tasks)-1]
		var taken []string
		for _, from := range p.Included(app) {
			taken = append(taken, fmt.Sprint(from.From.Name, " ", from.Via))
			if from.Where != "app/a.go:3" {
				t.Errorf("%s: where %q", c.path, from.Where)
			}
		}
		type what struct {
			Deps, Inputs, OnDisk, Taken []string
			Warned                      bool
		}
		var inputs []string
		if len(task.Inputs) > 0 {
			inputs = dedupe(task.Inputs)
		}
		got := what{nil, inputs, dedupe(task.OnDisk), taken, len(problems) == 1}
		for _, d := range task.Deps {
			got.Deps = append(got.Deps, fmt.Sprint(d.Task.ID(), " ", d.Via))
		}
		if len(got.OnDisk) == 0 {
			got.OnDisk = nil
		}
		if diff := cmp.Diff(what{c.deps, c.inputs, c.onDisk, c.taken, c.warned}, got); diff != "" {
			t.Errorf("%s %s: %s", c.path, c.glob, diff)
		}
	}
}

// TestTakenInACircle: if two dishes embed outputs of each other, one of them runs first.
func TestTakenInACircle(t *testing.T) {
	a, b := newDish("a", "build!"), newDish("b", "build!")
	a.Embeds = []dish.Embed{{Path: "b/dist", Owner: b}}
	b.Embeds = []dish.Embed{{Path: "a/dist", Owner: a}}
	_, ids := build(t, workspace(a, b), Request{})
	if diff := cmp.Diff([]string{"b:build", "a:build"}, ids); diff != "" {
		t.Error(diff)
	}
}
