package environment

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
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
	if err := WriteMark(dir, "made"); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(stored); err != nil || string(data) != "of the store" {
		t.Errorf("the store holds %q: %v", data, err)
	}
}

func TestRenew(t *testing.T) {
	for _, tt := range []struct {
		name, mark string
		force      bool
		kept       bool
	}{
		{"the same", "a", false, true},
		{"another", "b", false, false},
		{"forced", "a", true, false},
		{"unfinished", "", false, false},
	} {
		dir := t.TempDir()
		inside := filepath.Join(dir, Bin, "tool")
		adaptertest.Write(t, inside, "")
		if tt.mark != "" {
			adaptertest.Write(t, filepath.Join(dir, Mark), tt.mark)
		}
		warned := 0
		if err := Renew(dir, "a", tt.force, func(adapters.Log) { warned++ }); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(inside); (err == nil) != tt.kept {
			t.Errorf("%s: %v", tt.name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, Mark)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the mark stays: %v", tt.name, err)
		}
		if (warned > 0) != (tt.mark == "") {
			t.Errorf("%s: %d warnings", tt.name, warned)
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
	asker, at := probe.New(adapters.Source{}, env), probe.At{Dir: bin, Path: filepath.Join(bin, "poetry")}
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
	if _, err := ask(); !errors.As(err, &refused) || refused.ExitStatus != 3 || refused.Said != "broken" {
		t.Errorf("%v", err)
	}
	script("echo no such version >&2; exit 127")
	if _, err := ask(); !errors.As(err, &missing) || missing.Hint != "no such version" {
		t.Errorf("%v", err)
	}
}
