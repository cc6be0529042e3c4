package config

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/zeebo/blake3"
	"pgregory.net/rapid"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/state"
)

// TestMemoryHoldsEverything packs and unpacks dishes with random values in every field, and settings.
func TestMemoryHoldsEverything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dish := rapid.Make[dishOf]().Draw(rt, "dish")
		var gotDish dishOf
		if err := repack(dish, &gotDish); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(dish, gotDish); diff != "" {
			rt.Fatal(diff)
		}
	})
	want := settings{Workspace: Workspace{Plugins: Plugins{ByID: map[string]Plugin{"x": {}}}}}
	var got settings
	if err := repack(want, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func repack(from, into any) error {
	var w pack.Writer
	w.Add(from)
	return pack.NewReader(w.Payload()).Next(into)
}

var (
	memoryTexts = []string{
		"", "[defaults]\nparallelism = 2\n", "[toolchain]\ngo = \"1.22\"\n", "[cache]\ndir = \"~/c\"\n", "[workspace]\ndiscover = true\n", "[x]\n", "nonsense",
		"[plugins.a]\npass_env = [\"A\"]\n",
	}
	memoryDishes = []string{
		"name = \"a\"\n", "name = \"b\"\n[tasks.x]\nrun = \"y\"\ninputs = []\nenv = {A = \"1\"}\n", "name = 1", "name = \"c\"\n[toolchain]\nnode = \"20\"\n",
		"name = \"d\"\n[serve]\nrun = \"x\"\n", "",
	}
	memoryBentos = []string{"name = \"x\"\ndishes = [\"a\"]\n", "name = \"y\"\n"}
)

// TestMemoryChangesNothing checks that the result is the same with and without a parse cache, whatever was edited
// since the cache was written.
func TestMemoryChangesNothing(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		root, err := os.MkdirTemp(base, "")
		if err != nil {
			rt.Fatal(err)
		}
		program := "one"
		for range rapid.IntRange(1, 10).Draw(rt, "runs") {
			switch rapid.IntRange(0, 6).Draw(rt, "edit") {
			case 0:
				put(rt, root, dish.WorkspaceFile, memoryTexts)
			case 1:
				put(rt, root, "bentos/"+rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "bento")+".toml", memoryBentos)
			case 2:
				put(rt, root, LockFile, []string{"", "[sha256]\na = \"00\"\n"})
			case 3:
				program = rapid.SampledFrom([]string{"one", "two"}).Draw(rt, "program")
			case 4:
				t.Setenv("HOME", rapid.SampledFrom([]string{"/h1", "/h2"}).Draw(rt, "home"))
			default:
				put(rt, root, rapid.SampledFrom([]string{"a", "b", "."}).Draw(rt, "dish")+"/"+dish.File, memoryDishes)
			}
			compareMemory(rt, root, program)
		}
	})
}

// put writes one of texts, or removes the file.
func put(rt *rapid.T, root, name string, texts []string) {
	path := filepath.Join(root, name)
	if rapid.IntRange(0, 4).Draw(rt, "remove") == 0 {
		_ = os.Remove(path)
		return
	}
	_ = os.MkdirAll(filepath.Dir(path), 0o755)
	if err := os.WriteFile(path, []byte(rapid.SampledFrom(texts).Draw(rt, "text")), 0o644); err != nil {
		rt.Fatal(err)
	}
}

func compareMemory(rt *rapid.T, root, program string) {
	var found []Found
	for _, dir := range []string{".", "a", "b", "gone"} {
		data, err := os.ReadFile(filepath.Join(root, dir, dish.File))
		if known := rapid.IntRange(0, 5).Draw(rt, "known") > 0; err == nil {
			found = append(found, Found{Dir: dir, Sum: blake3.Sum256(data), Known: known})
		}
	}
	plain, problems := Load(root, "")
	dishes, more := plain.LoadDishes(found, nil)
	m := OpenParseCache(state.Open(root), program)
	kept, keptProblems := m.Load(root, "")
	keptDishes, keptMore := kept.LoadDishes(found, m)
	for _, diff := range []string{
		cmp.Diff(plain, kept), cmp.Diff(problems, keptProblems, cmpopts.EquateEmpty()),
		cmp.Diff(dishes, keptDishes), cmp.Diff(more, keptMore, cmpopts.EquateEmpty()),
	} {
		if diff != "" {
			rt.Fatalf("without a memory, and with it:\n%s", diff)
		}
	}
}

// TestMemoryIsUsed checks that an unchanged file is not read again, and that the cache is not written if no file has
// changed.
func TestMemoryIsUsed(t *testing.T) {
	root := write(t, map[string]string{"a/dish.toml": "name = \"a\"\n"})
	found := []Found{{Dir: "a", Sum: blake3.Sum256([]byte("name = \"a\"\n")), Known: true}}
	load := func() *dish.Settings {
		m := OpenParseCache(state.Open(root), "p")
		w, _ := m.Load(root, "")
		dishes, problems := w.LoadDishes(found, m)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return dishes[0]
	}
	load()
	file := filepath.Join(root, ".bento", "config")
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a/dish.toml"), []byte("name = \"other\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if d := load(); d.Name.Text != "a" {
		t.Errorf("the file was read, %q", d.Name.Text)
	}
	if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) {
		t.Error("written though nothing changed")
	}
	found[0].Sum = blake3.Sum256([]byte("name = \"other\"\n"))
	if d := load(); d.Name.Text != "other" {
		t.Errorf("the file was not read, %q", d.Name.Text)
	}
	if OpenParseCache(state.Open(root), "q").recall(found[0]) != nil {
		t.Error("what another program made of the file is used")
	}
}

// TestMemoryOfAnotherHome checks that a saved directory relative to the home directory follows a change of $HOME.
func TestMemoryOfAnotherHome(t *testing.T) {
	root := write(t, map[string]string{"bento.toml": ""})
	own := filepath.Join(write(t, map[string]string{"config.toml": "[cache]\ndir = \"~/c\"\n"}), "config.toml")
	for _, home := range []string{"/one", "/two"} {
		t.Setenv("HOME", home)
		m := OpenParseCache(state.Open(root), "p")
		w, _ := m.Load(root, own)
		if w.Cache.OwnDir != home+"/c" {
			t.Errorf("with HOME=%s the cache is %q", home, w.Cache.OwnDir)
		}
		w.LoadDishes(nil, m) // writes the cache
	}
}

// TestMemoryNoticesOwn checks that a change of the user's own file is noticed, and so is its creation or removal.
func TestMemoryNoticesOwn(t *testing.T) {
	root := write(t, map[string]string{"bento.toml": ""})
	own := filepath.Join(t.TempDir(), "config.toml")
	for _, text := range []string{"", "[cache]\ndir = \"/a\"\n", "[cache]\ndir = \"/b\"\n", ""} {
		want := ""
		if _, err := fmt.Sscanf(text, "[cache]\ndir = %q", &want); text != "" && err != nil {
			t.Fatal(err)
		}
		if text == "" {
			_ = os.Remove(own)
		} else if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			m := OpenParseCache(state.Open(root), "p")
			w, problems := m.Load(root, own)
			if w.Cache.OwnDir != want || len(problems) > 0 {
				t.Errorf("of %q the cache is %q, %v", text, w.Cache.OwnDir, problems)
			}
			w.LoadDishes(nil, m)
		}
	}
}

// FuzzParsed reads any bytes as the parse cache. Settings or a dish that the cache returns must be the same after it is
// saved and read again.
func FuzzParsed(f *testing.F) {
	sum := [32]byte{1}
	dir := state.Open(f.TempDir())
	m := OpenParseCache(dir, "p")
	m.set(sum, settings{})
	m.keep([]*parsedDish{{Path: "a/dish.toml", Sum: sum}})
	if valid, err := dir.Load(parsedFile, parsedVersion); err == nil {
		f.Add(valid)
		f.Add(valid[:len(valid)-1])
	}
	f.Add([]byte{0, 0, 0})
	f.Fuzz(func(t *testing.T, payload []byte) {
		dir := state.Open(t.TempDir())
		if err := dir.Store(parsedFile, parsedVersion, payload); err != nil {
			t.Fatal(err)
		}
		m := OpenParseCache(dir, "p")
		m.Wait()
		found := Found{Dir: "a/dish.toml", Sum: sum, Known: true}
		var head, got settings
		dish := m.recall(found)
		if !m.parts.Get(settingsPart, &head) || dish == nil {
			return
		}
		m.set(sum, head)
		m.keep([]*parsedDish{dish})
		again := OpenParseCache(dir, "p")
		again.Wait()
		if !again.parts.Get(settingsPart, &got) || !cmp.Equal(got, head, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()) {
			t.Errorf("the head is %+v, was %+v", got, head)
		}
		if got := again.recall(found); got == nil || !cmp.Equal(got, dish, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()) {
			t.Errorf("the dish is %+v, was %+v", got, dish)
		}
	})
}
