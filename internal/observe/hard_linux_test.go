//go:build amd64 || arm64

package observe

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/proc"
)

func self(t testing.TB) string {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestUsesOfOddCalls(t *testing.T) {
	needObserver(t)
	sh := func(script string) []string { return []string{"/bin/sh", "-c", script} }
	st := func(args ...string) []string { return append([]string{self(t), "static"}, args...) }
	open := func(path string, flags int) string { return fmt.Sprintf("open:%s:%d", path, flags) }
	for name, c := range map[string]struct {
		tree []string
		argv []string
		want []string
	}{
		"a name with a newline":             {[]string{"a\nb"}, st("read:a\nb"), []string{"a\nb: read"}},
		"a name that is not UTF-8":          {[]string{"\xff\xfe"}, st("read:\xff\xfe"), []string{"\xff\xfe: read"}},
		"relative to a descriptor":          {[]string{"d/a"}, st("at:d:a"), []string{"d: stat", "d/a: read"}},
		"fchdir":                            {[]string{"d/a"}, st("into:d", "read:a"), []string{"d: stat", "d/a: read"}},
		"chdir":                             {[]string{"d/a"}, st("chdir:d", "read:a", "chdir:gone"), []string{"d: stat", "d/a: read", "d/gone: stat absent"}},
		"a missing directory and ..":        {[]string{"a"}, st("read:gone/../a"), []string{"gone: read absent"}},
		"a missing directory after a link":  {[]string{"d/a", "l -> d"}, st("read:l/gone/a"), []string{"d/gone/a: read absent", "l: read"}},
		"in a file":                         {[]string{"a"}, st("read:a/b"), []string{"a/b: read absent"}},
		"a link that leads to itself":       {[]string{"l -> l"}, st("read:l", "read:l/a"), []string{"l: read"}},
		"a link that leads nowhere":         {[]string{"l -> gone"}, st("read:l"), []string{"gone: read absent", "l: read"}},
		"deleted and read":                  {[]string{"a"}, st("read:a", "remove:a", "read:a"), []string{"a: read remove"}},
		"a link that leads elsewhere later": {[]string{"d/a", "e/a", "l -> d"}, st("read:l/a", "link:e:m", "rename:m:l", "read:l/a"), []string{"d/a: read", "e/a: read", "l: read stat write", "m: write remove absent"}},
		"a link in place of a directory":    {[]string{"d/a", "e/a", "f -> d"}, st("read:d/a", "rename:d:c", "link:e:d", "read:d/a"), []string{"c: stat write absent", "d: read write remove", "d/a: read", "e/a: read"}},
		"in a deleted directory":            {nil, sh("mkdir d; cd d; rmdir ../d; cat a 2>/dev/null; :"), []string{"d: write remove absent"}},
		"exclusive and there":               {[]string{"a"}, st(open("a", unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY), "read:a"), []string{"a: read stat"}},
		"opened to write, not written":      {[]string{"a"}, st(open("a", unix.O_RDWR), "read:a"), []string{"a: read"}},
		"a directory that was made before":  {[]string{"d/a"}, st("mkdir:d", "list:d"), []string{"d: list stat"}},
		"a directory with another mode":     {[]string{"d/a"}, st("chmod:d", "list:d"), []string{"d: list stat"}},
		"a file without a name":             {[]string{"d/a"}, st(open("d", unix.O_TMPFILE|unix.O_WRONLY), "list:d"), []string{"d: list stat"}},
		"a directory that is not empty":     {[]string{"d/a"}, st("remove:d", "list:d"), []string{"d: list stat"}},
		"written in a missing directory":    {nil, st("write:gone/a"), []string{"gone/a: stat absent"}},
		"renamed into a missing directory":  {[]string{"a"}, st("rename:a:gone/a", "read:a"), []string{"a: read", "gone/a: stat absent"}},
		"exchanged":                         {[]string{"a", "b"}, st("exchange:a:b", "read:a"), []string{"a: read remove", "b: write", "unseen: a program exchanges two files by one call"}},
		"by a path descriptor":              {[]string{"a"}, st(open("a", unix.O_PATH)), []string{"a: read"}},
		"by the working directory in /proc": {[]string{"a"}, st("read:/proc/self/cwd/a"), []string{"a: read"}},
		"by a descriptor in /dev":           {[]string{"d/a"}, sh("exec 3<d; cat /dev/fd/3/a; cat </proc/$$/root/dev/null"), []string{"d: stat", "d/a: read"}},
		"by a pipe in /dev":                 {[]string{"a"}, sh("cat a | cat /dev/fd/0 /proc/self/status"), []string{"a: read"}},
		"a missing program":                 {nil, sh("./gone 2>/dev/null; :"), []string{"gone: read absent"}},
		"a whole path that is too long":     {nil, st("deep:a"), []string{"unseen: a program uses a file whose whole path has more than 4096 bytes", "unseen: a program works in a directory whose path has more than 4096 bytes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := tree(t, c.tree...)
			_, r := run(t, root, c.argv...)
			got := slices.DeleteFunc(drop(lines(root, r)), func(line string) bool { return strings.HasPrefix(line, "ddd") })
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The kernel finds a relative interpreter from the working directory. The script was read before.
func TestInterpreters(t *testing.T) {
	needObserver(t)
	root := tree(t, "d/x")
	for name, text := range map[string]string{"d/start": "#!./middle\n", "d/middle": "#!../d/last argument", "d/last": "#! /bin/sh\n:\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	_, r := run(t, root, self(t), "static", "chdir:d", "read:./start", "run:start")
	got := lines(root, r)
	for _, want := range []string{"d/start: read", "d/middle: read", "d/last: read"} {
		if !slices.Contains(got, want) {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

func TestLongPath(t *testing.T) {
	needObserver(t)
	root := tree(t)
	name := root
	for len(name) < 3700 {
		name += "/" + strings.Repeat("d", 250)
	}
	name += "/" + strings.Repeat("a", 4000-len(name)-1)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, r := run(t, root, self(t), "static", "read:"+name)
	if !slices.ContainsFunc(r.Files, func(f action.UsedFile) bool { return f.Path == name && f.Use == action.Read && !f.Absent }) {
		t.Errorf("a path of %d bytes is not among %d files, unseen %q", len(name), len(r.Files), r.Unseen)
	}
}

// reads returns the number of files that were read.
func reads(r *action.Used) int {
	n := 0
	for _, f := range r.Files {
		if f.Use&action.Read != 0 && !f.Absent {
			n++
		}
	}
	return n
}

func numbered(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint(i))
	}
	return names
}

func TestManyProcesses(t *testing.T) {
	needObserver(t)
	const n = 2000
	root := tree(t, numbered(n)...)
	_, r := run(t, root, "/bin/sh", "-c", fmt.Sprintf("i=0; while [ $i -lt %d ]; do /bin/cat $i >/dev/null; i=$((i+1)); done", n))
	if got := reads(r); got != n || len(r.Unseen) > 0 {
		t.Errorf("%d files were read, want %d; unseen %q", got, n, r.Unseen)
	}
}

func TestManyThreads(t *testing.T) {
	needObserver(t)
	const n = 1000
	root := tree(t, numbered(n)...)
	_, r := run(t, root, self(t), "static", "threads:.")
	if got := reads(r); got != n || len(r.Unseen) > 0 {
		t.Errorf("%d files were read, want %d; unseen %q", got, n, r.Unseen)
	}
}

func TestKilledWhileItIsNoted(t *testing.T) {
	needObserver(t)
	root := tree(t, "a")
	_, r := run(t, root, "/bin/sh", "-c", `i=0; while [ $i -lt 20 ]; do "$0" static forever:x & p=$!; sleep 0.01; kill -9 $p; wait $p 2>/dev/null; i=$((i+1)); done; cat a`, self(t))
	if !slices.Contains(lines(root, r), "a: read") {
		t.Errorf("a is not noted after others were killed: %q", r.Unseen)
	}
}

// A process that leaves the session of the command ends with it.
func TestDaemon(t *testing.T) {
	needObserver(t)
	root := tree(t, "a")
	start := time.Now()
	run(t, root, "/bin/sh", "-c", `setsid /bin/sh -c 'echo $$ > pid; while :; do cat a >/dev/null; sleep 0.02; done' & until test -s pid; do sleep 0.01; done`)
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("the end took %v", d)
	}
	pid, err := os.ReadFile(filepath.Join(root, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
		t.Errorf("process %s is left", pid)
	}
}

// ready calls cancel as soon as a command prints anything.
type ready struct{ cancel context.CancelFunc }

func (r ready) Write(p []byte) (int, error) {
	r.cancel()
	return len(p), nil
}

func TestCancel(t *testing.T) {
	needObserver(t)
	for script, want := range map[string]proc.Result{
		`trap 'cat late; exit 7' TERM; echo; while :; do sleep 0.01; done`: {ExitCode: 7, Canceled: true},
		`echo; exec sleep 100`: {ExitCode: 143, Signal: "SIGTERM", Canceled: true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		root := tree(t, "late")
		res, used, err := observe(ctx, self(t), root, ready{cancel}, []string{"/bin/sh", "-c", script})
		got := proc.Result{ExitCode: res.ExitCode, Signal: res.Signal, Canceled: res.Canceled, Killed: res.Killed}
		if err != nil || got != want {
			t.Errorf("%s: %+v, want %+v, %v", script, got, want, err)
		}
		if want.ExitCode == 7 && !slices.Contains(lines(root, used), "late: read") {
			t.Errorf("%s: what it read after the signal is missing", script)
		}
		cancel()
	}
}

func TestEndedBySignal(t *testing.T) {
	needObserver(t)
	res, _, err := observe(t.Context(), self(t), tree(t), io.Discard, []string{"/bin/sh", "-c", "kill -SEGV $$"})
	if err != nil || res.ExitCode != 128+11 || res.Signal == "" {
		t.Errorf("%+v, %v", res, err)
	}
}

// told runs the test binary in the ways of become and returns what it prints.
func told(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	res, err := proc.Run(t.Context(), proc.Spec{Argv: append([]string{self(t)}, args...), Env: os.Environ(), Stdout: &out, Stderr: &out})
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("%q exited with status %d, %v: %s", args, res.ExitCode, err, out.String())
	}
	return out.String()
}

func TestLesserKernel(t *testing.T) {
	needObserver(t)
	got := told(t, "without", "seccomp", self(t), "tell", tree(t, "a"), "/bin/cat", "a")
	if want := "astatus 0\nunseen: the system does not allow to observe programs: seccomp: function not implemented\n"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

// A command that observes another one: the kernel allows one observer.
func TestNested(t *testing.T) {
	needObserver(t)
	root := tree(t, "a")
	out, r := run(t, root, self(t), "tell", root, "/bin/cat", "a")
	if want := "astatus 0\nunseen: another program observes this one already\n"; out != want {
		t.Errorf("inside: want %q, got %q", want, out)
	}
	if !slices.Contains(lines(root, r), "a: read") {
		t.Errorf("outside: %q", lines(root, r))
	}
}

func TestOtherRoots(t *testing.T) {
	needObserver(t)
	if os.Geteuid() != 0 {
		t.Skip("requires root")
	}
	for _, script := range []string{"unshare -m true", "unshare -U true", "chroot / true"} {
		_, r := run(t, tree(t), "/bin/sh", "-c", script+" 2>/dev/null; :")
		if want := []string{"a program changed its root directory or its mounts"}; !slices.Equal(r.Unseen, want) {
			t.Errorf("%s: unseen %q, want %q", script, r.Unseen, want)
		}
	}
}

// forNobody returns a directory of another user, and the test binary there.
func forNobody(t *testing.T) (root, program string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("requires root, to become another user")
	}
	root = tree(t, "a", "locked")
	program = filepath.Join(tree(t), "program")
	copySelf(t, program)
	for _, dir := range []string{root, filepath.Dir(root), filepath.Dir(program)} {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(root, "locked"), 0o444); err != nil {
		t.Fatal(err)
	}
	return root, program
}

func copySelf(t *testing.T, to string) {
	t.Helper()
	content, err := os.ReadFile(self(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o755); err != nil {
		t.Fatal(err)
	}
}

// A file that cannot be written, and is read then, was read.
func TestOrdinaryUser(t *testing.T) {
	needObserver(t)
	root, program := forNobody(t)
	got := told(t, "nobody", program, "tell", root, program, "static", "read:a", "write:b", "write:locked", "read:locked")
	if want := "status 0\na: read\nb: write absent\nlocked: read\n"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestProgramOfAnotherUser(t *testing.T) {
	needObserver(t)
	root, program := forNobody(t)
	owned := filepath.Join(root, "owned")
	copySelf(t, owned)
	if err := os.Chmod(owned, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	got := told(t, "nobody", program, "tell", root, "/bin/sh", "-c", "cat ./owned >/dev/null; ./owned static read:a")
	if want := "unseen: " + owned + " does not get the rights of its owner while it is observed\n"; !strings.HasPrefix(got, "status 0\nlacks rights\n") || !strings.HasSuffix(got, want) {
		t.Errorf("want %q at the end, got %q", want, got)
	}
	if err := os.Chmod(owned, 0o755); err != nil {
		t.Fatal(err)
	}
	// CAP_NET_RAW, as ping has it: struct vfs_cap_data, version 2.
	capability := []byte{1, 0, 0, 2, 0, 1 << 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	if err := unix.Setxattr(owned, "security.capability", capability, 0); err != nil {
		t.Skip(err)
	}
	if got := told(t, "nobody", program, "tell", root, owned, "static", "read:a"); !strings.HasPrefix(got, "status 0\nlacks rights\n") {
		t.Errorf("with a capability: %q", got)
	}
}

// A command inherits what it inherits when it is not observed, such as a job server of make.
func TestInheritedDescriptors(t *testing.T) {
	needObserver(t)
	root := tree(t, "a")
	f, err := os.Open(filepath.Join(root, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const fd = 200
	if err := unix.Dup3(int(f.Fd()), fd, 0); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	out, _ := run(t, root, "/bin/cat", fmt.Sprint("/proc/self/fd/", fd))
	if out != "a" {
		t.Errorf("want %q, got %q", "a", out)
	}
	out, _ = run(t, root, "/bin/ls", "/proc/self/fd")
	if strings.Contains(out, "\n4\n") {
		t.Errorf("the command has descriptors of the helper: %q", out)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestNothingLeaks(t *testing.T) {
	needObserver(t)
	root := tree(t, "a")
	ends := func() {
		run(t, root, "/bin/cat", "a")
		if _, _, err := observe(t.Context(), self(t), root, io.Discard, []string{"/does/not/exist"}); err == nil {
			t.Error("a missing program was started")
		}
	}
	ends()
	files, routines := descriptors(t), runtime.NumGoroutine()
	for range 40 {
		ends()
	}
	// Package proc keeps a few pollers, and its sync.Pool leaves what it drops to the collector; some
	// goroutines are about to end.
	leaks := func() bool { return descriptors(t) > files+8 || runtime.NumGoroutine() > routines+8 }
	for end := time.Now().Add(10 * time.Second); leaks() && time.Now().Before(end); {
		runtime.GC()
	}
	if leaks() {
		t.Errorf("%d descriptors are open, %d before; %d goroutines run, %d before",
			descriptors(t), files, runtime.NumGoroutine(), routines)
	}
}

// BenchmarkOpens is the cost of 30,000 opens of one program.
func BenchmarkOpens(b *testing.B) {
	if why := Offered(); why != "" {
		b.Skip(why)
	}
	root := b.TempDir()
	argv := []string{self(b), "static", "many:30000"}
	b.Run("observed", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := observe(b.Context(), self(b), root, io.Discard, argv); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("alone", func(b *testing.B) {
		for b.Loop() {
			if _, err := proc.Run(b.Context(), proc.Spec{Argv: argv, Dir: root, Env: os.Environ()}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// What git looks at to tell the state of the checkout is nothing that a command reads; what it writes is noted.
func TestGit(t *testing.T) {
	needObserver(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root := tree(t, "a", "d/b", "new")
	_, r := run(t, root, "/bin/sh", "-c", "export HOME=/ GIT_CONFIG_NOSYSTEM=1; git init -q; git add a d; git status >/dev/null; cat a >/dev/null; rm d/b; git checkout -q d")
	got := slices.DeleteFunc(drop(lines(root, r)), func(line string) bool { return strings.HasPrefix(line, ".git") })
	if diff := cmp.Diff([]string{"a: read", "d/b: stat write remove"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
