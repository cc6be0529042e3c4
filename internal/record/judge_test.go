package record

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// TestJudge: the verdict follows from the two lists alone, whether looks or an observer made them.
func TestJudge(t *testing.T) {
	root := t.TempDir()
	for _, p := range []string{"d/out/new", "d/out/old", "d/out/.keep", "d/cache/x", "d/left", "d/beside", "e/out/beside"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(root, p)), 0o755), os.WriteFile(filepath.Join(root, p), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := tree.Walk(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	file := func(p string, at place, flags ...func(*File)) File {
		e, err := files.Stat(p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		e.Path = p
		f := File{Entry: e, At: at}
		for _, set := range flags {
			set(&f)
		}
		return f
	}
	isNew, extra := func(f *File) { f.New = true }, func(f *File) { f.Extra = true }
	type result struct {
		Made, Found, Undeclared, UpToDate, Beside, Rewritten, Strays, Fresh []string
		Changed                                                             string
	}
	for name, test := range map[string]struct {
		a    Access
		want result
		err  bool
	}{
		"outputs":     {a: Access{Written: []File{file("d/out/new", atOutput, isNew)}, Read: []File{file("d/out/old", atOutput)}}, want: result{Made: []string{"d/out/new"}, Found: []string{"d/out/old"}}},
		"no output":   {a: Access{Written: []File{file("d/left", atIgnored, isNew)}}, err: true},
		"undeclared":  {a: Access{Written: []File{file("d/out/new", atOutput), file("d/left", atIgnored), file("d/cache/x", atIgnored)}}, want: result{Made: []string{"d/out/new"}, Undeclared: []string{"d/left"}}},
		"once more":   {a: Access{Written: []File{file("d/out/new", atOutput)}, Read: []File{file("d/old", atIgnored), file("d/left", atIgnored)}}, want: result{Made: []string{"d/out/new"}, Undeclared: []string{"d/old"}}},
		"stray":       {a: Access{Written: []File{file("d/out/new", atOutput)}, Read: []File{file("e/out/beside", atUpstream, extra)}}, want: result{Made: []string{"d/out/new"}, Strays: []string{"e/out/beside"}, Fresh: []string{"e/out/beside"}}},
		"new stray":   {a: Access{Written: []File{file("d/out/new", atOutput), file("e/out/beside", atUpstream, isNew)}}, want: result{Made: []string{"d/out/new"}, Changed: "e/out/beside"}},
		"stray gone":  {a: Access{Written: []File{file("d/out/new", atOutput), file("e/out/gone", atUpstream, extra)}}, want: result{Made: []string{"d/out/new"}, Strays: []string{"e/out/gone"}, Changed: "e/out/gone"}},
		"by-product":  {a: Access{Written: []File{file("d/out/new", atOutput), file("d/beside", atSibling, isNew)}}, want: result{Made: []string{"d/out/new"}, Beside: []string{"d/beside"}, Rewritten: []string{"d/beside"}}},
		"still there": {a: Access{Written: []File{file("d/out/new", atOutput)}, Read: []File{file("d/beside", atSibling)}}, want: result{Made: []string{"d/out/new"}, Rewritten: []string{"d/beside"}}},
		"moved":       {a: Access{Written: []File{file("d/out/new", atOutput), file("e", atInput)}}, want: result{Made: []string{"d/out/new"}, Changed: "e"}},
		"allowed":     {a: Access{Written: []File{file("d/out/new", atOutput), file("d/may", atInput)}}, want: result{Made: []string{"d/out/new"}}},
	} {
		t.Run(name, func(t *testing.T) {
			task := &plan.Task{
				Name: "build", Dish: &dish.Dish{Path: "d"}, Rewrites: []string{"may"}, Leaves: []string{"cache/**"},
				Outputs: []plan.Output{{Glob: "out/**"}, {Glob: "out/new"}},
			}
			x := &Execution{
				Recorder: &Recorder{Root: root, Tree: files, Plan: &plan.Plan{Workspace: &dish.Workspace{}}, History: func() *key.History { return new(key.History) }, Warn: func(code, message, _ string) { t.Errorf("%s: %s", code, message) }},
				Ev:       &key.Evaluation{Task: task}, Last: &key.LastRun{Undeclared: []string{"d/old"}},
				Others: func(string) bool { return false },
			}
			if x.set, err = OutputSet(task); err != nil {
				t.Fatal(err)
			}
			err := x.judge(test.a)
			if missing := errors.As(err, new(*MissingError)); missing != test.err {
				t.Fatalf("%v, want an error: %v", err, test.err)
			}
			got := result{x.made, x.Found, x.Undeclared, x.UpToDate, x.Beside, nil, x.strays, x.FreshStrays, x.changed.path}
			for _, b := range x.Rewritten {
				got.Rewritten = append(got.Rewritten, b.Path)
			}
			if diff := gocmp.Diff(test.want, got); err == nil && diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
