package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// bench is the state that all measurements share.
type bench struct {
	bento  string
	dir    string
	rounds int
}

// workspace measures a workspace of n packages and prints the table.
func (b *bench) workspace(n int) error {
	root := filepath.Join(b.dir, "ws-"+strconv.Itoa(n))
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	g, err := generate(root, shape{n: n, files: filesEach})
	if err != nil {
		return err
	}
	fmt.Printf("%d packages, %d files, %d CPUs\n", n, n*(filesEach+3), runtime.NumCPU())
	c := &commands{bench: b, generated: g, cache: filepath.Join(b.dir, "cache-"+strconv.Itoa(n))}
	if err := b.warm(c); err != nil {
		return err
	}
	return b.changed(c)
}

// warm measures runs in which nothing has changed.
func (b *bench) warm(c *commands) error {
	first := c.of("bento run build", "run", "build")
	if _, err := first.run(c.root); err != nil { // this run fills the cache
		return err
	}
	list := []*command{
		{name: "git status", args: []string{"git", "status", "--porcelain"}},
		first, c.of("bento plan", "plan"),
		c.of("bento why (a leaf)", "why", name(c.leaf())+":build"),
	}
	if path, err := exec.LookPath("ninja"); err == nil {
		list = append(list, &command{name: "ninja", args: []string{path}, before: c.ninjaOnce()})
	}
	if path, err := exec.LookPath("turbo"); err == nil {
		turbo, err := c.turbo(path)
		if err != nil {
			return err
		}
		list = append(list, turbo)
	}
	if err := take(c.root, b.rounds, list); err != nil {
		return err
	}
	fmt.Println(" nothing to do")
	print(list)
	return nil
}

// changed measures runs after a change. They take longer, so it runs fewer rounds.
func (b *bench) changed(c *commands) error {
	leaf, restore, cold := c.of("bento run build, a leaf edited", "run", "build"), c.of("bento run build, outputs removed", "run", "build"), c.of("bento run build, cold", "run", "build")
	leaf.before = c.edit
	restore.before = c.removeOutputs
	cold.before = c.forget
	copied, err := c.copyOutputs()
	if err != nil {
		return err
	}
	// The cost of the file system alone: about a second on ext4 without a journal.
	plain := &command{name: "cp -R of the same outputs", args: []string{"cp", "-R", copied + "/.", "."}, before: c.removeOutputs}
	list := []*command{{name: "git status", args: []string{"git", "status", "--porcelain"}}, leaf, restore, plain}
	if err := take(c.root, max(1, b.rounds/3), list); err != nil {
		return err
	}
	fmt.Println(" something to do")
	print(list)
	list = []*command{cold}
	if path, err := exec.LookPath("ninja"); err == nil {
		list = []*command{{name: "ninja, cold", args: []string{path}, before: c.forget}, cold}
	}
	if err := take(c.root, max(1, b.rounds/5), list); err != nil {
		return err
	}
	fmt.Println(" everything to do")
	print(list)
	return os.RemoveAll(filepath.Join(c.dir, "old"))
}

// commands makes the commands for one workspace.
type commands struct {
	*bench
	*generated
	cache string
	edits int
	past  int // number of calls of forget
}

// of returns a bento command.
func (c *commands) of(name string, args ...string) *command {
	return &command{name: name, args: append([]string{c.bento}, args...), env: []string{"BENTO_CACHE_DIR=" + c.cache}}
}

// ninjaOnce builds everything with ninja before the first measurement.
func (c *commands) ninjaOnce() func() error {
	built := false
	return func() error {
		if built {
			return nil
		}
		built = true
		cmd := exec.Command("ninja")
		cmd.Dir = c.root
		return cmd.Run()
	}
}

// turbo returns the command of a turbo that has built everything, in its own workspace, because it
// writes existing outputs again. Its cache has the same content as with npm. Another command runs
// the scripts, because npm takes most of a second per package.
func (c *commands) turbo(path string) (*command, error) {
	own, err := generate(c.root+"-turbo", c.shape)
	if err != nil {
		return nil, err
	}
	bin, err := c.notNpm()
	if err != nil {
		return nil, err
	}
	turbo := command{name: "turbo run build", dir: own.root, args: []string{path, "run", "build"}, env: []string{"TURBO_TELEMETRY_DISABLED=1"}}
	fill := turbo
	fill.env = append(fill.env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	_, err = fill.run(own.root)
	return &turbo, err
}

// notNpm returns a directory with a quick npm, which runs the script of a package.
func (b *bench) notNpm() (bin string, err error) {
	bin = filepath.Join(b.dir, "not-npm")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	return bin, os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\nexec sh build.sh\n"), 0o755)
}

// edit changes a source of the leaf.
func (c *commands) edit() error {
	c.edits++
	return os.WriteFile(c.path(c.leaf(), "src/f00.txt"), []byte("edit "+strconv.Itoa(c.edits)+"\n"), 0o644)
}

// copyOutputs copies the outputs to a directory beside the workspace.
func (c *commands) copyOutputs() (dir string, err error) {
	dir = c.root + "-outputs"
	if err := os.RemoveAll(dir); err != nil { // from an earlier run with -dir
		return "", err
	}
	for i := range c.n {
		if err := os.CopyFS(filepath.Join(dir, "packages", name(i), "dist"), os.DirFS(c.path(i, "dist"))); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func (c *commands) removeOutputs() error {
	for i := range c.n {
		if err := os.RemoveAll(c.path(i, "dist")); err != nil {
			return err
		}
	}
	return nil
}

// forget moves the outputs and the state of bento and ninja away. It does not remove them: for
// seconds after files were removed, ext4 creates new ones slowly.
func (c *commands) forget() error {
	c.past++
	old := filepath.Join(c.dir, "old", strconv.Itoa(c.past))
	if err := os.MkdirAll(old, 0o755); err != nil {
		return err
	}
	paths := []string{c.cache, filepath.Join(c.root, ".bento"), filepath.Join(c.root, ".ninja_log"), filepath.Join(c.root, ".ninja_deps")}
	for i := range c.n {
		paths = append(paths, c.path(i, "dist"))
	}
	for i, path := range paths {
		if err := os.Rename(path, filepath.Join(old, strconv.Itoa(i))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	syscall.Sync() // writing back the data of the last command must not take processors from the next one
	return nil
}
