package record

import (
	"testing"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
)

// Strays are looked for unless every output is a file or link that the task names and has made.
func TestIsExact(t *testing.T) {
	file := func(p string) cache.Output { return cache.Output{Path: p, Kind: cache.File} }
	for name, test := range map[string]struct {
		globs []string
		made  []cache.Output
		want  bool
	}{
		"file":             {[]string{"dist/a"}, []cache.Output{file("d/dist/a")}, true},
		"link":             {[]string{"dist/a"}, []cache.Output{{Path: "d/dist/a", Kind: cache.Link}}, true},
		"at the workspace": {[]string{"//a", "b"}, []cache.Output{file("a"), file("d/b")}, true},
		"one is not made":  {[]string{"dist/a", "dist/b"}, []cache.Output{file("d/dist/a")}, false},
		"directory":        {[]string{"dist"}, []cache.Output{file("d/dist/a")}, false},
		"empty directory":  {[]string{"dist"}, []cache.Output{{Path: "d/dist", Kind: cache.Dir}}, false},
		"wildcard":         {[]string{"dist/*"}, []cache.Output{file("d/dist/a")}, false},
		"negated":          {[]string{"a", "!b"}, []cache.Output{file("d/a"), file("d/b")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plan.Task{Name: "build", Dish: &dish.Dish{Path: "d"}}
			for _, g := range test.globs {
				p.Outputs = append(p.Outputs, plan.Output{Glob: g})
			}
			if got := (&Upstream{Task: p, Outputs: test.made}).isExact(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
