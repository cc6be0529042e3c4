package host

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bentobuild/bento/adapters"
)

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// executable writes a file that can be executed.
func executable(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whatever is put in the place of a pinned file once it was looked at, what runs is
// what was pinned: a shell reads its script as it goes.
func TestPinnedContentRuns(t *testing.T) {
	const good, evil = "#!/bin/sh\nread line\necho good\n", "#!/bin/sh\nread line\necho evil\n"
	for name, swap := range map[string]func(dir string) error{
		"nothing": func(string) error { return nil },
		"content": func(dir string) error { return os.WriteFile(filepath.Join(dir, "lib", "tool"), []byte(evil), 0o755) },
		"file": func(dir string) error {
			return os.Rename(executable(t, filepath.Join(dir, "lib", "other"), evil), filepath.Join(dir, "lib", "tool"))
		},
		"link": func(dir string) error {
			executable(t, filepath.Join(dir, "far", "tool"), evil)
			return errors.Join(os.Remove(filepath.Join(dir, "bin")), os.Symlink("far", filepath.Join(dir, "bin")))
		},
		"directory": func(dir string) error {
			executable(t, filepath.Join(dir, "far", "tool"), evil)
			return errors.Join(os.Rename(filepath.Join(dir, "lib"), filepath.Join(dir, "gone")), os.Rename(filepath.Join(dir, "far"), filepath.Join(dir, "lib")))
		},
		"gone": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "lib")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			executable(t, filepath.Join(dir, "lib", "tool"), good)
			if err := os.Symlink("lib", filepath.Join(dir, "bin")); err != nil {
				t.Fatal(err)
			}
			c := Command{Argv: []string{filepath.Join(dir, "bin", "tool")}, SHA256: digestOf(good), Env: os.Environ()}
			stream, err := c.Launch(t.Context(), io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if err := swap(dir); err != nil {
				t.Error(err)
			}
			fmt.Fprintln(stream.Stdin, "go on")
			if said, _ := bufio.NewReader(stream.Stdout).ReadString('\n'); said != "good\n" {
				t.Errorf("%q runs", said)
			}
			stream.Stdin.Close()
			stream.Wait()
			stream.Stdout.Close()
		})
	}
}

func TestPinnedIsRefused(t *testing.T) {
	dir := t.TempDir()
	file := executable(t, filepath.Join(dir, "tool"), "#!/bin/sh\n")
	open := filepath.Join(dir, "open")
	executable(t, filepath.Join(open, "shell"), "#!/bin/sh\n")
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	direct, found := "#!"+open+"/shell -e\n", "#!/usr/bin/env -S X=1 shell\n"
	for want, c := range map[string]Command{
		"its sha256 is " + digestOf("#!/bin/sh\n") + " by now": {Argv: []string{file}, SHA256: digestOf("x")},
		"it is not a regular file":                             {Argv: []string{dir}, SHA256: digestOf("")},
		"its interpreter is " + open + "/shell, and anybody may write to " + open: {
			Argv: []string{executable(t, filepath.Join(dir, "direct"), direct)}, SHA256: digestOf(direct),
		},
		"its interpreter is " + open + "/shell, and anybody": {
			Argv: []string{executable(t, filepath.Join(dir, "found"), found)}, SHA256: digestOf(found), Env: []string{"PATH=" + open},
		},
	} {
		_, err := c.Launch(t.Context(), io.Discard)
		var f *adapters.Failure
		if !errors.As(err, &f) || f.Code != adapters.NotTrusted || !strings.Contains(f.Message, want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
