package remoteexec

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/cache/remote/reapi"
	"github.com/bentobuild/bento/cache/remote/servertest"
	"github.com/bentobuild/bento/cache/remote/transport"
	"github.com/bentobuild/bento/internal/action"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/tree"
)

// patience is how long a server may take on a machine that does much else.
const patience = 2 * time.Minute

// bench is a workspace whose commands are executed by a server.
type bench struct {
	testing.TB
	root    string
	cluster *Cluster
	inputs  []key.File
	out     bytes.Buffer
}

func newBench(t testing.TB, address string, set ...func(*Options)) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Name: "grpc://" + address, Root: root, Open: func() (*reapi.Client, error) {
		u, err := url.Parse("grpc://" + address)
		if err != nil {
			return nil, err
		}
		return reapi.Open(reapi.Options{Transport: transport.Options{Address: u}, First: patience, Idle: patience})
	}}
	for _, f := range set {
		f(&o)
	}
	b := &bench{TB: t, root: root, cluster: New(o)}
	t.Cleanup(b.cluster.Close)
	return b
}

// input makes an input of the command.
func (b *bench) input(name, text string) {
	b.Helper()
	at := filepath.Join(b.root, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		b.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(at, []byte(text), mode); err != nil {
		b.Fatal(err)
	}
	b.inputs = append(b.inputs, key.File{Path: name, Sum: cache.Sum([]byte(text)), Exec: mode == 0o755})
}

// command returns a command of the dish d.
func (b *bench) command(line string, outputs ...string) *action.Command {
	b.Helper()
	set, err := tree.CompileSet("d", outputs)
	if err != nil {
		b.Fatal(err)
	}
	b.out.Reset()
	return &action.Command{
		Spec:  proc.Spec{Dir: filepath.Join(b.root, "d"), Env: []string{"PATH=/usr/bin:/bin"}, Stdout: &b.out, Stderr: &b.out},
		Words: []string{"sh", "-c", line}, Keyed: func() adapters.Environ { return adapters.Environ{"AT=" + b.root + "/x y"} },
		Inputs: func(yield func(key.File) bool) {
			for _, f := range b.inputs {
				if !yield(f) {
					return
				}
			}
		}, Outputs: set,
	}
}

func (b *bench) run(ctx context.Context, c *action.Command, set ...func(*Job)) (proc.Result, Stay, error) {
	b.Helper()
	var stay Stay
	j := Job{Dish: "d", Placed: func(s Stay) { stay = s }}
	for _, f := range set {
		f(&j)
	}
	e, err := (&Executor{Cluster: b.cluster, Job: j}).Start(ctx, c)
	if err != nil {
		b.Fatal(err)
	}
	res, err := e.Wait()
	return res, stay, err
}

func (b *bench) read(name string) string {
	b.Helper()
	data, err := os.ReadFile(filepath.Join(b.root, name))
	if err != nil {
		b.Error(err)
	}
	return string(data)
}

// TestEngines executes commands on real servers.
func TestEngines(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) string{
		"BuildGrid":     func(t *testing.T) string { return servertest.OpenGrid(t, 2, "").GRPC },
		"buildbox-casd": func(t *testing.T) string { return servertest.Workers(t).GRPC },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := open(t)
			t.Run("Files", func(t *testing.T) { testFiles(t, address) })
			t.Run("Ends", func(t *testing.T) { testEnds(t, address) })
		})
	}
}

// testFiles: a command has its inputs and nothing else, and its outputs come into the workspace as a command here leaves them.
func testFiles(t *testing.T, address string) {
	b := newBench(t, address)
	b.input("d/src.c", "source\n")
	b.input("d/say", "#!/bin/sh\necho said\n")
	b.input("lib/words", "words\n")
	if err := os.WriteFile(filepath.Join(b.root, "d/secret"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	line := `test ! -e secret && mkdir -p out/empty out/deep && cat src.c ../lib/words > out/all && cp out/all out/deep/twice && ln -s all out/link && ./say > app && chmod +x app &&
ln -s app current && echo info >a.tsinfo && echo hidden >.b.tsinfo && echo log >log && mkdir c.tsinfo && echo "$AT" "$HOME" "$PWD" && echo slowly >&2 && touch not && touch "$TMPDIR/x" "$HOME/y" && echo top >../top.txt`
	res, stay, err := b.run(t.Context(), b.command(line, "out/**", "app", "current", "*.tsinfo", "//top*"))
	if err != nil || res.ExitCode != 0 || stay.Cached {
		t.Fatalf("%+v, %+v, %v\n%s", res, stay, err, &b.out)
	}
	for name, want := range map[string]string{"d/out/all": "source\nwords\n", "d/out/deep/twice": "source\nwords\n", "d/out/link": "source\nwords\n", "d/app": "said\n", "d/current": "said\n",
		"d/a.tsinfo": "info\n", "d/.b.tsinfo": "hidden\n", "top.txt": "top\n"} {
		if got := b.read(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := b.out.String(); !strings.Contains(got, "/bento/w/x y ") || !strings.Contains(got, "/bento/w/d\n") || !strings.Contains(got, "slowly\n") {
		t.Errorf("printed %q", got)
	}
	for name, want := range map[string]os.FileMode{"d/app": 0o755, "d/out/all": 0o644, "d/out/empty": os.ModeDir | 0o755, "d/current": os.ModeSymlink | 0o777} {
		if info, err := os.Lstat(filepath.Join(b.root, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	for _, name := range []string{"d/not", "d/log", "d/c.tsinfo"} {
		if _, err := os.Lstat(filepath.Join(b.root, name)); err == nil {
			t.Errorf("%s, which is no output, has come", name)
		}
	}
}

// TestCalls: a command without a change costs a call for its execution, one for what it has printed and for its directories, and
// one for its files.
func TestCalls(t *testing.T) {
	p := newProxy(t, servertest.Workers(t).GRPC)
	b := newBench(t, p.address)
	b.input("d/src.c", "source\n")
	for _, want := range []map[string]int{nil, {"Execute": 1, "BatchReadBlobs": 2}} {
		p.take()
		res, _, err := b.run(t.Context(), b.command("mkdir -p out/deep; cp src.c out/deep/x; cp src.c out/y; echo printed; echo more >&2", "out/**"))
		if err != nil || res.ExitCode != 0 || b.out.String() != "printed\nmore\n" || b.read("d/out/deep/x") != "source\n" {
			t.Fatalf("%+v, %v\n%s", res, err, &b.out)
		}
		if d := cmp.Diff(want, p.take()); want != nil && d != "" {
			t.Errorf("calls: %s", d)
		}
	}
}

// testEnds: the end of a command is that of one here.
func testEnds(t *testing.T, address string) {
	b := newBench(t, address)
	b.input("d/src.c", "source\n")
	t.Run("fails", func(t *testing.T) {
		res, _, err := b.run(t.Context(), b.command("echo no; mkdir out; echo report > out/report; exit 3", "out/*"))
		if err != nil || res.ExitCode != 3 || b.out.String() != "no\n" || b.read("d/out/report") != "report\n" {
			t.Errorf("%+v, %v, %q", res, err, &b.out)
		}
	})
	t.Run("times out", func(t *testing.T) {
		c := b.command("exec sleep 1000")
		c.Timeout = time.Second
		if res, _, err := b.run(t.Context(), c); err != nil || !res.TimedOut {
			t.Errorf("%+v, %v", res, err)
		}
	})
	t.Run("is canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(300*time.Millisecond, cancel)
		if res, _, err := b.run(ctx, b.command("exec sleep 1000.25")); err != nil || !res.Canceled {
			t.Errorf("%+v, %v", res, err)
		}
	})
	t.Run("again", func(t *testing.T) {
		for i := range 2 {
			if res, stay, err := b.run(t.Context(), b.command("echo x")); err != nil || res.ExitCode != 0 || stay.Cached != (i > 0) {
				t.Errorf("%+v, %+v, %v", res, stay, err)
			}
		}
		if _, stay, err := b.run(t.Context(), b.command("echo x"), func(j *Job) { j.Fresh = true }); err != nil || stay.Cached {
			t.Errorf("%+v, %v", stay, err)
		}
	})
}
