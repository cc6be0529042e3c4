package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/run"
)

// mortal is a context that ends after some calls of its Err.
type mortal struct {
	context.Context
	left int
}

func (c *mortal) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// clean checks for an interrupt before it removes a file or a directory; artifacts --copy, before it copies a
// file.
func TestLoopsOverFilesHear(t *testing.T) {
	t.Parallel()
	const n = 20
	for _, left := range []int{0, 1, n / 2, n, n + n/2} {
		root, dir := t.TempDir(), t.TempDir()
		var cleans record.Cleanable
		var copies []report.Artifact
		for i := range n {
			name := fmt.Sprintf("d%02d/f", i)
			write(t, root, name, "x")
			cleans.Paths = append(cleans.Paths, name)
			copies = append(copies, report.Artifact{Path: name, Kind: "directory"})
		}
		err := copyTo(&mortal{context.Background(), min(left, n-1)}, copies, root, dir)
		if got := entriesOf(t, dir); !errors.Is(err, context.Canceled) || got != min(left, n-1) {
			t.Errorf("copy, interrupted at %d: %d copied, %v", left, got, err)
		}
		_, err = (&record.Recorder{Root: root}).Clean(&mortal{context.Background(), left}, &cleans)
		files, _ := filepath.Glob(filepath.Join(root, "*", "f"))
		if dirs := entriesOf(t, root); !errors.Is(err, context.Canceled) || len(files) != max(0, n-left) || dirs != min(n, 2*n-left) {
			t.Errorf("clean, interrupted at %d: %d files and %d directories are left, %v", left, len(files), dirs, err)
		}
	}
}

func entriesOf(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// interrupter interrupts a run at its first warning.
type interrupter struct{ interrupt context.CancelFunc }

func (i interrupter) Report(e run.Event) {
	if _, warned := e.(run.Warned); warned {
		i.interrupt()
	}
}

// TestInterruptedAfterATask: a run that is interrupted after the success of a command still checks whether the
// command has changed its inputs. If so, it does not store the result. The test interrupts the run at its first
// warning, about an output glob that matches no file: bento prints it at that moment.
func TestInterruptedAfterATask(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	write(t, root, "bento.toml", "")
	write(t, root, "d/src", "a")
	write(t, root, "d/dish.toml", "language = \"none\"\n[tasks.build]\nrun = \"echo b >> src\"\noutputs = [\"*.none\"]\n")
	s := &session{process: process{out: io.Discard, err: io.Discard, environ: adapters.NewEnviron([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "BENTO_CACHE_DIR=" + filepath.Join(home, "cache"),
	})}}
	defer s.end()
	ctx, cancel := context.WithCancel(t.Context())
	w, err := s.openAt(t.Context(), place{root: root, cwd: root}, interrupter{cancel})
	if err != nil {
		t.Fatal(err)
	}
	p, problems := plan.Build(w.Workspace.Workspace, plan.Request{Tasks: []string{"build"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	report, err := run.Run(ctx, w.env, p, run.Options{Workers: 1})
	if err != nil || ctx.Err() == nil {
		t.Fatalf("%v; interrupted: %v", err, ctx.Err())
	}
	if r := report.Results[0]; r.Outcome != run.Built || r.Stored {
		t.Errorf("the task is %q, and its result is stored: %v; want it built, and not stored", r.Outcome, r.Stored)
	}
}
