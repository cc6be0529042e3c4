package environment

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/probe"
)

// TestMarkIsNeverWrittenInPlace: what an installer has linked from its store belongs
// to the store.
func TestMarkIsNeverWrittenInPlace(t *testing.T) {
	dir := t.TempDir()
	stored := filepath.Join(dir, "store")
	adaptertest.Write(t, stored, "of the store")
	if err := os.Mkdir(filepath.Join(dir, Dir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(stored, filepath.Join(dir, Mark)); err != nil {
		t.Skip(err)
	}
	if err := WriteMark(snapshot.Source{}, dir, "made"); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(stored); err != nil || string(data) != "of the store" {
		t.Errorf("the store holds %q: %v", data, err)
	}
}

func TestRenew(t *testing.T) {
	for _, tt := range []struct {
		name, mark   string
		force, owned bool
		kept, repair bool
	}{
		{name: "the same", mark: Made + "a", kept: true},
		{name: "another", mark: Made + "b"},
		{name: "forced", mark: Made + "a", force: true},
		{name: "unfinished", owned: true},
		{name: "of the user", kept: true, repair: true},
		{name: "of the user, forced", force: true, kept: true, repair: true},
		{name: "of the user, completed", mark: Found + "a", kept: true},
		{name: "of the user, completed by another", mark: Found + "b", kept: true, repair: true},
	} {
		dir := t.TempDir()
		inside, claims := filepath.Join(dir, Bin, "tool"), &adapters.Claims{}
		if tt.owned {
			claims.Begin([]string{filepath.Join(dir, Dir)})
		}
		adaptertest.Write(t, inside, "")
		if tt.mark != "" {
			adaptertest.Write(t, filepath.Join(dir, Mark), tt.mark)
		}
		warned := 0
		r, err := Renew(snapshot.Source{}, claims, dir, "a", tt.force, func(adapters.Log) { warned++ })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(inside); (err == nil) != tt.kept || r.Repair != tt.repair {
			t.Errorf("%s: %v, %+v", tt.name, err, r)
		}
		if _, err := os.Stat(filepath.Join(dir, Mark)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the mark stays: %v", tt.name, err)
		}
		if (warned > 0) != tt.owned {
			t.Errorf("%s: %d warnings", tt.name, warned)
		}
	}
}

// TestBegin: an environment is removed only if an install has made it and git tracks nothing in it.
func TestBegin(t *testing.T) {
	for _, tt := range []struct {
		name, mark string
		tracked    bool
		gone       bool
	}{
		{"of the user", "", false, false},
		{"of the user, completed", Found + "a", false, false},
		{"of bento", Made + "a", false, true},
		{"tracked", Made + "a", true, false},
	} {
		dir := t.TempDir()
		inside, claims := filepath.Join(dir, Bin, "tool"), &adapters.Claims{}
		adaptertest.Write(t, inside, "")
		if tt.mark != "" {
			adaptertest.Write(t, filepath.Join(dir, Mark), tt.mark)
		}
		if tt.tracked {
			claims.Tracked = func(string) error { return errors.New("git tracks it") }
		}
		err := Begin(snapshot.Source{}, claims, dir, nil)
		if _, gone := os.Stat(inside); (err == nil) != tt.gone || (gone != nil) != tt.gone {
			t.Errorf("%s: %v, %v", tt.name, err, gone)
		}
		if text, err := os.ReadFile(filepath.Join(dir, ignoreFile)); tt.gone && string(text) != "*\n" {
			t.Errorf("%s: git sees the environment: %q, %v", tt.name, text, err)
		}
	}
}

func TestVersion(t *testing.T) {
	bin := t.TempDir()
	env := adapters.Environ{"PATH=" + bin}
	script := func(text string) {
		adaptertest.Write(t, filepath.Join(bin, "poetry"), "#!/bin/sh\n"+text+"\n")
		if err := os.Chmod(filepath.Join(bin, "poetry"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	asker, at := probe.New(snapshot.Source{}, env), probe.At{Dir: bin, Path: filepath.Join(bin, "poetry")}
	ask := func() (string, error) { return Version(t.Context(), asker, probe.PoetryVersion, at) }
	var missing *adapters.MissingTool
	if _, err := FindTool(env, "poetry"); !errors.As(err, &missing) || missing.Hint == "" {
		t.Errorf("%v", err)
	}
	script("echo 'Configuration file exists at 1.2.3'; echo 'Poetry (version 2.5.1)'")
	if got, err := ask(); got != "2.5.1" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	script("echo 2.5.1")
	if got, err := ask(); err == nil {
		t.Errorf("%q", got)
	}
	script("echo broken >&2; exit 3")
	var refused *probe.Refusal
	if _, err := ask(); !errors.As(err, &refused) || refused.ExitStatus != 3 || refused.Stderr != "broken" {
		t.Errorf("%v", err)
	}
	script("echo no such version >&2; exit 127")
	if _, err := ask(); !errors.As(err, &missing) || missing.Hint != "no such version" {
		t.Errorf("%v", err)
	}
}

// A virtual environment behind a link that leads out of the workspace gets no mark, and
// what lies there stays, like the link itself.
func TestNoMarkBehindALinkOut(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, there := filepath.Join(dir, "ws"), filepath.Join(dir, "there")
	mark := filepath.Join(there, filepath.Base(Mark))
	adaptertest.Write(t, mark, "of somebody")
	if err := errors.Join(os.Mkdir(root, 0o755), os.Symlink(there, filepath.Join(root, Dir))); err != nil {
		t.Fatal(err)
	}
	s := snapshot.Options{Clone: clone.At(root)}.Source()
	if err := WriteMark(s, root, "made"); err == nil {
		t.Error("a mark was written behind the link")
	}
	if err := Begin(s, nil, root, nil); err == nil {
		t.Error("the link was replaced")
	}
	if r, err := Renew(s, nil, root, "of somebody", true, nil); err == nil {
		t.Errorf("%+v", r)
	}
	if data, err := os.ReadFile(mark); err != nil || string(data) != "of somebody" {
		t.Errorf("the mark there is %q: %v", data, err)
	}
	if _, err := os.Lstat(filepath.Join(root, Dir)); err != nil {
		t.Errorf("the link of the user is gone: %v", err)
	}
}
