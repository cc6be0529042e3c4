package discovery

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/dish"
)

// strict is a toy that decides about nested projects. A nested project is a dish if its file has a line
// "own", or "inside NAME" with the name of the dish around it.
type strict struct{ *toy }

func (a strict) Nested(_ context.Context, dir, outer string) (adapters.NestedAnswer, error) {
	lines, err := a.lines("nested in "+filepath.Base(outer)+":", dir)
	for _, l := range lines {
		if l[0] == "own" || l[0] == "inside" && l[1] == filepath.Base(outer) {
			return adapters.NestedAnswer{}, nil
		}
	}
	return adapters.NestedAnswer{Reason: adapters.NotAMember, Why: "it is not its own"}, err
}

// strictly makes the families "fam" and "bb" strict, and adds adapters of plugins that are not.
func strictly(o *Options) {
	all := newToy("pa", "", "src/*.pa")
	whole := newToy("pw", "")
	no := false
	whole.manifest.Nested = &no
	anywhere := newToy("px", "")
	anywhere.manifest.FingerprintFiles = nil
	o.Registry = adapters.NewRegistry(strict{newToy("aa", "fam")}, strict{newToy("bb", "")}, all, whole, anywhere)
}

// TestJudge checks which nested projects are dishes, and which are left out, with the reason.
func TestJudge(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string // dishes and left-out directories
	}{
		{
			name:  "the adapter decides inside its family only",
			files: map[string]string{"aa.toy": "", "in/aa.toy": "", "own/aa.toy": "own", "other/bb.toy": ""},
			want:  []string{".", "in not_a_member aa", "other", "own"},
		},
		{
			name:  "members and dependencies are named, wherever they lie",
			files: map[string]string{"aa.toy": "member in", "in/aa.toy": "link ../fixtures/lib", "fixtures/lib/aa.toy": "", "fixtures/app/aa.toy": "", "fixtures/bb.toy": ""},
			want:  []string{".", "fixtures test_data bb", "fixtures/app test_data aa", "fixtures/lib", "in"},
		},
		{
			name:  "one that is named late is a dish like the others, and so is what it names",
			files: map[string]string{"aa.toy": "", "x/aa.toy": "own\nlink ../c", "c/aa.toy": "member in\nlink ../b", "c/in/aa.toy": "", "c/out/aa.toy": "", "b/aa.toy": "", "c/x/aa.toy": "inside c"},
			want:  []string{".", "b", "c", "c/in", "c/out not_a_member aa", "c/x", "x"},
		},
		{
			name:  "another family names no member",
			files: map[string]string{"bb.toy": "member in\nlink in", "in/aa.toy": "", "fixtures/in/aa.toy": ""},
			want:  []string{".", "fixtures/in test_data aa", "in"},
		},
		{
			name: "test data by name, and not by a part of one",
			files: map[string]string{
				"testdata/a/aa.toy": "", "test-data/aa.toy": "", "a/__fixtures__/aa.toy": "", "fixture/x/y/aa.toy": "", "node_modules/a/aa.toy": "", "vendor/a/aa.toy": "",
				"third_party/aa.toy": "", "template/aa.toy": "", "templates/aa.toy": "", "template-a/aa.toy": "", "archetype-resources/aa.toy": "", "x/{{name}}/aa.toy": "",
				"fixtures2/aa.toy": "", "mytemplate/aa.toy": "", "examples/aa.toy": "", "docs/aa.toy": "", "bench/aa.toy": "",
			},
			want: []string{
				"a/__fixtures__ test_data aa", "archetype-resources test_data aa", "bench", "docs", "examples", "fixture/x/y test_data aa", "fixtures2", "mytemplate",
				"node_modules/a test_data aa", "template test_data aa", "template-a test_data aa", "templates test_data aa", "test-data test_data aa", "testdata/a test_data aa",
				"third_party test_data aa", "vendor/a test_data aa", "x/{{name}} test_data aa",
			},
		},
		{
			name:  "test data in any case of letters",
			files: map[string]string{"Fixtures/a/aa.toy": "", "tests/TestData/aa.toy": "", "x/Template-A/aa.toy": "", "Mytemplate/aa.toy": ""},
			want:  []string{"Fixtures/a test_data aa", "Mytemplate", "tests/TestData test_data aa", "x/Template-A test_data aa"},
		},
		{
			name: "the members of a workspace that is test data are, unless a manifest of no test data names them",
			files: map[string]string{
				"aa.toy": "member fixtures/w\nmember fixtures/w/c", "fixtures/w/aa.toy": "member a\nmember b\nmember c\nlink b", "fixtures/w/a/aa.toy": "", "fixtures/w/b/aa.toy": "", "fixtures/w/c/aa.toy": "",
				"testdata/v/aa.toy": "member a", "testdata/v/a/aa.toy": "", "testdata/v/dish.toml": "",
			},
			want: []string{".", "fixtures/w", "fixtures/w/a test_data aa", "fixtures/w/b", "fixtures/w/c", "testdata/v", "testdata/v/a"},
		},
		{
			name:  "dish.toml makes a dish of test data",
			files: map[string]string{"testdata/a/aa.toy": "", "testdata/a/dish.toml": "", "testdata/a/in/aa.toy": "own"},
			want:  []string{"testdata/a", "testdata/a/in test_data aa"},
		},
		{
			name: "include wins over exclude and over every reason, for the directory itself",
			files: map[string]string{
				"bento.toml": "[workspace]\nexclude = [\"out\", \"old/**\"]\ninclude = [\"old/a\", \"in\", \"testdata/*\"]",
				"aa.toy":     "", "in/aa.toy": "", "in/in/aa.toy": "", "old/a/aa.toy": "", "old/b/aa.toy": "", "out/aa.toy": "own", "testdata/a/aa.toy": "", "testdata/a/b/aa.toy": "",
			},
			want: []string{".", "in", "in/in not_a_member aa", "old/a", "old/b excluded aa", "out excluded aa", "testdata/a", "testdata/a/b test_data aa"},
		},
		{
			name:  "include without discovery",
			files: map[string]string{"bento.toml": "[workspace]\ndiscover = false\ninclude = [\"a\"]", "a/aa.toy": "", "b/aa.toy": ""},
			want:  []string{"a"},
		},
		{
			name:  "what a tool makes",
			files: map[string]string{"aa.toy": "", "made/aa.toy": "own"},
			want:  []string{".", "made derived aa"},
		},
		{
			name:  "a manifest that cannot be parsed is an error of a dish alone",
			files: map[string]string{"aa.toy": "", "in/aa.toy": "broken", "testdata/aa.toy": "fail detect"},
			want:  []string{".", "in not_a_member aa", "testdata test_data aa"},
		},
		{
			name:  "a plugin is a dish where its fingerprint files lie",
			files: map[string]string{"pa.toy": "", "in/pa.toy": "", "w/pw.toy": "", "px/px.toy": "", "px/in/px.toy": ""},
			want:  []string{".", "in", "px", "px/in not_nested px", "w"},
		},
		{
			name:  "a plugin that takes a dish as a whole",
			files: map[string]string{"x/pw.toy": "", "x/in/pw.toy": ""},
			want:  []string{"x", "x/in not_nested pw"},
		},
		{
			name:  "a root that is a member of itself, and members that lie outside or nowhere",
			files: map[string]string{"aa.toy": "member .\nmember ..\nmember ../x\nmember nowhere", "in/aa.toy": ""},
			want:  []string{".", "in not_a_member aa"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ws, told := find(t, tt.files, strictly)
			if diff := cmp.Diff(tt.want, sortedPlaces(ws)); diff != "" {
				t.Error(diff)
			}
			if len(told) > 0 {
				t.Errorf("problems: %q", told)
			}
			for _, l := range ws.LeftOut {
				if l.Why == "" {
					t.Errorf("%+v", l)
				}
			}
		})
	}
}

// sortedPlaces returns the dishes and the left-out directories, by path.
func sortedPlaces(ws *dish.Workspace) []string {
	var list []string
	for _, d := range ws.Dishes {
		list = append(list, d.Path)
	}
	for _, l := range ws.LeftOut {
		list = append(list, fmt.Sprintf("%s %s %s", l.Path, l.Reason, l.Adapter))
	}
	slices.Sort(list)
	return list
}

// TestIncludeOfNothing checks that an include that matches no project is reported at its position.
func TestIncludeOfNothing(t *testing.T) {
	_, told := find(t, map[string]string{
		"bento.toml": "[workspace]\ninclude = [\n  \"in\",\n  \"plain\",\n  \"none/**\",\n  \"!x\",\n]", "aa.toy": "", "in/aa.toy": "", "plain/file": "",
	}, strictly)
	want := []string{
		`warning unmatched_include bento.toml:4:3: include "plain" matches no directory with a project that an adapter recognises (name the directory of a manifest that git does not ignore, or give the directory a dish.toml)`,
		`warning unmatched_include bento.toml:5:3: include "none/**" matches no directory with a project that an adapter recognises (name the directory of a manifest that git does not ignore, or give the directory a dish.toml)`,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// TestBentoOfLeftOut checks the error about a bento with a left-out directory: it has the reason.
func TestBentoOfLeftOut(t *testing.T) {
	_, told := find(t, map[string]string{"bentos/a.toml": "name = \"a\"\ndishes = [\"in\"]", "bento.toml": "[workspace]\ndiscover = true", "aa.toy": "", "in/aa.toy": ""}, strictly)
	want := []string{`error unknown_dish bentos/a.toml:2:11: bento "a": no dish found at "in" (it is left out, not_a_member: it is not its own; [workspace] include adopts it)`}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// TestLinkedMembers checks that a member is found through a link.
func TestLinkedMembers(t *testing.T) {
	root := write(t, map[string]string{"aa.toy": "member links/in", "real/in/aa.toy": "", "real/out/aa.toy": ""})
	if err := os.Symlink("real", filepath.Join(root, "links")); err != nil {
		t.Fatal(err)
	}
	ws, _ := findIn(t, root, func(o *Options) {
		strictly(o)
		o.Clone = clone.At(root)
	})
	if diff := cmp.Diff([]string{".", "real/in", "real/out not_a_member aa"}, sortedPlaces(ws)); diff != "" {
		t.Error(diff)
	}
}

// TestByPlace checks that a directory is sorted directly before its contents.
func TestByPlace(t *testing.T) {
	part := rapid.StringMatching(`[a!./-]{1,3}`)
	path := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return strings.ReplaceAll(part.Draw(t, "part"), "/", "b") }), 1, 4).Draw(t, "parts"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := path.Draw(t, "a"), path.Draw(t, "b")
		want := strings.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
		if a == "." || b == "." {
			return
		}
		if got := byPlace(a, b); got != want {
			t.Fatalf("%q and %q: %d, want %d", a, b, got, want)
		}
	})
}
