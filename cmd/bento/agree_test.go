package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/testrun"
)

// agreeing is a workspace in which several commands must print the same keys.
type agreeing struct {
	base  string
	files map[string]string // of the workspace
	names []string          // of the dishes
	keys  map[string]string // by "dish:task", from the first command that printed them
}

func drawAgreeing(t *rapid.T, base string) *agreeing {
	a := &agreeing{base: base, files: map[string]string{"bento.toml": "[defaults]\nparallelism = 2\n"}, keys: map[string]string{}}
	for i := range rapid.IntRange(1, 4).Draw(t, "dishes") {
		var links []string
		for _, other := range a.names {
			if rapid.Bool().Draw(t, "linked") {
				links = append(links, fmt.Sprintf("{ dish = %q, via = %q }", other, rapid.SampledFrom([]string{"sources", "outputs"}).Draw(t, "via")))
			}
		}
		name := fmt.Sprintf("d%d", i)
		a.names = append(a.names, name)
		build := rapid.SampledFrom([]string{
			"run = [\"cp\", \"src\", \"out\"]\noutputs = [\"out\"]\n", "run = [\"cp\", \"/dev/null\", \"out\"]\noutputs = [\"out\"]\n", "run = [\"true\"]\n",
		}).Draw(t, "build")
		check := rapid.SampledFrom([]string{"", "depends_on = [\"build\"]\n", "depends_on = [\"^build\"]\ninputs = [\"src\"]\n"}).Draw(t, "check")
		a.files[name+"/src"] = rapid.SampledFrom([]string{"", "x"}).Draw(t, "src")
		a.files[name+"/dish.toml"] = fmt.Sprintf("language = \"none\"\ndepends_on = [%s]\n[tasks.build]\nenv = [\"VAR\"]\n%s[tasks.check]\nrun = [\"true\"]\n%s",
			strings.Join(links, ", "), build, check)
	}
	return a
}

// lay writes the workspace to a directory.
func (a *agreeing) lay(t *rapid.T, root string) {
	for name, text := range a.files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// ask runs a command in a random directory of the workspace and compares the keys of its document with
// those of earlier commands. With all, each task of the document must have a key.
func (a *agreeing) ask(t *rapid.T, root, store string, all bool, args ...string) {
	dir := rapid.SampledFrom([]string{root, filepath.Join(root, a.names[0]), root + ".link"}).Draw(t, "dir")
	args = append(args, "--json", "-C", dir, "-j", rapid.SampledFrom([]string{"1", "4"}).Draw(t, "jobs"))
	var out, said bytes.Buffer
	code := execute(t.Context(), args, process{out: &out, err: &said, environ: adapters.NewEnviron([]string{
		"PATH=/usr/bin:/bin", "HOME=" + a.base, "VAR=1", "BENTO_CACHE_DIR=" + filepath.Join(a.base, store),
	})})
	type dish struct {
		Name  string
		Tasks []struct {
			Name string
			Key  *string
		}
	}
	var doc struct {
		Bentos []struct{ Dishes []dish } // of a plan
		Dishes []dish                    // of a run
	}
	if err := json.Unmarshal(out.Bytes(), &doc); code != 0 || err != nil || len(doc.Dishes)+len(doc.Bentos) == 0 {
		t.Fatalf("%q: %d, %v\n%s%s", args, code, err, &out, &said)
	}
	for _, b := range doc.Bentos {
		doc.Dishes = append(doc.Dishes, b.Dishes...)
	}
	for _, d := range doc.Dishes {
		for _, task := range d.Tasks {
			id := d.Name + ":" + task.Name
			if task.Key == nil {
				if all {
					t.Fatalf("%q: %s has no key", args, id)
				}
				continue
			}
			if was, ok := a.keys[id]; ok && was != *task.Key {
				t.Fatalf("%q: %s has the key %s, and had %s", args, id, *task.Key, was)
			}
			a.keys[id] = *task.Key
		}
	}
}

// TestCommandsAgree: plan, run and ci compute the same key for a task: before it runs, when it runs and
// when it is restored, from each directory, with any parallelism, and in a copy of the workspace (A15).
func TestCommandsAgree(t *testing.T) {
	if !testrun.Alone(t) {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		base, err := os.MkdirTemp("", "bento-agree-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(base)
		a := drawAgreeing(t, base)
		for i := range rapid.IntRange(1, 3).Draw(t, "places") {
			root, store := filepath.Join(base, fmt.Sprint("w", i)), fmt.Sprint("cache", rapid.IntRange(0, 1).Draw(t, "cache"))
			a.lay(t, root)
			if err := os.Symlink(filepath.Base(root), root+".link"); err != nil {
				t.Fatal(err)
			}
			a.ask(t, root, store, false, "plan")
			if rapid.Bool().Draw(t, "parts first") {
				a.ask(t, root, store, true, "run", rapid.SampledFrom(a.names).Draw(t, "part")+":check")
				a.ask(t, root, store, false, "plan")
			}
			a.ask(t, root, store, true, rapid.SampledFrom([][]string{{"run", "build", "check"}, {"ci"}, {"ci", "--no-cache"}}).Draw(t, "command")...)
			a.ask(t, root, store, true, "plan")
			a.ask(t, root, store, true, "ci")
		}
	})
}
