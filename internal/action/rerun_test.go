package action

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/plan"
)

func TestAppend(t *testing.T) {
	for command, want := range map[string]string{
		"lint":                          "lint --json",
		"lint run ./...":                "lint run ./... --json",
		"cargo clippy -- -D warnings":   "cargo clippy --json -- -D warnings",
		"lint -- a -- b":                "lint --json -- a -- b",
		"a -- x && b":                   "a -- x && b --json",
		"cd sub && lint":                "cd sub && lint --json",
		"cd sub && lint | tee log":      "cd sub && lint --json | tee log",
		"lint | tee -- log":             "lint --json | tee -- log",
		"lint || true":                  "lint --json || true",
		"lint |& cat":                   "lint --json |& cat",
		"lint 2>&1 >out":                "lint 2>&1 >out --json",
		"lint >out 2>&1 | cat":          "lint >out 2>&1 --json | cat",
		"lint &>out":                    "lint &>out --json",
		"lint;":                         "lint --json ;",
		"a; lint\n":                     "a; lint --json \n",
		"set -e\nlint 'a;b' \"c|d\"":    "set -e\nlint 'a;b' \"c|d\" --json",
		"X=1 lint \"$(cat 'f;g')\"":     "X=1 lint \"$(cat 'f;g')\" --json",
		"lint ${X:-a b} $((1+2)) `ls`":  "lint ${X:-a b} $((1+2)) `ls` --json",
		"lint \"it's\" a#b \\; \\\"":    "lint \"it's\" a#b \\; \\\" --json",
		"lint $(find . -name '*.c') $X": "lint $(find . -name '*.c') $X --json",
		"! lint":                        "! lint --json",
		"'lint tool' --":                "'lint tool' --json --",
	} {
		if got, ok := appendArgs(command, []string{"--json"}); got != want || !ok {
			t.Errorf("%q:\n got %q, %v\nwant %q", command, got, ok, want)
		}
	}
	for _, command := range []string{
		"", " ", ";", "lint &", "server & lint &", "(cd a; lint)", "{ lint; }", "if true; then lint; fi", "for f in *; do lint $f; done",
		"lint # all of it", "cat <<E\nE\n", "lint < <(ls)", "f() { lint; }", "lint '", "lint \"", "lint $(ls", "lint `ls", "lint ${a", "a &&", "lint >", "| lint", "lint \\",
		"while true; do lint; done", "[[ -f x ]] && (lint)",
	} {
		if got, ok := appendArgs(command, []string{"--json"}); ok {
			t.Errorf("%q: got %q, want none", command, got)
		}
	}
}

// What is appended reaches the command as it is.
func TestAppendIsQuoted(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh is not installed")
	}
	args := []string{"--format", "json pretty", "it's", "$HOME", "", "*", `a"b\`, "über"}
	for _, command := range []string{"show", "cd / && show", "show | cat", "show || false", "show 2>&1", "show;"} {
		got, ok := appendArgs(command, args)
		if !ok {
			t.Fatalf("%q: no place", command)
		}
		out, err := exec.CommandContext(t.Context(), sh, "-c", "show() { printf '%s\\n' \"$@\"; }\n"+got).CombinedOutput()
		if diff := cmp.Diff(strings.Join(args, "\n")+"\n", string(out)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", got, err, diff)
		}
	}
}

// Whatever a command is, adding to it neither fails badly nor loses any of it.
func FuzzAppend(f *testing.F) {
	f.Add("cd a && lint -- x | tee \"$(b)\"")
	f.Add("a; 'b' ${c} \\")
	f.Fuzz(func(t *testing.T, command string) {
		got, ok := appendArgs(command, []string{"\x00x\x00"})
		if !ok {
			return
		}
		rest := strings.Replace(got, "'\x00x\x00'", "", 1)
		squeeze := func(s string) string { return strings.NewReplacer(" ", "", "\t", "").Replace(s) }
		if squeeze(rest) != squeeze(command) {
			t.Fatalf("%q became %q", command, got)
		}
	})
}

func TestOf(t *testing.T) {
	hook := func(kind, command string, args ...string) *adapters.Hook {
		return &adapters.Hook{Rerun: adapters.Rerun{Kind: kind, Command: command, Args: args}}
	}
	for name, c := range map[string]struct {
		task *plan.Task
		want *plan.Task // the expected task; nil for none
	}{
		"no hook":      {&plan.Task{Run: "lint"}, nil},
		"append":       {&plan.Task{Run: "lint", Args: []string{"x"}, Hook: hook("append_args", "", "-j", "a b")}, &plan.Task{Run: "lint -j 'a b'", Args: []string{"x"}}},
		"append none":  {&plan.Task{Run: "lint", Hook: hook("append_args", "")}, nil},
		"append argv":  {&plan.Task{Argv: []string{"lint", "--", "x"}, Hook: hook("append_args", "", "-j", "a b")}, &plan.Task{Argv: []string{"lint", "-j", "a b", "--", "x"}}},
		"append long":  {&plan.Task{Run: "for f in *; do lint; done", Hook: hook("append_args", "", "-j")}, nil},
		"replace":      {&plan.Task{Run: "lint", Args: []string{"x"}, Hook: hook("replace", "lint -j")}, &plan.Task{Run: "lint -j"}},
		"replace argv": {&plan.Task{Argv: []string{"lint"}, Hook: hook("replace", "lint -j")}, &plan.Task{Run: "lint -j"}},
		"only parsed":  {&plan.Task{Run: "lint", Hook: hook("", "")}, nil},
		"side effects": {&plan.Task{Run: "lint", SideEffects: true, Hook: hook("replace", "lint -j")}, nil},
		"persistent":   {&plan.Task{Run: "lint", Persistent: true, Hook: hook("replace", "lint -j")}, nil},
	} {
		got, ok := Again(c.task)
		if ok != (c.want != nil) {
			t.Errorf("%s: got %+v, %v", name, got, ok)
			continue
		}
		if ok && !cmp.Equal([]any{got.Run, got.Argv, got.Args}, []any{c.want.Run, c.want.Argv, c.want.Args}) {
			t.Errorf("%s: got %q %q %q, want %q %q %q", name, got.Run, got.Argv, got.Args, c.want.Run, c.want.Argv, c.want.Args)
		}
	}
}
