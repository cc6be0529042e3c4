package wasm

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/adapters"
)

func TestGuestAnswers(t *testing.T) {
	tool := open(t, Options{})
	for _, tt := range []struct {
		input string
		want  adapters.ToolAnswer
	}{
		{"echo hé", adapters.ToolAnswer{Output: "hé"}},
		{"warn careful", adapters.ToolAnswer{Output: "done", Warning: "careful"}},
		{"calls", adapters.ToolAnswer{Output: "1"}},
		{"calls", adapters.ToolAnswer{Output: "1"}}, // a fresh instance each call
		{"env", adapters.ToolAnswer{}},
		{"args", adapters.ToolAnswer{}},
	} {
		got, err := do(t, tool, say(tt.input))
		if err != nil || got != tt.want {
			t.Errorf("%q: got %+v, %v, want %+v", tt.input, got, err, tt.want)
		}
	}
	c := say("root")
	c.Root = "/work space"
	if got := must(t, tool, c); got != c.Root {
		t.Errorf("workspace_root: got %q, want %q", got, c.Root)
	}
}

func TestGuestError(t *testing.T) {
	_, err := do(t, open(t, Options{}), say("fail no such thing"))
	var e *adapters.ToolError
	if !errors.As(err, &e) || e.Message != "no such thing" || e.Tool != "probe" {
		t.Errorf("got %v, want a ToolError with the message", err)
	}
}

func TestGuestLogs(t *testing.T) {
	var got []string
	c := say("log a message")
	c.Log = func(line string) { got = append(got, line) }
	must(t, open(t, Options{}), c)
	if want := []string{"[INFO] a message", "to stderr", "to stdout"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGuestReadsWorkspace(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "secret"), "secret")
	for _, name := range []string{"a.txt", "dir/b.txt", ".git/config", ".bento/state", "sub/.GIT/config"} {
		write(t, filepath.Join(root, name), "text of "+name)
	}
	for name, target := range map[string]string{
		"out": filepath.Join(outside, "secret"), "up": "../" + filepath.Base(outside) + "/secret", "outdir": outside,
		"in": "dir/b.txt", "hidden": ".git/config", "loop": "loop", "dir/back": "../.git", "absin": filepath.Join(root, "a.txt"),
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	tool := open(t, Options{ReadWorkspace: true})
	ask := func(input string) (string, error) {
		c := say(input)
		c.Root = root
		a, err := do(t, tool, c)
		return a.Output, err
	}
	for input, want := range map[string]string{
		"read a.txt": "text of a.txt", "read dir/b.txt": "text of dir/b.txt", "read in": "text of dir/b.txt", "read ./dir/../a.txt": "text of a.txt",
		"list .": "a.txt absin dir hidden in loop out outdir sub up", "list sub": "",
	} {
		if got, err := ask(input); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", input, got, err, want)
		}
	}
	for _, input := range []string{
		"read out", "read up", "read outdir/secret", "list outdir", "read .git/config", "read .bento/state", "read .GIT/config",
		"read sub/.GIT/config", "read hidden", "read dir/back/config", "list .git", "list dir/back", "read loop", "read absin",
		"read ../" + filepath.Base(outside) + "/secret", "read " + filepath.Join(outside, "secret"), "read /etc/passwd", "read dir/../../etc/passwd",
		"write a.txt x", "write new x", "symlink a.txt new", "link a.txt new", "tree .",
	} {
		if got, err := ask(input); err == nil {
			t.Errorf("%q: got %q, want an error", input, got)
		}
	}
	if got, err := os.ReadFile(filepath.Join(root, "a.txt")); err != nil || string(got) != "text of a.txt" {
		t.Errorf("a.txt: got %q, %v", got, err)
	}
}

// TestGuestReadsNothingElse tries names that are no files of the workspace, with the grant to read the
// workspace and without it.
func TestGuestReadsNothingElse(t *testing.T) {
	root, cache := t.TempDir(), t.TempDir()
	if err := unix.Mkfifo(filepath.Join(root, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	listening, err := net.Listen("unix", filepath.Join(root, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer listening.Close()
	for name, target := range map[string]string{"process": "/proc/self", "null": "/dev/null", "stored": cache} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(cache, "compiled"), "code")
	t.Setenv("A_SECRET", "secret")
	inputs := []string{
		"read /proc/self/environ", "read /proc/self/fd/0", "list /proc/self/root", "read process/environ", "list process/fd", "read null", "read /dev/null",
		"read pipe", "read socket", "read stored/compiled", "list " + cache, "read " + filepath.Join(cache, "compiled"), "write /dev/stdout x", "write pipe x",
		"read ../../../../../../../../../etc/passwd", "read ./dir/../../x", "read ",
	}
	for n := range 40 { // 0 to 2 are the streams of the guest, 3 may be the workspace; bento has more open files
		if n > 2 {
			inputs = append(inputs, fmt.Sprintf("descriptor %d", n))
		}
		inputs = append(inputs, fmt.Sprintf("accept %d", n))
	}
	for _, granted := range []bool{true, false} {
		tool := open(t, Options{ReadWorkspace: granted})
		for _, input := range inputs {
			c := say(input)
			c.Root = root
			if a, err := do(t, tool, c); err == nil {
				t.Errorf("granted %v, %q: got %q, want an error", granted, input, a.Output)
			}
		}
		for _, input := range []string{"env", "args", "descriptor 0"} {
			if got := must(t, tool, say(input)); got != "" {
				t.Errorf("granted %v, %q: got %q, want nothing", granted, input, got)
			}
		}
	}
}

func TestGuestWithoutGrantSeesNoFile(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a.txt"), "text")
	tool := open(t, Options{})
	for _, input := range []string{"read a.txt", "list .", "list /", "read " + filepath.Join(root, "a.txt"), "write x y"} {
		c := say(input)
		c.Root = root
		if a, err := do(t, tool, c); err == nil {
			t.Errorf("%q: got %q, want an error", input, a.Output)
		}
	}
}

func TestGuestWritesOut(t *testing.T) {
	root, out := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, "a.txt"), "text")
	tool := open(t, Options{ReadWorkspace: true})
	ask := func(input string) error {
		c := say(input)
		c.Root, c.Out = root, out
		_, err := do(t, tool, c)
		return err
	}
	if err := ask("tree " + out); err != nil {
		t.Fatal(err)
	}
	if err := ask("read a.txt"); err != nil {
		t.Error(err)
	}
	got, err := os.ReadFile(filepath.Join(out, "d"))
	if err != nil || string(got) != "first second" {
		t.Errorf("d: got %q, %v", got, err)
	}
	if names := list(t, out); !cmp.Equal(names, []string{"d"}) {
		t.Errorf("out has %q", names)
	}
	for _, input := range []string{
		"symlink /etc/passwd " + out + "/l", "link " + out + "/d " + out + "/l", "write " + out + "/../x y", "write a.txt y", "write " + root + "/x y",
	} {
		if err := ask(input); err == nil {
			t.Errorf("%q: got no error", input)
		}
	}
	if names := list(t, root); !cmp.Equal(names, []string{"a.txt"}) {
		t.Errorf("the workspace has %q", names)
	}
}

func TestGuestFails(t *testing.T) {
	tool := open(t, Options{})
	for _, tt := range []struct {
		input   string
		code    adapters.Code
		message string
		stderr  string
	}{
		{"panic at the disco", adapters.Crashed, "az_tool_execute call failed: ", "panic: at the disco"},
		{"exit", adapters.Crashed, "az_tool_execute call failed: the module called proc_exit(3)", ""},
		{"grow", adapters.Crashed, "az_tool_execute call failed: ", "out of memory"},
	} {
		_, err := do(t, tool, say(tt.input))
		wantFailure(t, err, tt.code, tt.message)
		var f *adapters.Failure
		if errors.As(err, &f) && !strings.Contains(f.Stderr, tt.stderr) {
			t.Errorf("%q: stderr is %q, want %q", tt.input, f.Stderr, tt.stderr)
		}
	}
}

func TestGuestTimesOut(t *testing.T) {
	tool := open(t, Options{Timeout: 200 * time.Millisecond})
	for _, input := range []string{"spin", "sleep"} {
		_, err := do(t, tool, say(input))
		wantFailure(t, err, adapters.Timeout, "plugin execution exceeded time limit (200 ms)")
	}
}

func wantFailure(t *testing.T, err error, code adapters.Code, message string) {
	t.Helper()
	var f *adapters.Failure
	if !errors.As(err, &f) {
		t.Errorf("got %v, want a failure %s with %q", err, code, message)
		return
	}
	if f.Code != code || !strings.Contains(f.Message, message) {
		t.Errorf("got %s: %s\nwant %s: %s", f.Code, f.Message, code, message)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
