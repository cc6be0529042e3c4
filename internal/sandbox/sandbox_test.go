package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/internal/proc"
)

func TestPolicyAsArguments(t *testing.T) {
	for _, p := range []Policy{
		{},
		{Network: true},
		{Tasks: 7},
		{Read: []string{"/a b", "/\xff\n", "/--"}, Write: []string{"/n", "/w"}},
	} {
		argv := []string{"/bin/sh", "-c", "--", "n"}
		got, in, rest, err := parse(append(p.args("/g x"), argv...))
		if err != nil || in != "/g x" {
			t.Fatal(in, err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Errorf("policy (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(argv, rest); diff != "" {
			t.Errorf("program (-want +got):\n%s", diff)
		}
	}
	for _, bad := range [][]string{nil, {"--"}, {"n"}, {"r/a"}, {"x/a", "--", "/bin/sh"}, {"rel", "--", "/bin/sh"}, {"", "--", "/bin/sh"}, {"t", "--", "/bin/sh"}, {"t-1", "--", "/bin/sh"}, {"grel", "--", "/bin/sh"}} {
		if _, _, _, err := parse(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestLacks(t *testing.T) {
	for _, c := range []struct {
		offer Offer
		want  []string // a part of each
	}{
		{Offer{Landlock: 7, Seccomp: true}, nil},
		{Offer{Landlock: 3, Seccomp: true}, nil},
		{Offer{Landlock: 2, Seccomp: true}, []string{"truncating"}},
		{Offer{Landlock: 7}, []string{"network"}},
		{Offer{}, []string{"reading and writing", "network"}},
	} {
		got := c.offer.Lacks()
		if len(got) != len(c.want) {
			t.Errorf("%+v: %q, want %q", c.offer, got, c.want)
			continue
		}
		for i, part := range c.want {
			if !strings.Contains(got[i], part) {
				t.Errorf("%+v: %q, want %q", c.offer, got, c.want)
			}
		}
	}
}

// run runs a program under p, and returns its output.
func run(t *testing.T, p Policy, argv ...string) string {
	t.Helper()
	out, err := try(t, p, argv...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func try(t *testing.T, p Policy, argv ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	child, err := Start(proc.Spec{Argv: argv, Env: os.Environ(), Stdout: &out, Stderr: &out}, p, self(t))
	if err != nil {
		return "", err
	}
	if res := child.Wait(context.Background()); res.ExitCode != 0 {
		t.Logf("%q: %+v\n%s", argv, res, out.String())
	}
	return out.String(), nil
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// withSelf lets a program read what it needs, and run this one.
func withSelf(t *testing.T, p Policy) Policy {
	t.Helper()
	p.Read = append(append(System(), self(t)), p.Read...)
	return p
}

// A program that cannot be started is an error of Start, as without a sandbox.
func TestStartFails(t *testing.T) {
	if Offered() == (Offer{}) {
		t.Skip("this kernel offers no sandbox")
	}
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		text:                         "exec " + text + ": exec format error",
		filepath.Join(dir, "absent"): "exec " + filepath.Join(dir, "absent") + ": no such file or directory",
	} {
		if _, err := try(t, withSelf(t, Policy{Read: []string{dir}}), path); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err := try(t, withSelf(t, Policy{Write: []string{filepath.Join(dir, "gone")}}), "/bin/true")
	if Offered().Landlock > 0 && (err == nil || !strings.Contains(err.Error(), "gone: no such file")) {
		t.Errorf("a scratch directory that is missing: %v", err)
	}
	_, err = Start(proc.Spec{Argv: []string{"/bin/true"}}, Policy{}, filepath.Join(dir, "no-helper"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a helper that is missing: %v", err)
	}
}
