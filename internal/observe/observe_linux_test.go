//go:build amd64 || arm64

package observe

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/proc"
)

// The test binary is also the helper that Start runs, and the programs of the tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		become(os.Args[1], os.Args[2:])
	}
	os.Exit(m.Run())
}

// needObserver skips a test where nothing can be observed.
func needObserver(t *testing.T) {
	t.Helper()
	if why := Offered(); why != "" {
		t.Skip(why)
	}
}

// run observes a command in root, and returns what it printed and its report.
func run(t *testing.T, root string, argv ...string) (string, *action.Used) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	res, used, err := observe(t.Context(), self, root, &out, argv)
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("%q exited with status %d, %v: %s", argv, res.ExitCode, err, out.String())
	}
	return out.String(), used
}

// observe observes a command in root; self is the test binary.
func observe(ctx context.Context, self, root string, out io.Writer, argv []string) (res proc.Result, used *action.Used, err error) {
	c := &action.Command{
		Spec: proc.Spec{Argv: argv, Dir: root, Env: os.Environ(), Stdout: out, Stderr: out},
		Used: func(u *action.Used) { used = u },
	}
	x, err := (&Executor{Root: root, Self: self, Name: self}).Start(ctx, c)
	if err != nil {
		return res, nil, err
	}
	res, err = x.Wait()
	return res, used, err
}

// tree makes files with their path as content, and directories, in a new directory.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if from, to, ok := strings.Cut(name, " -> "); ok {
			err = os.Symlink(to, filepath.Join(root, from))
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o777)
		} else {
			err = os.WriteFile(path, []byte(name), 0o777)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// lines writes a report as text.
func lines(root string, r *action.Used) []string {
	var list []string
	for _, f := range r.Files {
		var uses []string
		for i, name := range []string{"read", "list", "stat", "write", "remove"} {
			if f.Use&(1<<i) != 0 {
				uses = append(uses, name)
			}
		}
		if f.Absent {
			uses = append(uses, "absent")
		}
		rel, _ := filepath.Rel(root, f.Path)
		list = append(list, rel+": "+strings.Join(uses, " "))
	}
	for _, why := range r.Unseen {
		list = append(list, "unseen: "+why)
	}
	return list
}

func TestUses(t *testing.T) {
	needObserver(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sh := func(script string) []string { return []string{"/bin/sh", "-c", script} }
	st := func(args ...string) []string { return append([]string{self, "static"}, args...) }
	for name, c := range map[string]struct {
		tree []string
		argv []string
		want []string
	}{
		"a file is read":                     {[]string{"a", "b"}, sh("cat a"), []string{"a: read"}},
		"by a static program":                {[]string{"a", "b"}, st("read:a"), []string{"a: read"}},
		"a missing file":                     {nil, st("read:d/a"), []string{"d/a: read absent"}},
		"a directory is listed":              {[]string{"d/a"}, st("list:d"), []string{"d: list stat"}},
		"whether a file exists":              {[]string{"a"}, st("stat:a", "stat:b"), []string{"a: stat", "b: stat absent"}},
		"written, then read":                 {nil, st("write:a", "read:a"), []string{"a: write absent"}},
		"read, then written":                 {[]string{"a"}, st("read:a", "write:a"), []string{"a: read write"}},
		"appended":                           {[]string{"a"}, sh("echo >> a"), []string{"a: read write"}},
		"through a link":                     {[]string{"d/a", "l -> d"}, st("read:l/a"), []string{"d/a: read", "l: read"}},
		"a link in the last place":           {[]string{"d/a", "l -> d/a"}, st("read:l"), []string{"d/a: read", "l: read"}},
		"through ..":                         {[]string{"d/a", "e/f/b", "e/l -> f"}, st("read:e/l/../../d/a"), []string{"d/a: read", "e/l: read"}},
		"a script and its interpreter":       {[]string{"bin/in"}, sh("printf '#!/bin/sh\n:' > s; cp bin/in t; true"), []string{"bin/in: read stat", "s: write absent", "t: stat write absent"}},
		"renamed":                            {[]string{"a"}, st("rename:a:b"), []string{"a: read remove", "b: stat write absent"}},
		"a directory made aside and renamed": {nil, sh("mkdir tmp; echo x > tmp/f; mv tmp out"), []string{"out: write absent", "out/f: write absent", "tmp: write remove absent"}},
		"removed":                            {[]string{"a"}, sh("rm a"), []string{"a: stat remove"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, c.tree...)
			_, r := run(t, root, c.argv...)
			if diff := cmp.Diff(c.want, drop(lines(root, r))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// drop drops the root itself, which shells look at.
func drop(list []string) []string {
	var kept []string
	for _, line := range list {
		if !strings.HasPrefix(line, ".:") {
			kept = append(kept, line)
		}
	}
	return kept
}

// Programs use files by ordinary calls where there are no rings.
func TestRingsAreMissing(t *testing.T) {
	needObserver(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := run(t, tree(t), self, "static", "ring:")
	if want := "function not implemented\n"; out != want {
		t.Errorf("io_uring_setup: want %q, got %q", want, out)
	}
}

func TestStartTellsOfAMissingProgram(t *testing.T) {
	needObserver(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &action.Command{Spec: proc.Spec{Argv: []string{"/does/not/exist"}, Dir: "/"}}
	_, err = (&Executor{Root: "/", Self: self, Name: self}).Start(context.Background(), c)
	if err == nil || !strings.Contains(err.Error(), "/does/not/exist") {
		t.Errorf("want an error that names the program, got %v", err)
	}
}
