package remoteexec

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/reapi"
	"github.com/bentobuild/bento/cache/remote/servertest"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
)

// TestCheck: outputs that no command can have made are refused, before anything is written.
func TestCheck(t *testing.T) {
	t.Parallel()
	file := reapi.File{Digest: remote.Digest{Size: 1}}
	for name, m := range map[string]*made{
		"above the workspace": {files: map[string]reapi.File{"../x": file}},
		"absolute":            {files: map[string]reapi.File{"/etc/x": file}},
		"bento's own":         {files: map[string]reapi.File{".bento/x": file}},
		"in git":              {dirs: []string{"d/.git"}},
		"below a link":        {files: map[string]reapi.File{"d/l/x": file}, links: map[string]string{"d/l": "../lib"}},
		"below a file":        {files: map[string]reapi.File{"d/f/x": file, "d/f": file}},
		"twice":               {files: map[string]reapi.File{"d/f": file}, links: map[string]string{"d/f": "x"}},
		"a link out":          {links: map[string]string{"d/l": "../../etc"}},
		"a link to the root":  {links: map[string]string{"d/l": "/bento/w/d/x"}},
		"too large":           {files: map[string]reapi.File{"d/f": {Digest: remote.Digest{Size: maxOutputs + 1}}}},
	} {
		if err := m.check("/root/of"); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	good := &made{files: map[string]reapi.File{"d/f": file}, links: map[string]string{"d/l": "f"}, dirs: []string{"d/e"}}
	if err := good.check("/root/of"); err != nil {
		t.Error(err)
	}
}

// TestOutputPaths: only the directories of an input root that have outputs are looked at.
func TestOutputPaths(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"bento/w/d/x": "d/x", "bento/moved/d/x": "d/x", "bento/home/x": "", "x": "", "bento/w": ""} {
		if got, _ := outputPath(in); got != want {
			t.Errorf("%s: %q", in, got)
		}
	}
}

// TestScript: values of variables and names are data for the shell, and the workspace has another path on a worker.
func TestScript(t *testing.T) {
	t.Parallel()
	c := New(Options{Root: "/ws", Home: "/home/me"})
	for value, want := range map[string]string{
		"it's $(x)": `'it'\''s $(x)'`, "/ws": `''"$r"/bento/w''`, "a:/ws/b:/wsx": `'a:'"$r"/bento/w'/b:/wsx'`, "/ws/a /ws": `''"$r"/bento/w'/a '"$r"/bento/w''`,
	} {
		if got := c.quoted(value); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
	}
	if got := c.searched("/home/me/bin:/usr/bin:rel:/ws/bin:/home/men"); got != "/usr/bin:/ws/bin:/home/men" {
		t.Errorf("PATH %s", got)
	}
	for element, want := range map[string]string{
		"*.o": "*'.o' .*'.o'", "a?b*": "'a'*'b'*", "it's*": `'it'\''s'*`, "[a-z]x": "* .*", "?": "* .*", "$(x)*": "'$(x)'*",
	} {
		if got := shellNames(element); got != want {
			t.Errorf("%s: %s, want %s", element, got, want)
		}
	}
	words := c.words(&action.Command{Words: []string{"/ws/d/run", "/ws/x"}})
	if !strings.HasSuffix(words[0], "d/run") || !strings.HasPrefix(words[0], "./") || words[1] != "/ws/x" {
		t.Errorf("%q", words)
	}
}

// unavailable reports whether an error lets a task run here.
func unavailable(err error) bool { return errors.As(err, new(*action.UnavailableError)) }

// TestGone: a server that cannot be reached costs the first commands a question, and the next ones nothing.
func TestGone(t *testing.T) {
	t.Parallel()
	asked := 0
	b := newBench(t, "127.0.0.1:1", func(o *Options) {
		open := o.Open
		o.Open = func() (*reapi.Client, error) { asked++; return open() }
	})
	for i := range maxFaults + 2 {
		_, _, err := b.run(t.Context(), b.command("true"))
		if !unavailable(err) || (b.cluster.lost != nil) != (i >= maxFaults-1) {
			t.Errorf("%d: %v, lost: %v", i, err, b.cluster.lost)
		}
	}
	if asked != 1 {
		t.Errorf("opened %d times", asked)
	}
}

// TestChangedInput: an input that is not what the key says does not become one of an action.
func TestChangedInput(t *testing.T) {
	b := newBench(t, servertest.Workers(t).GRPC)
	b.input("d/src.c", "source\n")
	if err := os.WriteFile(filepath.Join(b.root, "d/src.c"), []byte("another\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.run(t.Context(), b.command("true")); !unavailable(err) || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("%v", err)
	}
	b.inputs = []key.File{{Path: "../out", Sum: b.inputs[0].Sum}}
	if _, _, err := b.run(t.Context(), b.command("true")); !unavailable(err) || !strings.Contains(err.Error(), "outside") {
		t.Errorf("%v", err)
	}
}

// TestUnlike: a command does not run on workers with another toolchain.
func TestUnlike(t *testing.T) {
	b := newBench(t, servertest.Workers(t).GRPC)
	b.input("d/src.c", "source\n")
	c := b.command("true")
	bin := t.TempDir()
	for _, name := range []string{"node", "npm"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho v99.1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.Env = []string{"PATH=" + bin + ":/usr/bin:/bin"}
	_, _, err := b.run(t.Context(), c, func(j *Job) { j.Adapter, j.Toolchain = "node-npm", "99.1" })
	if !unavailable(err) || !strings.Contains(err.Error(), `"v99.1" here`) || b.cluster.lost != nil {
		t.Errorf("%v, lost: %v", err, b.cluster.lost)
	}
}

// TestLimits: a command that no worker begins is canceled; one that runs is not, at its timeout: the worker ends it.
func TestLimits(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	l := &limits{cancel: cancel, queue: time.Millisecond}
	l.reach(reapi.StageUnknown)
	l.reach(reapi.CheckingCache)
	l.reach(reapi.Queued)
	if <-ctx.Done(); context.Cause(ctx) != errQueued {
		t.Error(context.Cause(ctx))
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	l = &limits{cancel: cancel, timeout: time.Millisecond, queue: time.Hour}
	l.reach(reapi.Queued)
	l.reach(reapi.Executing)
	if l.stop(); ctx.Err() != nil {
		t.Error("canceled at the timeout itself")
	}
}
