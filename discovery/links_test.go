package discovery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/dish"
)

func trimRoot(s, root string) string { return strings.ReplaceAll(s, root+"/", "") }

// linksOf returns the links as "from > to kind[ via][ dev][ cyclic] where".
func linksOf(ws *dish.Workspace) []string {
	var out []string
	for _, d := range ws.Dishes {
		for _, l := range d.Links {
			s := d.Name + " > " + l.To.Name + " " + l.Kind
			if l.Via != "" {
				s += " " + l.Via
			}
			if l.Dev {
				s += " dev"
			}
			if l.Private {
				s += " private"
			}
			if l.Cyclic {
				s += " cyclic"
			}
			out = append(out, s+" "+l.Where)
		}
	}
	return out
}

func TestLinks(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string
		told  []string
	}{
		{
			name: "inferred by directory and name",
			files: map[string]string{
				"app/aa.toy": "link ../lib\nlink ../lib/sub/dir\nlink ../docs\nneeds ui\nneeds left-pad", "lib/bb.toy": "",
				"ui/bb.toy": "provides ui", "docs/x": "",
			},
			want: []string{"app > lib inferred app/aa.toy:1", "app > ui inferred app/aa.toy:4"},
		},
		{
			name:  "to the innermost dish",
			files: map[string]string{"aa.toy": "link x/y", "x/bb.toy": "link .\nlink ../z/f", "x/y/dish.toml": "", "z/f": ""},
			want:  []string{"root > y inferred aa.toy:1"}, // z/f is no dish; its files are just inputs of x
			told:  nil,
		},
		{
			name: "a shared link of the root is one of every member; it loses its order to every other link, without a warning",
			files: map[string]string{
				"aa.toy":     "member app\nmember tool\nmember util\nmember own\nshared tool\nlink util",
				"app/aa.toy": "link ../util", "tool/aa.toy": "link ../util", "util/aa.toy": "", "own/aa.toy": "link ../tool",
				"other/aa.toy": "",
			},
			want: []string{
				"root > tool inferred aa.toy:5", "root > util inferred aa.toy:6", "app > tool inferred dev aa.toy:5", "app > util inferred app/aa.toy:1",
				"own > tool inferred own/aa.toy:1", "tool > util inferred tool/aa.toy:1", "util > tool inferred dev cyclic aa.toy:5",
			},
		},
		{
			name: "private unless another manifest entry is not",
			files: map[string]string{
				"app/aa.toy": "private ../lib\nprivate ../ui\nlink ../ui\nprivate ../docs", "lib/bb.toy": "", "ui/bb.toy": "", "docs/bb.toy": "",
				"app/dish.toml": "depends_on = [\"docs\"]",
			},
			want: []string{"app > docs declared app/dish.toml:1", "app > lib inferred private app/aa.toy:1", "app > ui inferred app/aa.toy:2"},
		},
		{
			name: "deep links take private ones along",
			files: map[string]string{
				"app/aa.toy": "private ../ui\ndeep ../lib", "lib/bb.toy": "private ../ui\nprivate ../gen\ndeep ../more", "more/bb.toy": "private ../far\nlink ../near",
				"ui/bb.toy": "", "gen/bb.toy": "", "far/bb.toy": "", "near/bb.toy": "",
			},
			want: []string{
				"app > gen inferred app/aa.toy:2", "app > lib inferred app/aa.toy:2", "app > ui inferred app/aa.toy:1",
				"lib > far inferred lib/bb.toy:3", "lib > gen inferred private lib/bb.toy:2", "lib > more inferred lib/bb.toy:3", "lib > ui inferred private lib/bb.toy:1",
				"more > far inferred private more/bb.toy:1", "more > near inferred more/bb.toy:2",
			},
		},
		{
			name:  "declared wins",
			files: map[string]string{"app/aa.toy": "dev ../lib", "app/dish.toml": "depends_on = [{dish = \"lib\", via = \"outputs\"}, \"lib\"]", "lib/bb.toy": ""},
			want:  []string{"app > lib declared outputs app/dish.toml:1"},
			told:  []string{`warning duplicate_name app/dish.toml:1:48: depends_on names "lib" twice`},
		},
		{
			name:  "for development only if all say so",
			files: map[string]string{"a/aa.toy": "dev ../x\nlink ../x\ndev ../y", "x/bb.toy": "", "y/bb.toy": ""},
			want:  []string{"a > x inferred a/aa.toy:1", "a > y inferred dev a/aa.toy:3"},
		},
		{
			name:  "to what lies beside the members of a workspace",
			files: map[string]string{"aa.toy": "aggregate\nmember a", "a/aa.toy": "link ../tools", "tools/x": ""},
		},
		{
			name:  "to what is part of the dish around",
			files: map[string]string{"aa.toy": "member a", "a/aa.toy": "link ../tools", "tools/x": ""},
		},
		{
			name:  "unknown dishes",
			files: map[string]string{"a/dish.toml": "depends_on = [\"lob\", \"p/q\", \"zzzz\"]", "lib/dish.toml": "", "p/q/dish.toml": "name = \"queue\""},
			told: []string{
				`error unknown_dish a/dish.toml:1:15: depends_on: no dish is named "lob" (did you mean "lib"?)`,
				`error unknown_dish a/dish.toml:1:22: depends_on: no dish is named "p/q" (the dish at p/q is named "queue")`,
				`error unknown_dish a/dish.toml:1:29: depends_on: no dish is named "zzzz" (known: a, lib, queue)`,
			},
		},
		{
			name: "declared cycle",
			files: map[string]string{
				"a/dish.toml": "depends_on = [\"b\"]", "b/dish.toml": "\ndepends_on = [\"c\"]", "c/dish.toml": "depends_on = [\"a\", \"d\"]",
				"d/dish.toml": "", "e/dish.toml": "depends_on = [\"e\"]",
			},
			want: []string{
				"a > b declared a/dish.toml:1", "b > c declared b/dish.toml:2", "c > a declared c/dish.toml:1",
				"c > d declared c/dish.toml:1", "e > e declared e/dish.toml:1",
			},
			told: []string{
				`error dependency_cycle a/dish.toml:1:15: the dishes depend on each other in a cycle: a → b → c → a (remove one of these depends_on)`,
				`error dependency_cycle e/dish.toml:1:15: the dishes depend on each other in a cycle: e → e (remove one of these depends_on)`,
			},
		},
		{
			name:  "inferred cycle loses the development link",
			files: map[string]string{"a/aa.toy": "dev ../b", "b/bb.toy": "link ../a"},
			want:  []string{"a > b inferred dev cyclic a/aa.toy:1", "b > a inferred b/bb.toy:1"},
			told:  []string{`warning dependency_cycle a/aa.toy:1: a depends on b in a cycle: a → b → a; this link orders no tasks`},
		},
		{
			name:  "inferred against declared",
			files: map[string]string{"a/aa.toy": "link ../b", "b/bb.toy": "", "b/dish.toml": "depends_on = [\"a\"]"},
			want:  []string{"a > b inferred cyclic a/aa.toy:1", "b > a declared b/dish.toml:1"},
			told:  []string{`warning dependency_cycle a/aa.toy:1: a depends on b in a cycle: a → b → a; this link orders no tasks`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ws, told := find(t, tt.files, nil)
			if diff := cmp.Diff(tt.want, linksOf(ws)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.told, told); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBentos(t *testing.T) {
	ws, told := find(t, map[string]string{
		"bentos/a.toml": "name = \"all\"\ndishes = [\"apps/*\", \"lib\", \"./apps/x/\", \".\"]",
		"bentos/b.toml": "name = \"bad\"\ndishes = [\"app/x\", \"ux\", \"none/*\"]",
		"bentos/c.toml": "name = \"every\"\ndishes = [\"**\"]",
		"bentos/d.toml": "name = \"top\"\ndishes = [\"*\"]",
		"dish.toml":     "name = \"top-dish\"", "apps/x/dish.toml": "name = \"ux\"", "apps/x/sub/dish.toml": "", "apps/y/dish.toml": "", "lib/dish.toml": "",
	}, nil)
	want := []string{
		`error unknown_dish bentos/b.toml:2:11: bento "bad": no dish found at "app/x" (did you mean "apps/x"?)`,
		`error unknown_dish bentos/b.toml:2:20: bento "bad": no dish found at "ux" (the path of the dish ux is apps/x)`,
		`warning unknown_dish bentos/b.toml:2:26: bento "bad": no dish has a path that matches "none/*"`,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	got := make(map[string][]string)
	for _, b := range ws.Bentos {
		got[b.Name] = b.Dishes
	}
	dishes := map[string][]string{
		"all": {"ux", "y", "lib", "top-dish"}, "bad": nil,
		"every": {"top-dish", "ux", "sub", "y", "lib"}, "top": {"lib"},
	}
	if diff := cmp.Diff(dishes, got); diff != "" {
		t.Error(diff)
	}
}

// TestFewAreSuggested checks that only the first paths without a dish have a suggestion.
func TestFewAreSuggested(t *testing.T) {
	var paths []string
	for i := range maxSuggested + 2 {
		paths = append(paths, fmt.Sprintf("%q", fmt.Sprintf("services/payment-%03d", i)))
	}
	_, told := find(t, map[string]string{
		"bentos/b.toml": "name = \"bad\"\ndishes = [" + strings.Join(paths, ", ") + "]", "services/payment/dish.toml": "",
	}, nil)
	if len(told) != len(paths) {
		t.Fatalf("%d problems for %d paths: %q", len(told), len(paths), told)
	}
	for i, text := range told {
		if got := strings.Contains(text, `did you mean "services/payment"?`); got != (i < maxSuggested) {
			t.Errorf("path %d has a suggestion: %v: %s", i, got, text)
		}
	}
}
