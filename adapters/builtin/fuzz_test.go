package builtin_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

// place is one manifest, lockfile or pin in a fixture, and the adapters that read it.
type place struct {
	adapter int // which of the built-in ones
	path    string
	dirs    []string
}

// FuzzManifests puts bytes in the place of any manifest, lockfile or pin of the
// fixtures and asks the adapter everything: it answers with places that are in the
// files, and twice the same.
func FuzzManifests(f *testing.F) {
	var places []place
	options := snapshot.Options{Env: adaptertest.Env()}
	for i, a := range builtin.All(options) {
		root := adaptertest.Fixture(f, a.Manifest().AdapterID)
		adaptertest.Write(f, filepath.Join(root, "bento.toml"), "")
		dirs := dirsOf(f, root)
		names := interesting(f, root, a.Manifest().FingerprintFiles)
		names = append(names, ".tool-versions", ".nvmrc", ".python-version", ".java-version", ".ruby-version", ".npmrc", "tsconfig.json", "gradle.properties")
		for _, name := range names {
			data, err := os.ReadFile(filepath.Join(root, name))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				f.Fatal(err)
			}
			f.Add(uint16(len(places)), data)
			places = append(places, place{i, filepath.Join(root, name), dirs})
		}
	}
	f.Fuzz(func(t *testing.T, which uint16, data []byte) {
		p := places[int(which)%len(places)]
		before, err := os.ReadFile(p.path)
		adaptertest.Write(t, p.path, string(data))
		a := builtin.All(options)[p.adapter] // one that remembers nothing of the file
		for _, dir := range p.dirs {
			p.ask(t, a, dir)
		}
		if err != nil {
			err = os.Remove(p.path)
		} else {
			err = os.WriteFile(p.path, before, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

func (p *place) ask(t *testing.T, a adapters.Adapter, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ok, err := a.Detect(ctx, dir)
	p.check(t, err)
	if !ok {
		return
	}
	tasks, err := adapters.Tasks(ctx, a, dir)
	p.check(t, err)
	for _, task := range tasks.Tasks {
		if task.Name == "" || task.Run == "" || strings.ContainsRune(task.Run, 0) || filepath.IsAbs(task.Cwd) {
			t.Errorf("the task %+v", task)
		}
	}
	p.inLines(t, tasks.Warnings)
	links, err := adapters.Links(ctx, a, dir)
	p.check(t, err)
	for _, l := range links.Links {
		if l.Dir != "" && !filepath.IsAbs(l.Dir) || (l.Dir == "") == (l.Package == "") || l.Line > linesOf(l.File) {
			t.Errorf("the link %+v", l)
		}
	}
	scope, err := adapters.InstallScope(ctx, a, dir)
	p.check(t, err)
	for _, made := range scope.Made {
		if !filepath.IsAbs(made) && !filepath.IsLocal(made) {
			t.Errorf("the install makes %q", made)
		}
	}
	one, err := adapters.LockDigest(ctx, a, dir)
	p.check(t, err)
	if two, _ := adapters.LockDigest(ctx, a, dir); one.Digest != two.Digest || one.Whole != two.Whole {
		t.Errorf("one lockfile, two answers: %+v and %+v", one, two)
	}
	pin, err := a.RequiredToolchain(ctx, dir)
	p.check(t, err)
	if pin != nil && pin.File != "" && (pin.Line < 1 || pin.Line > linesOf(pin.File)) {
		t.Errorf("the pin %+v", pin)
	}
	if ctx.Err() != nil {
		t.Error("it takes too long")
	}
}

// check holds an error to be short, and its places to be in the files.
func (p *place) check(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if len(err.Error()) > 2000 {
		t.Errorf("an error of %d bytes: %.200s", len(err.Error()), err)
	}
	var problems diagnostics.Problems
	if errors.As(err, &problems) {
		p.inLines(t, problems)
	}
}

func (p *place) inLines(t *testing.T, list []diagnostics.Diagnostic) {
	t.Helper()
	for _, d := range list {
		// An error at the end may be said to be on the line after the last.
		if d.Message == "" || d.Line < 0 || d.Col < 0 || d.Line > linesOf(d.File)+1 {
			t.Errorf("%s: %+v", filepath.Base(p.path), d)
		}
	}
}

// linesOf counts the lines of a file, including a last one without an end.
func linesOf(path string) int {
	data, err := os.ReadFile(path)
	if err != nil {
		return math.MaxInt - 1
	}
	return 1 + strings.Count(string(data), "\n")
}
