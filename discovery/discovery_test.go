package discovery

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree"
)

func TestFindDishes(t *testing.T) {
	tests := []struct {
		name   string
		files  map[string]string
		want   []string
		told   []string
		change func(o *Options)
	}{
		{name: "nothing", files: map[string]string{"x/y": ""}},
		{
			name:  "detected",
			files: map[string]string{"aa.toy": "", "x/bb.toy": "", "x/deep/er/ab.toy": ""},
			want:  []string{". root aa", "x x bb", "x/deep/er er ab"},
		},
		{
			name:  "members and dish.toml inside the same family",
			files: map[string]string{"aa.toy": "member in\nmember in/deep", "in/ab.toy": "", "in/deep/aa.toy": "", "out/aa.toy": "", "own/aa.toy": "", "own/dish.toml": "", "b/bb.toml": "", "b/bb.toy": ""},
			want:  []string{". root aa", "b b bb", "in in ab", "in/deep deep aa", "out out aa", "own own aa"},
		},
		{
			name:  "what a dish above makes",
			files: map[string]string{"x/aa.toy": "", "x/made/lib/bb.toy": "", "x/made/own/dish.toml": "language = \"bb\"", "x/made/own/bb.toy": ""},
			want:  []string{"x x aa", "x/made/own own bb"},
		},
		{
			name:  "the first adapter of each family",
			files: map[string]string{"x/bb.toy": "", "x/ab.toy": "", "x/aa.toy": ""},
			want:  []string{"x x aa", "x x-bb bb"},
		},
		{
			name:  "discovery is off with bentos",
			files: map[string]string{"bentos/a.toml": "name = \"a\"\ndishes = [\"x\"]", "x/dish.toml": "", "x/aa.toy": "", "y/aa.toy": ""},
			want:  []string{"x x aa"},
		},
		{
			name:  "discovery on with bentos",
			files: map[string]string{"bento.toml": "[workspace]\ndiscover = true", "bentos/a.toml": "name = \"a\"\ndishes = [\"x\"]", "x/dish.toml": "", "y/aa.toy": ""},
			want:  []string{"x x -", "y y aa"},
		},
		{
			name:  "exclude",
			files: map[string]string{"bento.toml": "[workspace]\nexclude = [\"third/**\", \"!third/ours\", \"old\"]", "third/x/aa.toy": "", "third/ours/aa.toy": "", "old/deep/dish.toml": "", "new/aa.toy": ""},
			want:  []string{"new new aa", "third/ours ours aa"},
		},
		{
			name:  "language says otherwise",
			files: map[string]string{"x/dish.toml": "language = \"bb\"", "x/aa.toy": "", "x/bb.toy": "", "y/dish.toml": "language = \"none\"", "y/aa.toy": "", "z/dish.toml": "name = \"zed\""},
			want:  []string{"x x bb", "y y -", "z zed -"},
		},
		{
			name:  "malformed dish.toml",
			files: map[string]string{"x/dish.toml": "name =\n", "x/aa.toy": ""},
			want:  []string{"x x aa"},
			told:  []string{"error toml_syntax x/dish.toml:1:7: unexpected character U+000A at start of value"},
		},
		{
			name:  "an adapter that names no files",
			files: map[string]string{"x/cc.toy": "", "x/in/cc.toy": "", "y/z": ""},
			want:  []string{"x x cc"},
			change: func(o *Options) {
				o.Registry = adapters.NewRegistry(&toy{manifest: adapters.Manifest{AdapterID: "cc"}})
			},
		},
		{
			name:   "patterns and directories as marks",
			files:  map[string]string{"x/req-dev.txt": "", "x/cc.toy": "", "y/.cfg/deep": "", "y/cc.toy": "", "z/cc.toy": "", "z/req.md": ""},
			want:   []string{"x x cc", "y y cc"},
			change: func(o *Options) { o.Registry = adapters.NewRegistry(marked("cc", "req*.txt", ".cfg/**")) },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ws, told := find(t, tt.files, tt.change)
			if diff := cmp.Diff(tt.want, outline(ws)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.told, told); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// marked returns a toy with these fingerprint globs in place of the name of its file.
func marked(id string, globs ...string) *toy {
	a := newToy(id, "")
	a.manifest.FingerprintFiles = globs
	return a
}

func TestAdaptersAreAskedOnce(t *testing.T) {
	list := toys()
	find(t, map[string]string{"aa.toy": "member in", "in/aa.toy": "", "fixtures/aa.toy": "", "own/dish.toml": "language = \"aa\"", "own/aa.toy": ""},
		func(o *Options) { o.Registry = adapters.NewRegistry(list...) })
	count := make(map[string]int)
	for _, call := range list[0].(*toy).calls {
		if count[call]++; count[call] > 1 {
			t.Errorf("%q twice", call)
		}
	}
	if count["tasks fixtures"] > 0 || count["detect own"] > 0 || count["tasks own"] == 0 {
		t.Errorf("calls: %v", count)
	}
}

func TestLanguageWithoutAdapter(t *testing.T) {
	files := make(map[string]string)
	for _, id := range []string{"nop", "aaa", "zig", "off", "notin", "open", "gone"} {
		files[id+"/dish.toml"] = fmt.Sprintf("name = %q\nlanguage = %q\n[tasks.x]\nrun = \"true\"\n", "d-"+id, id)
	}
	ws, told := find(t, files, func(o *Options) {
		o.Failures = map[string]*adapters.Failure{"nop": {Code: adapters.HandshakeFailed, Adapter: "nop", Message: "it said nothing", Hint: "run it by hand"}}
		o.Candidates = []adapters.Candidate{
			{ID: "off", Path: "/p/bento-adapter-off", Skip: adapters.SkipDisabled, SkipReason: "plugins.disable names it at bento.toml:1:1"},
			{ID: "notin", Path: "/p/bento-adapter-notin", Skip: adapters.SkipNotAllowed, SkipReason: "plugins.allowlist does not name it"},
			{ID: "open", Path: "/p/bento-adapter-open", Skip: adapters.SkipNotTrusted, SkipReason: "everyone may write to its file"},
		}
	})
	want := []string{
		`error unknown_language aaa/dish.toml:2:12: unknown language "aaa": no adapter has this id (did you mean "aa"?)`,
		`error unknown_language gone/dish.toml:2:12: unknown language "gone": no adapter has this id (did you mean "none"?)`,
		`error handshake_failed nop/dish.toml:2:12: language "nop": plugin nop: it said nothing (handshake_failed) (run it by hand)`,
		`error plugin_not_allowed notin/dish.toml:2:12: language "notin": the plugin /p/bento-adapter-notin is not used: plugins.allowlist does not name it`,
		`error plugin_disabled off/dish.toml:2:12: language "off": the plugin /p/bento-adapter-off is not used: plugins.disable names it at bento.toml:1:1`,
		`error plugin_not_trusted open/dish.toml:2:12: language "open": the plugin /p/bento-adapter-open is not used: everyone may write to its file`,
		`error unknown_language zig/dish.toml:2:12: unknown language "zig": no adapter has this id, and no executable bento-adapter-zig is on PATH (known: aa, ab, bb, none, notin, off, open)`,
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	for _, d := range ws.Dishes {
		if d.Failure == nil {
			t.Errorf("%s has no failure", d.Name)
		}
	}
}

func TestFailingAdaptersCostTheirDishes(t *testing.T) {
	ws, told := find(t, map[string]string{
		"a/aa.toy": "fail tasks timeout", "b/aa.toy": "fail links timeout", "c/aa.toy": "fail detect crashed", "c/bb.toy": "",
		"d/bb.toy": "fail pin", "e/bb.toy": "\nbroken", "f/bb.toy": "unsure", "g/aa.toy": "fail detect crashed", "g/dish.toml": "",
	}, nil)
	want := []string{
		`warning timeout a: plugin aa: tasks of "a": no answer (timeout); it has no answer about b either (look` + required("aa") + ")",
		`warning crashed c: plugin aa: detect of "c": no answer (crashed); it has no answer about g either (look` + required("aa") + ")",
		`error adapter_error d: pin went wrong`,
		`error e/bb.toy:2: bad line`,
	}
	for i := range told {
		told[i] = trimRoot(told[i], ws.Root)
	}
	want[3] = "error  e/bb.toy:2: bad line"
	want = append(want, "warning  f/bb.toy:1: unknown")
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
	failed := map[string]bool{}
	for _, d := range ws.Dishes {
		failed[d.Path] = d.Failure != nil
	}
	if diff := cmp.Diff(map[string]bool{"a": true, "b": true, "c": false, "d": true, "e": true, "f": false, "g": true}, failed); diff != "" {
		t.Error(diff)
	}
}

func TestNames(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string
		told  []string
	}{
		{
			name:  "two of a name take their paths",
			files: map[string]string{"a/ui/aa.toy": "", "b/ui/bb.toy": "", "b/x/bb.toy": ""},
			want:  []string{"a/ui a-ui aa", "b/ui b-ui bb", "b/x x bb"},
		},
		{
			name:  "a declared name stays",
			files: map[string]string{"ui/aa.toy": "", "b/dish.toml": "name = \"ui\""},
			want:  []string{"b ui -", "ui ui-2 aa"},
		},
		{
			name:  "where the path with dashes is taken, the path itself is the name",
			files: map[string]string{"a-ui/aa.toy": "", "a/ui/aa.toy": "", "b/ui/bb.toy": ""},
			want:  []string{"a-ui a-ui aa", "a/ui a/ui aa", "b/ui b-ui bb"},
		},
		{
			name:  "two languages in one directory",
			files: map[string]string{"ui/aa.toy": "", "ui/bb.toy": "", "ui-bb/aa.toy": "", "named/dish.toml": "name = \"n\"", "named/aa.toy": "", "named/bb.toy": ""},
			want:  []string{"named n aa", "named n-bb bb", "ui ui aa", "ui ui-bb-2 bb", "ui-bb ui-bb aa"},
		},
		{
			name:  "deeper the path helps",
			files: map[string]string{"c/ui/aa.toy": "", "b/dish.toml": "name = \"ui\""},
			want:  []string{"b ui -", "c/ui c-ui aa"},
		},
		{
			name:  "declared twice",
			files: map[string]string{"a/dish.toml": "name = \"ui\"", "b/dish.toml": "name = \"ui\""},
			want:  []string{"a ui -", "b ui -"},
			told:  []string{`error duplicate_name b/dish.toml:1:8: two dishes are named "ui", the other at a/dish.toml:1:8`},
		},
		{
			name:  "no name at all",
			files: map[string]string{"a:b/aa.toy": "", "bad\xff/aa.toy": "", "new\nline/bb.toy": ""},
			want:  []string{"a:b a:b aa", "bad\xff bad\xff aa", "new\nline new\nline bb"},
			told: []string{
				`error dish_name a:b: the directory's name cannot be the name of a dish: it holds ":", which separates dish and task (write name = "…" in a dish.toml there, or leave the directory out with exclude)`,
				"error dish_name bad\xff: the directory's name cannot be the name of a dish: it is not valid UTF-8 (write name = \"…\" in a dish.toml there, or leave the directory out with exclude)",
				"error dish_name new\nline: the directory's name cannot be the name of a dish: it holds a control character (write name = \"…\" in a dish.toml there, or leave the directory out with exclude)",
			},
		},
		{
			name:  "root is the name of the root",
			files: map[string]string{"aa.toy": "", "x/root/bb.toy": ""},
			want:  []string{". root aa", "x/root x-root bb"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ws, told := find(t, tt.files, nil)
			if diff := cmp.Diff(tt.want, outline(ws)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.told, told); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPins(t *testing.T) {
	ws, told := find(t, map[string]string{
		"bento.toml": "[toolchain]\nbb = \"1\"\n",
		"a/aa.toy":   "pin 7", "b/bb.toy": "pin 8", "c/bb.toy": "",
		"d/bb.toy": "pin 8", "d/dish.toml": "[toolchain]\nbb = \"2\"", "f/aa.toy": "fail pin", "f/dish.toml": "[toolchain]\nfam = \"3\"", "e/aa.toy": "pin 7", "e/dish.toml": "[toolchain]\nuse_system = true",
	}, nil)
	if len(told) > 0 {
		t.Fatal(told)
	}
	var got []string
	for _, d := range ws.Dishes {
		s := d.Path
		if d.Pin != nil {
			s = fmt.Sprintf("%s %s %s %s:%d %v", d.Path, d.Pin.Tool, d.Pin.Version, trimRoot(d.Pin.File, ws.Root), d.Pin.Line, d.Pin.Strict)
		}
		got = append(got, s)
	}
	want := []string{"a aac 7 :0 false", "b bbc 1 bento.toml:2 true", "c bb 1 bento.toml:2 true", "d bbc 2 d/dish.toml:2 true", "e", "f fam 3 f/dish.toml:2 true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOwner(t *testing.T) {
	ws, _ := find(t, map[string]string{"aa.toy": "", "x/bb.toy": "", "x/y/dish.toml": ""}, nil)
	for path, want := range map[string]string{"f": "root", ".": "root", "x": "x", "x/f": "x", "x/y/z/f": "y", "xy/f": "root"} {
		if d := ws.Owner(path); d == nil || d.Name != want {
			t.Errorf("Owner(%q) = %v, want %s", path, d, want)
		}
	}
}

func TestFindStopsWhenCanceled(t *testing.T) {
	root := write(t, map[string]string{"aa.toy": ""})
	walked, err := tree.Walk(t.Context(), root, &tree.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cfg, _ := config.Load(root, "")
	ws, problems := Find(ctx, Options{Tree: walked, Config: cfg, Registry: adapters.NewRegistry(toys()...)})
	if len(ws.Dishes)+len(problems) > 0 {
		t.Error(ws.Dishes, problems)
	}
}

// The links that order tasks have no cycle, unless a problem reports it. A cycle with an inferred link is
// not an error.
func TestCyclesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		dishes := make([]*dish.Dish, n)
		for i := range dishes {
			dishes[i] = &dish.Dish{Name: string(rune('a' + i)), Path: string(rune('a' + i))}
		}
		for _, e := range rapid.SliceOfN(rapid.IntRange(0, n*n*6-1), 0, 20).Draw(t, "edges") {
			from, to, kind := dishes[e%n], dishes[e/n%n], e/n/n
			l := dish.Link{To: to, Kind: dish.Inferred, Dev: kind%2 == 0}
			if kind == 0 {
				l.Kind = dish.Declared
			}
			if from != to || l.Kind == dish.Declared {
				from.Links = append(from.Links, l)
			}
		}
		f := &finder{ws: &dish.Workspace{Dishes: dishes}}
		f.cycles()
		declared := len(rings(dishes, func(l *dish.Link) bool { return l.Kind == dish.Declared }))
		left := len(rings(dishes, func(l *dish.Link) bool { return !l.Cyclic }))
		errors := 0
		for _, p := range f.problems {
			if p.Severity == "error" {
				errors++
			}
		}
		if errors != declared {
			t.Fatalf("%d errors for %d cycles: %v", errors, declared, f.problems)
		}
		if declared == 0 && left > 0 {
			t.Fatalf("%d cycles are left", left)
		}
	})
}

func BenchmarkFind(b *testing.B) {
	root := b.TempDir()
	for i := range 1000 {
		dir := filepath.Join(root, "packages", fmt.Sprintf("p%04d", i))
		_ = os.MkdirAll(dir, 0o755)
		for j := range 20 {
			_ = os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", j)), nil, 0o644)
		}
		_ = os.WriteFile(filepath.Join(dir, "aa.toy"), fmt.Appendf(nil, "link ../p%04d\nlink ../p%04d\n", i/2, i/3), 0o644)
		_ = os.WriteFile(filepath.Join(dir, "dish.toml"), []byte("outputs = [\"out/\"]\n[tasks.build]\nrun = \"cp x y\"\ninputs = [\"**\"]\n"), 0o644)
	}
	walked, err := tree.Walk(b.Context(), root, &tree.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		cfg, _ := config.Load(root, "")
		ws, problems := Find(b.Context(), Options{Tree: walked, Config: cfg, Registry: adapters.NewRegistry(toys()...)})
		if len(ws.Dishes) != 1000 || len(problems) > 0 {
			b.Fatal(len(ws.Dishes), problems)
		}
	}
}
