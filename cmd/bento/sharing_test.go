package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sharer is a task of TestSharedOutputs. It writes its name to some files, in two steps.
type sharer struct {
	files   []string
	globs   []string
	after   []int // the tasks on which it depends
	literal bool
}

func (s *sharer) dish(i int) string {
	var run strings.Builder
	run.WriteString("mkdir -p ../gen")
	for _, f := range s.files {
		fmt.Fprintf(&run, "; : > ../gen/%s", f)
	}
	run.WriteString("; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done")
	for _, f := range s.files {
		fmt.Fprintf(&run, "; echo t%d >> ../gen/%s", i, f)
	}
	var after []string
	for _, a := range s.after {
		after = append(after, fmt.Sprintf("t%d:x", a))
	}
	list := func(words []string) string { b, _ := json.Marshal(append([]string{}, words...)); return string(b) }
	return fmt.Sprintf("language = \"none\"\n[tasks.x]\nrun = %q\ninputs = []\nworkspace_outputs = %s\ndepends_on = %s\n", run.String(), list(s.globs), list(after))
}

// kitchenOf returns random tasks that share a directory.
func kitchenOf(r *rand.Rand) []sharer {
	list := make([]sharer, 4)
	for i := range list {
		s := &list[i]
		for _, f := range []string{"a", "b", "c"} {
			if r.IntN(2) == 0 {
				s.files = append(s.files, f)
			}
		}
		if s.literal = r.IntN(4) == 0; s.literal {
			for _, f := range s.files {
				s.globs = append(s.globs, "gen/"+f)
			}
		} else {
			s.globs = []string{[]string{"gen/**", "gen/*", "gen/[a-c]"}[r.IntN(3)]}
		}
		for before := range i {
			if r.IntN(3) == 0 {
				s.after = append(s.after, before)
			}
		}
	}
	return list
}

// ordered reports whether a task depends on an earlier one, directly or not.
func ordered(list []sharer, task, on int) bool {
	return slices.ContainsFunc(list[task].after, func(a int) bool { return a == on || ordered(list, a, on) })
}

// conflict reports whether two tasks without an order write the same file, and whether then both name their
// outputs without a wildcard.
func conflict(x, y *sharer) (same, named bool) {
	same = slices.ContainsFunc(x.files, func(f string) bool { return slices.Contains(y.files, f) })
	return same, same && x.literal && y.literal
}

type rowOf struct{ outcome, stored string }

// TestSharedOutputs: the cache stores for a task only files that the task made, whatever files tasks share and
// in whatever order they run. BENTO_TEST_SEEDS is the number of workspaces.
func TestSharedOutputs(t *testing.T) {
	t.Parallel()
	seeds := 6
	if n, err := strconv.Atoi(os.Getenv("BENTO_TEST_SEEDS")); err == nil {
		seeds = n
	}
	stored := 0
	for seed := range seeds {
		list := kitchenOf(rand.New(rand.NewPCG(uint64(seed), 1)))
		stored += share(t, seed, list)
	}
	if stored == 0 {
		t.Error("nothing was ever stored")
	}
	t.Logf("%d results were stored", stored)
}

// share runs the tasks of one workspace together, and then checks the result of each in the cache. It returns
// the number of tasks with a stored result.
func share(t *testing.T, seed int, list []sharer) (stored int) {
	dir := t.TempDir()
	root, clean := filepath.Join(dir, "root"), filepath.Join(dir, "clean")
	for _, ws := range []string{root, clean} {
		config := "[defaults]\nobserve = \"never\"\n" // for a task without outputs, the shared directory would be a condition
		if ws == clean {
			config += "[cache]\nmode = \"local:r\"\n"
		}
		write(t, ws, "bento.toml", config)
		for i := range list {
			write(t, ws, fmt.Sprintf("t%d/dish.toml", i), list[i].dish(i))
		}
	}
	bento := func(ws string, args ...string) (map[string]rowOf, int) {
		return rowsOf(t, ws, filepath.Join(dir, "cache"), args...)
	}
	named := false
	for i := range list {
		for j := range i {
			_, n := conflict(&list[i], &list[j])
			named = named || n && !ordered(list, i, j)
		}
	}
	rows, exit := bento(root, "run", "x", "-j", "4", "--keep-going", "--json")
	if (exit == 2) != named {
		t.Fatalf("seed %d: exit code %d, but two name the same file: %v\n%+v", seed, exit, named, list)
	}
	good := func(i int) bool {
		o := rows[fmt.Sprintf("t%d", i)].outcome
		return o == "built" || o == "cache_hit"
	}
	for i := range list {
		for j := range i {
			if same, _ := conflict(&list[i], &list[j]); same && !ordered(list, i, j) && exit != 2 && good(i) && good(j) {
				t.Errorf("seed %d: t%d and t%d made the same file, and both are good\n%+v", seed, i, j, list)
			}
		}
	}
	for i := range list {
		name := fmt.Sprintf("t%d", i)
		os.RemoveAll(filepath.Join(clean, "gen"))
		os.RemoveAll(filepath.Join(clean, ".bento"))
		alone, _ := bento(clean, "run", name+":x", "--only", "--json")
		hit := alone[name].outcome == "cache_hit"
		if !good(i) && hit {
			t.Errorf("seed %d: %s failed, and is stored\n%+v", seed, name, list)
		}
		if hit != (rows[name].stored == "true") {
			t.Errorf("seed %d: %s is a hit: %v, stored: %v", seed, name, hit, rows[name])
		}
		if !hit {
			continue
		}
		stored++
		there, _ := os.ReadDir(filepath.Join(clean, "gen"))
		for _, f := range there {
			text, err := os.ReadFile(filepath.Join(clean, "gen", f.Name()))
			if err != nil || string(text) != name+"\n" || !slices.Contains(list[i].files, f.Name()) {
				t.Errorf("seed %d: of %s gen/%s was stored as %q (%v)\n%+v", seed, name, f.Name(), text, err, list)
			}
		}
		if len(there) != len(list[i].files) {
			t.Errorf("seed %d: %s made %q, and %d files were stored", seed, name, list[i].files, len(there))
		}
	}
	return stored
}

// rowsOf runs bento and returns the tasks of its JSON document by dish, and the exit code.
func rowsOf(t *testing.T, ws, cache string, args ...string) (rows map[string]rowOf, exit int) {
	cmd := exec.Command(builtBento(t), args...)
	cmd.Dir, cmd.Env = ws, append(os.Environ(), "BENTO_CACHE_DIR="+cache)
	cmd.Stderr = new(strings.Builder)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		exit = failed.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Bentos []struct {
			Dishes []struct {
				Name  string
				Tasks []struct {
					Outcome struct{ Kind string }
					Stored  bool
				}
			}
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatalf("%q: %v\n%s%s", args, err, out, cmd.Stderr)
	}
	rows = make(map[string]rowOf)
	for _, b := range doc.Bentos {
		for _, d := range b.Dishes {
			for _, task := range d.Tasks {
				rows[d.Name] = rowOf{task.Outcome.Kind, fmt.Sprint(task.Stored)}
			}
		}
	}
	return rows, exit
}
