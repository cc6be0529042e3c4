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

// executable writes an executable file.
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

// The pinned content runs, even if the file is replaced after the check. A shell reads its script while it
// runs it.
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

// The copy that runs is sealed: even its owner, who can open it in /proc, cannot change it.
func TestPinnedCopyIsSealed(t *testing.T) {
	path := executable(t, filepath.Join(t.TempDir(), "tool"), "#!/bin/sh\n")
	copied, err := pinned(path, digestOf("#!/bin/sh\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if _, err := copied.WriteAt([]byte("x"), 0); err == nil {
		t.Error("the copy can be written")
	}
	if err := copied.Truncate(1); err == nil {
		t.Error("the copy can be cut")
	}
	again, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", copied.Fd()), os.O_WRONLY, 0)
	if err == nil {
		_, err = again.WriteAt([]byte("x"), 0)
		again.Close()
	}
	if err == nil {
		t.Error("the copy can be opened and written")
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
	direct, found := "#!"+open+"/shell -e\n", "#!/usr/bin/env shell\n"
	for want, c := range map[string]Command{
		"its sha256 is now " + digestOf("#!/bin/sh\n"): {Argv: []string{file}, SHA256: digestOf("x")},
		"it is not a regular file":                     {Argv: []string{dir}, SHA256: digestOf("")},
		"its interpreter is " + open + "/shell, and everyone may write to " + open: {
			Argv: []string{executable(t, filepath.Join(dir, "direct"), direct)}, SHA256: digestOf(direct),
		},
		"its interpreter is " + open + "/shell, and everyone": {
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

// trustInterpreter follows the interpreters of a script to the last one, and refuses a first line that it
// does not understand.
func TestInterpretersOfAPinnedScript(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	evil := executable(t, filepath.Join(open, "evil"), "#!/bin/sh\n")
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	wrap := executable(t, filepath.Join(dir, "bin", "wrap"), "#!"+evil+"\n")
	executable(t, filepath.Join(dir, "bin", "twice"), "#!"+wrap+"\n")
	fine := executable(t, filepath.Join(dir, "bin", "fine"), "#!/bin/sh\n")
	endless := filepath.Join(dir, "bin", "endless")
	executable(t, endless, "#!"+endless+"\n")
	if err := os.Symlink("/usr/bin/env", filepath.Join(dir, "bin", "other")); err != nil {
		t.Fatal(err)
	}
	const unclear = "required \"#!\" with an absolute path"
	theirs := "its interpreter is " + evil + ", and everyone may write to " + open
	env := adapters.Environ{"PATH=" + filepath.Join(dir, "bin") + ":/usr/bin:/bin"}
	for line, want := range map[string]string{
		"\x7fELF": "", "#!/bin/sh": "", "#! /bin/sh -e ": "", "#!/usr/bin/env sh": "", "#!" + fine: "", "#!/usr/bin/env fine": "",
		"#!" + evil: theirs, "#!" + wrap: theirs, "#!/usr/bin/env wrap": theirs, "#!/usr/bin/env twice": theirs,
		"#!" + endless:                       "and so on: more than 8",
		"#!/usr/bin/env missing-xyz":         "its interpreter missing-xyz is not found in PATH",
		"#!/usr/bin/env -S -u FOO sh":        unclear,
		"#!/usr/bin/env -S env sh":           unclear,
		"#!/usr/bin/env -S sh":               unclear,
		"#!/usr/bin/env -Ssh":                unclear,
		"#!/usr/bin/env env":                 unclear,
		"#!/usr/bin/env other":               unclear,
		"#!/usr/bin/env X=1":                 unclear,
		"#!/usr/bin/env open/evil":           unclear,
		"#!/usr/bin/env":                     unclear,
		"#!" + dir + "/bin/other -Ssh":       unclear,
		"#!/usr/bin/nice " + evil:            unclear,
		"#!/bin/sh open/evil":                unclear,
		"#!/bin/sh -e " + evil:               unclear,
		"#!/usr/bin/perl -I" + open:          unclear,
		"#!bin/sh":                           unclear,
		"#!":                                 unclear,
		"#!/bin/sh\v":                        unclear,
		"#!/bin/" + strings.Repeat("x", 300): unclear,
	} {
		err := trustInterpreter([]byte(line + "\n")[:min(len(line)+1, startLength)], env)
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", line, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
	if err := trustInterpreter([]byte("#!/usr/bin/env sh\n"), adapters.Environ{"PATH=/usr/bin::/bin"}); err == nil || !strings.Contains(err.Error(), "not absolute") {
		t.Errorf("a PATH with an empty entry: %v", err)
	}
}

func TestPlainOptions(t *testing.T) {
	for _, s := range []string{"-a", "-z", "-A", "-Z", "-0", "-9", "-I", "--no-site", "-s-S"} {
		if !isPlainOption(s) {
			t.Errorf("%q is refused", s)
		}
	}
	for _, s := range []string{"", "-", "a", "-a=b", "-a/b", "-@", "-[", "-`", "-{", "-/", "-:", "- ", "-ä"} {
		if isPlainOption(s) {
			t.Errorf("%q is accepted", s)
		}
	}
}
