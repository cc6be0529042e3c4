//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/sampling"
	"github.com/bentobuild/bento/internal/testrun"
)

// scratch is a random workspace, in which every task reads its declared inputs and nothing else. So its outputs
// must equal those of a run from scratch after any sequence of runs, edits and restores.
type scratch struct {
	t      *testing.T
	r      *rand.Rand
	base   string // the directory of the workspaces, the caches, and the files that uncached tasks read
	dishes []*scratchDish
	ignore string // the .gitignore
	width  int    // how many tasks run at once
	kills  bool   // kill runs, too
	caches int
}

type scratchDish struct {
	path  string
	files map[string]string // tasks read the files src and more
	link  string            // the target of the link lnk, "" for none
	first string            // the first target, while there is another
	head  string            // settings of dish.toml, "" for none
	tasks []scratchTask
}

type scratchTask struct {
	name, settings  string
	reads           []string // relative to the dish
	makes           []string // likewise; the content of the first is made from the files of reads
	declares        []string // the declared outputs, which other tasks may read
	uncached, named bool
	version         int      // of the command
	puts            []string // commands that write to sources of dishes behind it
	rewrites        []string // those of them that it declares, relative to the workspace
}

func (k *scratch) pick(list ...string) string { return list[k.r.IntN(len(list))] }

func (k *scratch) chance(percent int) bool { return k.r.IntN(100) < percent }

// up returns a path of the workspace as seen from the dish.
func (d *scratchDish) up(p string) string {
	return strings.Repeat("../", strings.Count(d.path, "/")+1) + p
}

func drawScratch(t *testing.T, r *rand.Rand) *scratch {
	k := &scratch{t: t, r: r, base: t.TempDir()}
	k.width = 1 + r.IntN(3)
	k.ignore = k.pick("hid\n", "hid\nout\nrep\n/gen/\n")
	for i := range 3 + r.IntN(5) {
		k.dishes = append(k.dishes, k.drawDish(i))
	}
	for _, name := range []string{"ext0", "ext1"} {
		k.write(name, "a")
	}
	return k
}

// drawDish draws a dish. Its build depends on builds of dishes before it.
func (k *scratch) drawDish(i int) *scratchDish {
	d := &scratchDish{path: fmt.Sprint("d", i), files: map[string]string{"src": "a"}}
	if i > 0 && k.chance(20) {
		d.path = k.dishes[k.r.IntN(i)].path + "/" + d.path
	}
	if k.chance(15) {
		d.head = "force_independent = true\n"
	}
	build := scratchTask{name: "build", reads: []string{"src", "more"}, makes: []string{"out"}, declares: []string{"out"}}
	inputs, deps := []string{"src", "more"}, []string{}
	for j := range i {
		if k.chance(50) {
			k.join(d, k.dishes[j], &build, &inputs, &deps)
		}
	}
	switch {
	case k.chance(20): // an uncached task, which reads a file that is not part of any key
		build.uncached, build.makes, build.reads = true, []string{"hid"}, []string{d.up("../ext" + k.pick("0", "1"))}
		if build.declares = nil; k.chance(50) {
			build.makes, build.declares = []string{"out"}, []string{"out"}
		}
		build.settings += "cache = false\n"
	default: // it reads no file that an uncached task makes and does not declare
		build.settings += "cache = true\n"
	}
	switch {
	case build.uncached:
	case k.chance(20):
		out := "gen/" + strings.ReplaceAll(d.path, "/", "-")
		build.makes = append(build.makes, d.up(out))
		build.settings += fmt.Sprintf("workspace_outputs = [%q]\n", out)
	}
	if len(build.declares) > 0 {
		build.settings += "outputs = [\"out\"]\n"
	}
	if d.link != "" {
		inputs = append(inputs, "lnk")
	}
	if build.named || build.uncached || k.chance(50) {
		build.settings += fmt.Sprintf("inputs = %s\n", tomlList(inputs))
	}
	build.settings += fmt.Sprintf("depends_on = %s\n", tomlList(deps))
	d.tasks = append(d.tasks, build)
	if i == 0 || k.chance(40) {
		d.tasks = append(d.tasks, scratchTask{name: "test", reads: append([]string{"src"}, build.makes...), makes: []string{"rep"},
			settings: fmt.Sprintf("cache = true\noutputs = [\"rep\"]\ninputs = %s\ndepends_on = [\"build\"]\n", tomlList(append([]string{"src"}, build.makes[0])))})
	}
	return d
}

// join makes the build of d depend on the build of another dish, and perhaps read the outputs of that build.
func (k *scratch) join(d, on *scratchDish, build *scratchTask, inputs, deps *[]string) {
	made := on.tasks[0].makes
	*deps = append(*deps, dishName(on.path)+":build")
	k.put(d, on, build, inputs)
	switch k.r.IntN(5) {
	case 0: // a dependency for the order only
	case 1:
		inside := strings.Contains(d.path, "/") // then the link is also a source of the enclosing dish
		if d.link == "" && !inside && !strings.HasPrefix(k.ignore, "hid\nout") && made[0] == "out" {
			d.link = d.up(on.path + "/out")
			build.reads = append(build.reads, "lnk")
		}
	case 2:
		if on.tasks[0].uncached {
			break // an uncached task may make files that it does not declare
		}
		build.reads = append(build.reads, d.up(on.path+"/"+made[0]))
		if d.head != "" {
			*inputs = append(*inputs, "//"+on.path+"/"+made[0])
			build.named = true
		}
	default:
		p := on.path + "/" + made[len(made)-1]
		p = filepath.Clean(p)
		build.reads, *inputs, build.named = append(build.reads, d.up(p)), append(*inputs, "//"+p), true
	}
}

// put lets the build of another dish write a source of d, which is none of a dish around d. That build is executed
// in each run.
func (k *scratch) put(d, on *scratchDish, build *scratchTask, inputs *[]string) {
	by := &on.tasks[0]
	if !by.uncached || strings.Contains(d.path, "/") || k.chance(50) {
		return
	}
	name := "put-" + dishName(on.path)
	at := on.up(d.path + "/" + name)
	switch declared := k.chance(30); {
	case declared || len(by.declares) > 0 || k.chance(50):
		by.puts = append(by.puts, fmt.Sprintf("cp %s %s.new; mv %s.new %s", by.makes[0], at, at, at))
		if declared {
			by.rewrites = append(by.rewrites, "//"+d.path+"/"+name)
		}
	default:
		by.puts = append(by.puts, fmt.Sprintf("cat %s > %s", by.makes[0], at))
	}
	build.reads, *inputs = append(build.reads, name), append(*inputs, name)
}

func dishName(path string) string { return strings.ReplaceAll(path, "/", "-") }

func tomlList(list []string) string {
	quoted := make([]string, len(list))
	for i, v := range list {
		quoted[i] = fmt.Sprintf("%q", v)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func (d *scratchDish) toml() string {
	text := fmt.Sprintf("name = %q\nlanguage = \"none\"\n%s", dishName(d.path), d.head)
	for _, t := range d.tasks {
		run := "cat " + strings.Join(t.reads, " ") + " 2>/dev/null > " + t.makes[0] + ".new; mv " + t.makes[0] + ".new " + t.makes[0]
		for _, more := range t.makes[1:] {
			run += "; mkdir -p " + filepath.Dir(more) + "; cp " + t.makes[0] + " " + more
		}
		run = strings.Join(append([]string{run}, t.puts...), "; ") + strings.Repeat("; true", t.version)
		text += fmt.Sprintf("[tasks.%s]\nrun = %q\n%s", t.name, run, t.settings)
		if len(t.rewrites) > 0 {
			text += fmt.Sprintf("rewrites = %s\n", tomlList(t.rewrites))
		}
	}
	return text
}

func (k *scratch) write(name, text string) {
	k.t.Helper()
	full := filepath.Join(k.base, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		k.t.Fatal(err)
	}
	if old, err := os.ReadFile(full); err == nil && string(old) == text {
		return
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

// lay writes the sources of the workspace to a directory, and removes those that the workspace no longer has.
func (k *scratch) lay(ws string) {
	k.t.Helper()
	k.write(ws+"/bento.toml", fmt.Sprintf("[defaults]\nparallelism = %d\n", k.width))
	k.write(ws+"/.gitignore", "*.new\n"+k.ignore)
	for _, d := range k.dishes {
		k.write(ws+"/"+d.path+"/dish.toml", d.toml())
		for _, name := range []string{"src", "more"} {
			if text, ok := d.files[name]; ok {
				k.write(ws+"/"+d.path+"/"+name, text)
			} else {
				os.Remove(filepath.Join(k.base, ws, d.path, name))
			}
		}
		at := filepath.Join(k.base, ws, d.path, "lnk")
		if to, _ := os.Readlink(at); to == d.link {
			continue
		}
		os.Remove(at)
		if d.link != "" {
			if err := os.Symlink(d.link, at); err != nil {
				k.t.Fatal(err)
			}
		}
	}
}

// edit makes a random change to the workspace.
func (k *scratch) edit() {
	d := k.dishes[k.r.IntN(len(k.dishes))]
	at := func(name string) string { return filepath.Join(k.base, "w", d.path, name) }
	switch k.r.IntN(12) {
	case 0, 1, 2:
		d.files["src"] = k.pick("a", "b")
	case 3:
		if _, ok := d.files["more"]; ok {
			delete(d.files, "more")
		} else {
			d.files["more"] = k.pick("a", "b")
		}
	case 4, 5:
		k.write("ext"+k.pick("0", "1"), k.pick("a", "b"))
	case 6:
		os.Remove(at(d.tasks[0].makes[0]))
	case 7:
		os.RemoveAll(filepath.Join(k.base, "w", ".bento"))
	case 8: // a rename
		if text, ok := d.files["more"]; ok && os.Rename(at("more"), at("src")) == nil {
			d.files["src"] = text
			delete(d.files, "more")
		}
	case 9: // a touch
		now := time.Now()
		if err := os.Chtimes(at("src"), now, now); err != nil {
			k.t.Fatal(err)
		}
	case 10:
		d.tasks[k.r.IntN(len(d.tasks))].version = k.r.IntN(3)
		k.width = 1 + k.r.IntN(3)
	case 11: // of a link, to what the task reads anyway
		if d.link == "src" {
			d.link = d.first
		} else if d.link != "" {
			d.first, d.link = d.link, "src"
		}
	}
}

// scratchDoc has the tasks of the JSON document of a run or a plan.
type scratchDoc struct {
	Bentos []struct{ Dishes []scratchDishDoc } // of a plan
	Dishes []scratchDishDoc                    // of a run
}

type scratchDishDoc struct {
	Name  string
	Tasks []struct {
		Name    string
		Key     *string
		Outcome struct{ Kind string }
	}
}

// bento runs a command in a workspace. It returns the keys and outcomes of the tasks that have keys, by id.
func (k *scratch) bento(ws, store string, args ...string) (keys, outcomes map[string]string) {
	k.t.Helper()
	var out, said bytes.Buffer
	code := execute(k.t.Context(), append(args, "--json", "-C", filepath.Join(k.base, ws)), process{out: &out, err: &said, environ: adapters.NewEnviron([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + k.base, "BENTO_CACHE_DIR=" + filepath.Join(k.base, store),
	})})
	warned := strings.Count(said.String(), "warning:")
	for _, right := range []string{"files that no task declares appeared in the dish of", "another bento runs in this workspace"} { // the latter after a kill
		warned -= strings.Count(said.String(), "warning: "+right)
	}
	warned -= strings.Count(said.String(), " matches nothing") + strings.Count(said.String(), " like these (input_matches_nothing)") // an input that an edit has not made yet
	if code != 0 || warned > 0 {
		k.t.Fatalf("bento %q in %s: exit status %d\n%s\n%s", args, ws, code, &said, k.describe())
	}
	var doc scratchDoc
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		k.t.Fatal(err)
	}
	for _, b := range doc.Bentos {
		doc.Dishes = append(doc.Dishes, b.Dishes...)
	}
	keys, outcomes = make(map[string]string), make(map[string]string)
	for _, d := range doc.Dishes {
		for _, task := range d.Tasks {
			if task.Key != nil {
				keys[d.Name+":"+task.Name], outcomes[d.Name+":"+task.Name] = *task.Key, task.Outcome.Kind
			}
		}
	}
	return keys, outcomes
}

// kill starts a run, and kills it at a random moment. What its tasks leave beside what they make is ignored.
func (k *scratch) kill() {
	k.t.Helper()
	cmd := exec.Command(builtBento(k.t), "run", "build", "test", "-C", filepath.Join(k.base, "w"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + k.base, "BENTO_CACHE_DIR=" + filepath.Join(k.base, "cache")}
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	timer := time.AfterFunc(time.Duration(k.r.Int64N(int64(40*time.Millisecond))), func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	timer.Stop()
}

// describe returns the workspace as text.
func (k *scratch) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".gitignore: %q\n", k.ignore)
	for _, d := range k.dishes {
		fmt.Fprintf(&b, "-- %s, %q, lnk -> %q\n%s", d.path, d.files, d.link, d.toml())
	}
	return b.String()
}

// made returns the files of a workspace, without the state of bento.
func (k *scratch) made(ws string) map[string]string {
	files := make(map[string]string)
	root := filepath.Join(k.base, ws)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".bento":
			return fs.SkipDir
		case !d.Type().IsRegular(), strings.HasSuffix(p, ".new"):
			return nil
		}
		text, err := os.ReadFile(p)
		files[strings.TrimPrefix(p, root)] = string(text)
		return err
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return files
}

// same checks that two runs or plans have the same key for each task that has a key in both.
func (k *scratch) same(what string, a, b map[string]string) {
	k.t.Helper()
	for id, key := range a {
		if other, ok := b[id]; ok && other != key {
			k.t.Fatalf("%s: the key of %s is %s and %s\n%s", what, id, key, other, k.describe())
		}
	}
}

// hits checks that all cached tasks are cache hits.
func (k *scratch) hits(what string, outcomes map[string]string) {
	k.t.Helper()
	for _, d := range k.dishes {
		for _, task := range d.tasks {
			if id := dishName(d.path) + ":" + task.name; !task.uncached && outcomes[id] != "cache_hit" {
				k.t.Fatalf("%s: %s is %q\n%s", what, id, outcomes[id], k.describe())
			}
		}
	}
}

// check runs the workspace, and compares the result with a run from scratch, with the next commands, and with a
// second clone.
func (k *scratch) check() {
	k.t.Helper()
	k.lay("w")
	if k.chance(50) { // then the run computes keys from remembered digests
		k.bento("w", "cache", "plan", "build", "test")
		k.bento("w", "cache", "plan", "build", "test")
	}
	if k.kills && k.chance(30) {
		k.kill()
	}
	ran, _ := k.bento("w", "cache", "run", "build", "test")
	k.caches++
	fresh, empty := fmt.Sprint("fresh", k.caches), fmt.Sprint("cache", k.caches)
	k.lay(fresh)
	scratched, _ := k.bento(fresh, empty, "run", "build", "test")
	k.same("from scratch", ran, scratched)
	if diff := cmp.Diff(k.made(fresh), k.made("w")); diff != "" {
		k.t.Fatalf("a run from scratch has made something else (-scratch +run):\n%s\n%s", diff, k.describe())
	}
	planned, _ := k.bento("w", "cache", "plan", "build", "test")
	k.same("the next plan", ran, planned)
	again, outcomes := k.bento("w", "cache", "run", "build", "test")
	k.same("the next run", ran, again)
	k.hits("the next run", outcomes)
	k.lay("second")
	_, outcomes = k.bento("second", "cache", "run", "build", "test")
	k.hits("a second clone", outcomes)
	if diff := cmp.Diff(k.made(fresh), k.made("second")); diff != "" {
		k.t.Fatalf("a second clone has made something else (-scratch +second):\n%s\n%s", diff, k.describe())
	}
	k.bento("w", "cache", "cache", "fsck")
}

// TestRunsAsFromScratch: after each edit of a workspace, a run has the outputs and keys of a run from scratch.
// The next plan and run, and a run of another clone, have the same keys and nothing but cache hits.
func TestRunsAsFromScratch(t *testing.T) {
	if !testrun.Alone(t) {
		return
	}
	rounds := 12
	if testing.Short() {
		rounds = 3
	} else if sampling.All() {
		rounds = 400
	}
	r := sampling.Rand(t)
	for i := range rounds {
		seed := r.Uint64()
		t.Run(fmt.Sprint(i, "-", seed), func(t *testing.T) {
			k := drawScratch(t, rand.New(rand.NewPCG(seed, 0)))
			k.kills = i%4 == 0
			for range 3 + k.r.IntN(4) {
				k.check()
				for range 1 + k.r.IntN(2) {
					k.edit()
				}
			}
		})
	}
}
