//go:build amd64 || arm64

package confine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/observe"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/record"
	"github.com/bentobuild/bento/internal/sandbox"
	"github.com/bentobuild/bento/internal/tree"
)

// The test binary is also the helpers that Start runs, and what runs the cases as another user.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 {
		switch os.Args[1] {
		case observe.Command:
			_ = observe.Enter(os.Args[2:])
			os.Exit(126)
		case sandbox.RulesCommand:
			fmt.Fprintln(os.Stderr, sandbox.EnterRules(os.Args[2:]))
			os.Exit(126)
		case "cases":
			os.Exit(runCases(os.Args[2]))
		}
	}
	os.Exit(m.Run())
}

// files are the files of each case, by path. Those with "in" in their names may be read; those below app/out, the file
// app/made and what tools make in app/cache may be changed.
var files = []string{"app/in.txt", "app/src/in.txt", "app/secret.txt", "app/src/secret.txt", "lib/in.txt", "lib/secret.txt", "top.txt", ".git/HEAD"}

// reachOf returns what the command of a case may use.
func reachOf(root string, outputs ...string) (*record.Reach, error) {
	r := &record.Reach{Root: root, Files: make(map[string]bool)}
	for _, p := range files {
		r.Files[p] = strings.Contains(p, "in.txt")
	}
	var err error
	r.Change = outputs
	for _, o := range outputs {
		r.Roots = append(r.Roots, "app/"+strings.TrimSuffix(o, "/**"))
	}
	if len(outputs) > 0 {
		r.Areas = []string{"app"}
	}
	if r.Changes, err = tree.CompileSet("app", outputs); err == nil {
		r.Elsewhere, err = tree.CompileSet("app", nil)
	}
	return r, err
}

// makeTree makes the files in root; without those of the command's own directory that it may not read if open is set.
func makeTree(root string, open bool) error {
	for _, p := range files {
		if open && strings.HasPrefix(p, "app/") && strings.Contains(p, "secret") {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, p)), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, p), []byte(p+"\n"), 0o666); err != nil {
			return err
		}
	}
	return os.Symlink("../lib/secret.txt", filepath.Join(root, "app/link"))
}

const (
	good   = "ok"
	denied = "denied"
)

var cases = []struct {
	name, script string
	outputs      []string
	open         bool   // the directory has no file that may not be read
	observe      bool   // the execution is observed
	want         string // good, or denied
}{
	{name: "an input", script: "cat in.txt src/in.txt ../lib/in.txt", want: good},
	{name: "what is none", script: "cat secret.txt", want: denied},
	{name: "of another directory", script: "cat ../lib/secret.txt", want: denied},
	{name: "of the root", script: "cat ../top.txt", want: denied},
	{name: "behind a link", script: "cat link", want: denied},
	{name: "what is none, observed", script: "cat secret.txt", observe: true, want: denied},
	{name: "an input, observed", script: "cat in.txt src/in.txt ../lib/in.txt", observe: true, want: good},
	{name: "of git", script: "cat ../.git/HEAD", want: good},
	{name: "a listing", script: "ls . .. ../lib && test -e secret.txt && test -d ../lib", want: good},
	{name: "outside", script: "cat /etc/passwd && ls /", want: good},
	{name: "a write", script: "echo x > out.txt", want: denied},
	{name: "a write outside", script: "echo x > $HOME/x", want: denied},
	{name: "a cache", script: "echo x > $HOME/.cache/x && cat $HOME/.cache/x", want: good},
	{name: "temporary files", script: "echo x > $TMPDIR/x && mv $TMPDIR/x $TMPDIR/y && cat $TMPDIR/y && cat <<E\nx\nE", want: good},
	{name: "devices", script: "echo x > /dev/null && head -c 1 /dev/urandom > /dev/null", want: good},
	{name: "another program", script: "sh -c 'cat in.txt | tr a b'", want: good},

	{name: "a directory made again", outputs: []string{"out/**"}, script: "rm -rf out && mkdir out && echo x > out/a && rm -r out && mkdir -p out/b && echo x > out/b/c && cat out/b/c", want: good},
	{name: "a file of its own", outputs: []string{"made"}, script: "echo x > made && cat made && rm made && echo y > made && cat made", want: good},
	{name: "a file with another name first", outputs: []string{"made"}, script: "echo x > made.tmp && cat made.tmp && mv made.tmp made && echo y > .made.1 && mv .made.1 made", want: good},
	{name: "a directory with another name first", outputs: []string{"out/**"}, script: "mkdir out123 && echo x > out123/a && mv out123 out && cat out/a", want: good},
	{name: "from the temporary directory", outputs: []string{"made"}, script: "echo x > $TMPDIR/made && mv $TMPDIR/made made", want: good},
	{name: "a secret beside an output", outputs: []string{"made"}, script: "cat secret.txt > made", want: denied},
	{name: "a secret elsewhere beside an output", outputs: []string{"made"}, script: "cat ../lib/secret.txt > made", want: denied},
	{name: "a new file while it runs", outputs: []string{"made"}, script: "echo x > st123 && cat st123 && mv st123 made && echo x > st124 && rm st124", want: good},
	{name: "what no output covers", outputs: []string{"made"}, script: "echo x > stray", want: "left"},
	{name: "a directory that no output covers", outputs: []string{"made"}, script: "mkdir stray", want: denied},
	{name: "a file of another directory", outputs: []string{"made"}, script: "echo x > ../lib/stray", want: denied},
	{name: "an input changed", outputs: []string{"made"}, script: "echo x > in.txt", want: denied},
	{name: "an input removed", outputs: []string{"made"}, script: "rm in.txt", want: denied},
	{name: "what no output covers, open", outputs: []string{"made"}, open: true, script: "echo x > stray", want: "left"},
	{name: "a file of its own, open", outputs: []string{"made"}, open: true, script: "cat src/in.txt > made && cat made", want: good},
	{name: "elsewhere, open", outputs: []string{"made"}, open: true, script: "cat ../lib/secret.txt > made", want: denied},
}

// runCases runs all cases below a directory and returns the exit code.
func runCases(dir string) (code int) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	home := filepath.Join(dir, "home")
	_ = os.Mkdir(home, 0o755)
	for i, c := range cases {
		root := filepath.Join(dir, fmt.Sprint(i))
		if err := makeTree(root, c.open); err != nil {
			panic(err)
		}
		reach, err := reachOf(root, c.outputs...)
		if err != nil {
			panic(err)
		}
		var out strings.Builder
		command := &action.Command{Spec: proc.Spec{
			Argv: []string{"/bin/sh", "-e", "-c", c.script}, Dir: filepath.Join(root, "app"), Stdout: &out, Stderr: &out,
			Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C", "TMPDIR=" + dir},
		}}
		var used *action.Used
		command.Used = func(u *action.Used) { used = u }
		x := &Executor{Observer: &observe.Executor{Root: root, Self: self, Name: self}, Self: self, Reach: reach, Observe: c.observe}
		res, err := action.Run(context.Background(), x, command, nil)
		got := good
		if err == nil && res.ExitCode != 0 && strings.Contains(strings.ToLower(out.String()), "permission denied") {
			got = denied
		} else if errors.As(err, new(*action.StrayError)) && !exists(filepath.Join(root, "app/stray")) {
			got = "left"
		} else if err != nil || res.ExitCode != 0 {
			got = fmt.Sprintf("exit code %d, %v", res.ExitCode, err)
		}
		if got != c.want || c.observe && c.want == denied && (used == nil || len(used.Denied) != 1) {
			fmt.Printf("%s: %s, want %s: %s\n", c.name, got, c.want, out.String())
			code = 1
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "bento-task-*")); len(left) > 0 {
			fmt.Printf("%s: left %q\n", c.name, left)
			code = 1
		}
	}
	return code
}

func TestCases(t *testing.T) {
	if why := cmp.Or(sandbox.Offered().LacksRules(false), observe.Offered()); why != "" {
		t.Skip(why)
	}
	for _, user := range []string{"", "nobody"} {
		t.Run(user, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			program, err := os.ReadFile("/proc/self/exe")
			if err != nil {
				t.Fatal(err)
			}
			self := filepath.Join(dir, "self") // where another user may execute it
			if err := os.WriteFile(self, program, 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self, "cases", dir)
			if user != "" {
				if os.Geteuid() != 0 {
					t.Skip("only root can become another user")
				}
				_ = os.Chmod(filepath.Dir(dir), 0o755)
				_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error { return os.Lchown(path, 65534, 65534) })
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
