package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// formatted is how many bytes the tasks of a kind format in a workspace of tools, and documentSizes are the
// sizes of a task's file: all kinds are measured with the first, and the usual ones with the others.
const formatted = 64 << 20

var documentSizes = [...]int{64 << 10, 16 << 10, 256 << 10}

// toolbox is a workspace whose tasks format one file each, in several ways.
type toolbox struct {
	*commands
	kinds []way
	size  int // of a file
}

// way is a way to format a file.
type way struct {
	task, name string
	tool       string // "" for a command
	declared   string // in bento.toml
	slow       bool
}

// tools measures tasks that call a tool, beside a program that does the same work in one process.
func (b *bench) tools() error {
	var old []string
	for i, size := range documentSizes {
		if err := b.toolsOf(size, i == 0); err != nil {
			return err
		}
		kept := filepath.Join(b.dir, fmt.Sprintf("old-%d", size>>10))
		if err := os.Rename(filepath.Join(b.dir, "old"), kept); err != nil {
			return err
		}
		old = append(old, kept)
	}
	// Not before: for minutes after files are removed, ext4 without a journal makes new ones slowly.
	for _, dir := range old {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// toolsOf measures tools with files of one size, and leaves out slow ones unless all is set.
func (b *bench) toolsOf(size int, all bool) error {
	root := filepath.Join(b.dir, fmt.Sprintf("tools-%d", size>>10))
	for _, dir := range []string{root, root + "-cache", filepath.Join(b.dir, "old")} { // from an earlier run with -dir
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	t := &toolbox{size: size, commands: &commands{bench: b, generated: &generated{root: root, shape: shape{n: formatted / size}}, cache: root + "-cache"}}
	if err := t.build(); err != nil {
		return err
	}
	if !all {
		t.kinds = slices.DeleteFunc(t.kinds, func(k way) bool { return k.slow })
	}
	paths, err := t.generate()
	if err != nil {
		return err
	}
	list := []*command{{name: "one process", args: []string{t.program(), request(paths, "dist")}, before: t.forget}}
	for _, k := range t.kinds {
		c := t.of("bento run, "+k.name, "run", k.task)
		c.before = t.forget
		list = append(list, c)
	}
	if err := take(root, max(1, b.rounds/5), list); err != nil {
		return err
	}
	fmt.Printf("%d files of %d KiB, each formatted by a task, beside one process that formats all\n", t.n, size>>10)
	print(list)
	return nil
}

// program returns the path of examples/tools/json-go as a program.
func (t *toolbox) program() string { return filepath.Join(t.root, "tools", "json-go") }

// build makes the programs and modules. Without Rust's target its module is left out.
func (t *toolbox) build() error {
	const source = "./examples/tools/json-go"
	if err := made(nil, "go", "build", "-o", t.program(), source); err != nil {
		return err
	}
	if err := made([]string{"GOOS=wasip1", "GOARCH=wasm"}, "go", "build", "-buildmode=c-shared", "-o", t.program()+".wasm", source); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	const module = "[tools.%s]\nwasm = \"tools/%[1]s.wasm\"\ncapabilities = [\"wasi:filesystem/read\"]\n"
	t.kinds = []way{
		{task: "command", name: "a command each"},
		{"oneshot", "a one-shot tool each", oneshotID + ":format", fmt.Sprintf("[tools.%q]\ncommand = [%q, %q]\nlaunch = \"1m\"\nhandshake = \"1m\"\ntimeout = \"1m\"\n", oneshotID, self, oneshotID), true},
		{"module", "a Go module each", "json-go", fmt.Sprintf(module, "json-go"), true},
	}
	built := filepath.Join(t.dir, "json-rust")
	if err := made(nil, "cargo", "build", "-q", "--release", "--target", "wasm32-wasip1", "--target-dir", built, "--manifest-path", "examples/tools/json-rust/Cargo.toml"); err != nil {
		fmt.Fprintln(os.Stderr, "a module in Rust is not measured:", err)
		return nil
	}
	t.kinds = append(t.kinds, way{"rust", "a Rust module each", "json-rust", fmt.Sprintf(module, "json-rust"), false})
	return os.Rename(filepath.Join(built, "wasm32-wasip1", "release", "json_rust.wasm"), filepath.Join(t.root, "tools", "json-rust.wasm"))
}

func made(env []string, args ...string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// generate writes the workspace, and returns the paths of the files to format.
func (t *toolbox) generate() (paths []string, err error) {
	rng := rand.New(rand.NewPCG(1, uint64(t.n)))
	t.write(filepath.Join(t.root, ".gitignore"), "dist/\n")
	tools := ""
	for _, k := range t.kinds {
		tools += k.declared
	}
	t.write(filepath.Join(t.root, "bento.toml"), tools)
	for i := range t.n {
		file := name(i) + ".json"
		dish := fmt.Sprintf("name = %q\nlanguage = \"none\"\n", name(i))
		for _, k := range t.kinds {
			dish += fmt.Sprintf("\n[tasks.%s]\ninputs = [\"*.json\"]\noutputs = [\"dist/%[1]s/*\"]\n", k.task)
			if k.tool == "" {
				dish += fmt.Sprintf("run = %q\n", fmt.Sprintf("%s '%s'", t.program(), request([]string{file}, "dist/"+k.task)))
			} else {
				dish += fmt.Sprintf("tool = %q\ninput = { paths = \"${inputs}\", out = \"${out}/dist/%s\" }\n", k.tool, k.task)
			}
		}
		t.write(t.path(i, "dish.toml"), dish)
		t.write(t.path(i, file), document(rng, t.size))
		paths = append(paths, filepath.Join("packages", name(i), file))
	}
	t.commit()
	return paths, t.err
}

// document returns a JSON document of a size in one line.
func document(rng *rand.Rand, size int) string {
	var b strings.Builder
	b.WriteString("[0")
	for b.Len() < size {
		fmt.Fprintf(&b, ",{\"id\":%d,\"price\":%.2f,\"name\":%q,\"tags\":[%q,null,true]}", rng.IntN(1e6), rng.Float64()*100, text(rng, 40), text(rng, 8))
	}
	return b.String() + "]"
}

// request returns the input of the tools.
func request(paths []string, out string) string {
	b, err := json.Marshal(map[string]any{"paths": paths, "out": out})
	if err != nil {
		panic(err) // it has strings only
	}
	return string(b)
}

// forget moves the outputs and the state of bento away: see commands.forget.
func (t *toolbox) forget() error {
	if err := t.commands.forget(); err != nil {
		return err
	}
	err := os.Rename(filepath.Join(t.root, "dist"), filepath.Join(t.dir, "old", fmt.Sprint(t.past), "dist"))
	if os.IsNotExist(err) {
		return nil
	}
	return err
}
