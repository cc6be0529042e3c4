//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/sampling"
)

// together is the number of bentos that run in one workspace at the same time.
const together = 50

// chain returns the files of a workspace with a chain of dishes. Each dish makes its output from the output of
// the previous one. The tasks count their executions in files below counts.
func chain(counts, version string) map[string]string {
	files := map[string]string{"bento.toml": "[defaults]\nparallelism = 2\n"}
	for i := range 5 {
		before, source := "", "cat src"
		if i > 0 {
			before = fmt.Sprintf("depends_on = [\"d%d\"]\n", i-1)
			source = fmt.Sprintf("cat ../d%d/out/of src", i-1)
		}
		dish := fmt.Sprintf("d%d", i)
		files[dish+"/src"] = fmt.Sprintf("%s %s\n", version, dish)
		files[dish+"/dish.toml"] = fmt.Sprintf(`name = %q
language = "none"
%s[tasks.build]
run = "mkdir -p out && %s > out/of && ln -s of out/link && echo once >> %s/%s.build"
outputs = ["out/**"]
[tasks.test]
run = "cat out/of && echo once >> %s/%s.test"
depends_on = ["build"]
`, dish, before, source, counts, dish, counts, dish)
	}
	return files
}

// chainMakes returns the expected outputs of chain.
func chainMakes(version string) map[string]string {
	want, all := make(map[string]string), ""
	for i := range 5 {
		dish := fmt.Sprintf("d%d", i)
		all += fmt.Sprintf("%s %s\n", version, dish)
		want[dish+"/out/of"], want[dish+"/out/link"] = "644 "+all, "-> of"
	}
	return want
}

func (w *world) chainMade() map[string]string {
	found := make(map[string]string)
	for i := range 5 {
		dir := filepath.Join(w.ws, fmt.Sprintf("d%d", i), "out")
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			found[fmt.Sprintf("d%d/out/%s", i, e.Name())] = describe(filepath.Join(dir, e.Name()), e)
		}
	}
	return found
}

// runKeys returns the keys in the document of a run or plan, by task.
func runKeys(t *testing.T, doc string) map[string]string {
	t.Helper()
	var parsed struct {
		Bentos []struct {
			Dishes []struct {
				Name  string
				Tasks []struct {
					Name string
					Key  *string
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(doc), &parsed); err != nil {
		t.Errorf("%v\n%s", err, doc)
	}
	keys := make(map[string]string)
	for _, b := range parsed.Bentos {
		for _, d := range b.Dishes {
			for _, task := range d.Tasks {
				if task.Key != nil {
					keys[d.Name+":"+task.Name] = *task.Key
				}
			}
		}
	}
	return keys
}

// allAtOnce runs all commands at the same time, and returns the keys that they printed, which must be the same
// for all.
func (w *world) allAtOnce(commands [][]string) map[string]string {
	w.t.Helper()
	var mu sync.Mutex
	var group sync.WaitGroup
	all := make(map[string]string)
	for _, args := range commands {
		group.Go(func() {
			out, stderr, err := w.run(nil, args...)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				w.t.Errorf("bento %q: %v\n%s%s", args, err, out, stderr)
				return
			}
			if args[0] != "run" && args[0] != "plan" {
				return
			}
			for task, key := range runKeys(w.t, out) {
				if was := all[task]; was != "" && was != key {
					w.t.Errorf("%s has two keys, %s and %s", task, was, key)
				}
				all[task] = key
			}
		})
	}
	group.Wait()
	return all
}

// Many bentos at once with the same tasks run each task once, and print the same keys. Even if others clean the
// workspace or the cache meanwhile, each run succeeds, and the outputs and the cache are right afterwards.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, builtBento(t))
	counts := t.TempDir()
	w.write(chain(counts, "one"))
	same := make([][]string, together)
	for i := range same {
		same[i] = []string{"run", "build", "test", "--json"}
	}
	keys := w.allAtOnce(same)
	if len(keys) != 10 {
		t.Errorf("%d tasks have keys, want 10", len(keys))
	}
	for task := range keys {
		data, _ := os.ReadFile(filepath.Join(counts, strings.ReplaceAll(task, ":", ".")))
		if n := strings.Count(string(data), "once"); n != 1 {
			t.Errorf("%s was executed %d times", task, n)
		}
	}
	w.goodChain("one")
	for round, version := range sampling.Short(t, 3, []string{"two", "one", "three"}) {
		w.write(chain(counts, version))
		commands := make([][]string, together)
		for i := range commands {
			commands[i] = mixed(round + i)
		}
		w.allAtOnce(commands)
		w.must("run", "build", "test")
		w.goodChain(version)
	}
}

// mixed returns the ith of several commands that users run at the same time.
func mixed(i int) []string {
	dish := fmt.Sprintf("d%d", (i+i/10)%5)
	return [][]string{
		{"run", "build", "test", "--json"},
		{"run", "build", "--dish", dish, "--json"},
		{"cache", "prune", "--max-size", "8KiB"},
		{"run", "test", "--json", "-j", "1"},
		{"plan", "--json"},
		{"run", "build", "test", "--json"},
		{"why", dish + ":build"},
		{"clean", dish, "--yes"},
		{"run", "test", "--dish", dish, "--json"},
		{"cache", "fsck"},
	}[i%10]
}

func (w *world) goodChain(version string) {
	w.t.Helper()
	if diff := cmp.Diff(chainMakes(version), w.chainMade()); diff != "" {
		w.t.Errorf("-want +got:\n%s", diff)
	}
	w.checkCache(0)
	w.checkLeft(0)
	w.must("run", "build", "test")
	for i := range 5 {
		w.remove(fmt.Sprintf("d%d/out", i))
	}
	w.must("run", "build", "test")
	if diff := cmp.Diff(chainMakes(version), w.chainMade()); diff != "" {
		w.t.Errorf("restored, -want +got:\n%s", diff)
	}
}
