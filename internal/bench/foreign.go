package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// foreign is another tool with a remote cache, on the same workspace.
type foreign struct {
	name    string
	says    string   // what it prints if all N results came from the server
	than    string   // see command.than
	server  string   // the address of its server
	root    string   // its own copy of the workspace
	keeps   []string // paths in it, of outputs and local caches, that forget moves away
	dir     string   // where they are moved to
	past    int
	command func(name string, to *string) *command // to is the address of the server, nil for none
	// clean forgets what it has built in place of forget, nil for none.
	clean func() error
}

// others returns the other tools that are installed. mode is how turbo uses its caches. prepare is called for each.
func (r *remoteBench) others(c *commands, p *places, mode string, prepare func(*foreign) error) (list []*foreign, err error) {
	if path, err := exec.LookPath("turbo"); err == nil && p.turbo != nil {
		o, err := r.turbo(c, p, path, mode)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	if path, err := exec.LookPath("bazel"); err == nil && os.Getenv("BENTO_BENCH_BAZEL") != "0" {
		o, err := r.bazel(c, p, path)
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	for _, o := range list {
		if err := prepare(o); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// turbo returns turbo, on a workspace of its own.
func (r *remoteBench) turbo(c *commands, p *places, path, mode string) (*foreign, error) {
	own, err := r.flat(filepath.Base(c.root)+"-turbo", c.shape)
	if err != nil {
		return nil, err
	}
	bin, err := own.notNpm()
	if err != nil {
		return nil, err
	}
	o := &foreign{name: "turbo", says: "N cached, N total", server: p.turbo.http, root: own.root, dir: r.dir, keeps: []string{".turbo", "node_modules"}}
	for i := range own.n {
		o.keeps = append(o.keeps, filepath.Join("packages", name(i), "dist"), filepath.Join("packages", name(i), ".turbo"))
	}
	o.command = func(name string, to *string) *command {
		t := &command{name: name, dir: own.root, args: []string{path, "run", "build", "--no-daemon", "--concurrency=2"},
			env: []string{"TURBO_TELEMETRY_DISABLED=1", "PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH")}}
		if to == nil {
			t.args = append(t.args, "--cache=local:rw")
		} else {
			t.args = append(t.args, "--cache="+mode, "--api=http://"+*to, "--token="+token, "--team=us")
		}
		return t
	}
	return o, nil
}

// bazel returns Bazel with its server, on a workspace of its own.
func (r *remoteBench) bazel(c *commands, p *places, path string) (*foreign, error) {
	own, err := r.flat(filepath.Base(c.root)+"-bazel", c.shape)
	if err != nil {
		return nil, err
	}
	output := own.root + "-output"
	start := []string{path, "--output_user_root=" + output, "--max_idle_secs=600"}
	run := func(args ...string) error {
		cmd := exec.Command(start[0], append(start[1:], args...)...)
		cmd.Dir, cmd.Env = own.root, append(os.Environ(), "USER=bench")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("bazel %s: %w: %s", args[0], err, out)
		}
		return nil
	}
	p.ends = append(p.ends, func() { _ = run("shutdown") })
	o := &foreign{name: "bazel", says: "N remote cache hit", server: p.store.grpc, root: own.root, clean: func() error { return run("clean") }}
	o.command = func(name string, to *string) *command {
		b := &command{name: name, dir: own.root, env: []string{"USER=bench"}, args: append(start[:len(start):len(start)], "build", "//...", "--spawn_strategy=local", "--genrule_strategy=local", "--noshow_progress")}
		if to != nil {
			b.args = append(b.args, "--remote_cache=grpc://"+*to)
		}
		return b
	}
	return o, nil
}

// fill has the tool build all, and send it to its server.
func (o *foreign) fill() error {
	c := o.command(o.name+", filling", &o.server)
	_, err := c.run(o.root)
	return err
}

// forget moves the outputs and the local cache away, see commands.forget.
func (o *foreign) forget() error {
	if o.clean != nil {
		return o.clean()
	}
	o.past++
	old := filepath.Join(o.dir, "old", o.name, filepath.Base(o.root), strconv.Itoa(o.past))
	if err := os.MkdirAll(old, 0o755); err != nil {
		return err
	}
	for i, path := range o.keeps {
		if err := os.Rename(filepath.Join(o.root, path), filepath.Join(old, strconv.Itoa(i))); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// at returns the commands that use the server by ways with delays.
func (o *foreign) at(p *places, delays []time.Duration, before func() error) (list []*command, err error) {
	for _, trip := range delays {
		address, err := p.by(&proxy{to: o.server, trip: trip})
		if err != nil {
			return nil, err
		}
		c := o.command(fmt.Sprintf("%s, %v", o.name, trip), &address)
		c.before, c.says, c.than = before, o.says, o.than
		if before == nil { // all is there already
			c.says = ""
		}
		list = append(list, c)
	}
	return list, nil
}
