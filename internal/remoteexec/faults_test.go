package remoteexec

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/bentobuild/bento/cache/remote/reapi"
	"github.com/bentobuild/bento/cache/remote/servertest"
)

// large is an output that comes in a stream of its own.
var large = bytes.Repeat([]byte("0123456789abcdef"), 4<<20/16)

// TestServerFaults: after a fault of the server the task runs here, and nothing of what the server has sent stays.
func TestServerFaults(t *testing.T) {
	t.Parallel()
	absent := &repb.Digest{Hash: strings.Repeat("ab", 32), SizeBytes: 7}
	file := func(c *servertest.Cluster, p string, data []byte) *repb.OutputFile {
		return &repb.OutputFile{Path: p, Digest: c.Put(data)}
	}
	tree := func(c *servertest.Cluster, name string) *repb.OutputDirectory {
		data, err := proto.Marshal(&repb.Tree{Root: &repb.Directory{Files: []*repb.FileNode{{Name: name, Digest: c.Put([]byte("x"))}}}})
		if err != nil {
			t.Error(err)
		}
		return &repb.OutputDirectory{Path: "bento/w/d/out", TreeDigest: c.Put(data)}
	}
	for name, f := range map[string]struct {
		work  func(c *servertest.Cluster, r *repb.ActionResult)
		serve func([]byte) ([]byte, int)
		says  string
	}{
		"wrong bytes": {serve: func(data []byte) ([]byte, int) { return bytes.ToUpper(data), len(data) }, says: "wrong bytes"},
		"fewer bytes": {serve: func(data []byte) ([]byte, int) { return data[:len(data)-1], len(data) }, says: "too early"},
		"an output that it lacks": {work: func(_ *servertest.Cluster, r *repb.ActionResult) {
			r.OutputFiles = append(r.OutputFiles, &repb.OutputFile{Path: "bento/w/d/out/absent", Digest: absent})
		}, says: `lacks the output "d/out/absent"`},
		"a directory that it lacks": {work: func(_ *servertest.Cluster, r *repb.ActionResult) {
			r.OutputDirectories = []*repb.OutputDirectory{{Path: "bento/w/d/out", TreeDigest: absent}}
		}, says: "lacks its description"},
		"a log that it lacks": {work: func(_ *servertest.Cluster, r *repb.ActionResult) { r.StdoutDigest = absent }, says: "lacks what the command has printed"},
		"an output too large": {work: func(_ *servertest.Cluster, r *repb.ActionResult) {
			r.OutputFiles = append(r.OutputFiles, &repb.OutputFile{Path: "bento/w/d/out/huge", Digest: &repb.Digest{Hash: absent.Hash, SizeBytes: maxOutputs + 1}})
		}, says: "more than"},
		"a log too large": {work: func(_ *servertest.Cluster, r *repb.ActionResult) {
			r.StdoutDigest = &repb.Digest{Hash: absent.Hash, SizeBytes: maxLog + 1}
		}, says: "has printed"},
		"a directory too large": {work: func(_ *servertest.Cluster, r *repb.ActionResult) {
			r.OutputDirectories = []*repb.OutputDirectory{{Path: "bento/w/d/out", TreeDigest: &repb.Digest{Hash: absent.Hash, SizeBytes: maxTree + 1}}}
		}, says: "more than"},
		"a stream that ends early": {
			work: func(c *servertest.Cluster, r *repb.ActionResult) {
				r.OutputFiles = append(r.OutputFiles, file(c, "bento/w/d/out/large", large))
			},
			serve: func(data []byte) ([]byte, int) { return data, min(len(data), len(large)/2) }, says: "too early",
		},
		"a path with another one in it": {work: func(c *servertest.Cluster, r *repb.ActionResult) {
			r.OutputFiles = append(r.OutputFiles, file(c, "bento/w/d/out/good/x", []byte("x")))
		}, says: "no directory"},
		"a name that leads out": {work: func(c *servertest.Cluster, r *repb.ActionResult) {
			r.OutputDirectories = append(r.OutputDirectories, tree(c, "../../../x"))
		}, says: "a name that no file has"},
		"bytes that are no directory": {work: func(c *servertest.Cluster, r *repb.ActionResult) {
			r.OutputDirectories = []*repb.OutputDirectory{{Path: "bento/w/d/out", TreeDigest: c.Put([]byte("no tree"))}}
		}, says: "d/out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &servertest.Cluster{Workers: 1, Serve: f.serve}
			c.Work = func(context.Context, *repb.Command) (*repb.ActionResult, error) {
				r := &repb.ActionResult{OutputFiles: []*repb.OutputFile{file(c, "bento/w/d/out/good", []byte("good"))}}
				if f.work != nil {
					f.work(c, r)
				}
				return r, nil
			}
			c.Start(t)
			b := newBench(t, c.GRPC, alikeAll)
			b.input("d/src.c", "source\n")
			_, _, err := b.run(t.Context(), b.command("make", "out/**"))
			if !unavailable(err) || !strings.Contains(err.Error(), f.says) {
				t.Errorf("%v, want an error with %q", err, f.says)
			}
			_ = filepath.WalkDir(filepath.Join(b.root, "d/out"), func(p string, e fs.DirEntry, err error) error {
				if err == nil && !e.IsDir() {
					t.Errorf("%s stays", p)
				}
				return nil
			})
		})
	}
}

// alikeAll says that workers need not be asked what they are.
func alikeAll(o *Options) { o.Class = "test" }

// TestExpired: a server that refuses the credentials in the middle executes nothing any more.
func TestExpired(t *testing.T) {
	t.Parallel()
	var expired atomic.Bool
	c := &servertest.Cluster{Workers: 1, Work: func(context.Context, *repb.Command) (*repb.ActionResult, error) { return new(repb.ActionResult), nil }}
	c.Allow = func(string) error {
		if expired.Load() {
			return grpcstatus.Error(codes.Unauthenticated, "the token has expired")
		}
		return nil
	}
	c.Start(t)
	b := newBench(t, c.GRPC, alikeAll)
	b.input("d/src.c", "source\n")
	if _, _, err := b.run(t.Context(), b.command("true 1")); err != nil {
		t.Fatal(err)
	}
	expired.Store(true)
	for i := range maxFaults {
		if _, _, err := b.run(t.Context(), b.command("true 2")); !unavailable(err) || !strings.Contains(err.Error(), "expired") {
			t.Errorf("%d: %v", i, err)
		}
	}
	if b.cluster.lost == nil {
		t.Error("the server is asked on")
	}
}

// TestClusterGone: commands whose server ends while it executes them can be executed here, and no others are sent.
func TestClusterGone(t *testing.T) {
	t.Parallel()
	const commands = 20
	var begun sync.WaitGroup
	begun.Add(commands)
	c := &servertest.Cluster{Workers: commands, Work: func(ctx context.Context, _ *repb.Command) (*repb.ActionResult, error) {
		begun.Done()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	c.Start(t)
	b := newBench(t, c.GRPC, alikeAll)
	b.input("d/src.c", "source\n")
	errs := make([]error, commands)
	var running sync.WaitGroup
	for i := range commands {
		cmd := b.command("wait " + string(rune('a'+i)))
		cmd.Stdout, cmd.Stderr = nil, nil
		running.Go(func() { _, _, errs[i] = b.run(t.Context(), cmd) })
	}
	begun.Wait()
	c.Stop()
	running.Wait()
	for i, err := range errs {
		if !unavailable(err) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if b.cluster.lost == nil {
		t.Error("more would be sent")
	}
}

// TestCancelStorm: many commands that are canceled together end, and so do their executions.
func TestCancelStorm(t *testing.T) {
	t.Parallel()
	const commands = 200
	var begun, ended sync.WaitGroup
	begun.Add(commands)
	ended.Add(commands)
	c := &servertest.Cluster{Workers: commands, Work: func(ctx context.Context, _ *repb.Command) (*repb.ActionResult, error) {
		begun.Done()
		<-ctx.Done()
		ended.Done()
		return nil, ctx.Err()
	}}
	c.Start(t)
	b := newBench(t, c.GRPC, alikeAll)
	b.input("d/src.c", "source\n")
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for i := range commands {
		cmd := b.command("wait " + string(rune('a'+i)))
		cmd.Stdout, cmd.Stderr = nil, nil
		running.Go(func() {
			if res, _, err := b.run(ctx, cmd); err != nil || !res.Canceled {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
	begun.Wait()
	cancel()
	running.Wait()
	ended.Wait()
	if n := c.Canceled(); n == 0 || n > commands {
		t.Errorf("%d were canceled", n)
	}
	if b.cluster.lost != nil {
		t.Errorf("the server is taken for lost: %v", b.cluster.lost)
	}
}

// TestNeverEnds: a command that the server does not end at its timeout is canceled later.
func TestNeverEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		l := &limits{cancel: cancel, timeout: time.Minute, queue: 10 * time.Second}
		l.reach(reapi.Queued)
		time.Sleep(9 * time.Second)
		l.reach(reapi.Executing)
		if time.Sleep(time.Minute + overtime - time.Second); ctx.Err() != nil {
			t.Error("canceled too early")
		}
		l.reach(reapi.Completed) // its result is yet to come
		if time.Sleep(2 * time.Second); !errors.Is(context.Cause(ctx), errTimedOut) {
			t.Error(context.Cause(ctx))
		}
		if l.stop(); l.ran() < time.Minute {
			t.Errorf("ran %v", l.ran())
		}
	})
}

// TestClocks: the clock of a worker need not be that of its server, nor that of this machine.
func TestClocks(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, c := range map[string]struct {
		queued, started time.Time
		want            time.Duration
	}{
		"alike":           {now, now.Add(time.Second), time.Second},
		"a worker before": {now, now.Add(-time.Hour), 0},
		"none":            {time.Time{}, now, 0},
		"only one":        {now, time.Time{}, 0},
	} {
		if got := queued(&reapi.ActionResult{Queued: c.queued, Started: c.started}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestImages: a command that names an image is sent with it to a server that runs actions in images, and to no other.
func TestImages(t *testing.T) {
	t.Parallel()
	const property, image = "container-image", "example.com/tools@sha256:1111111111111111111111111111111111111111111111111111111111111111"
	var mu sync.Mutex
	var asked []string
	for name, f := range map[string]struct {
		lacks error // the answer for an image that does not exist
		says  string
	}{
		"takes them":   {lacks: grpcstatus.Error(codes.NotFound, "no such image")},
		"ignores them": {says: "one that does not exist was no obstacle"},
	} {
		c := &servertest.Cluster{Workers: 1, Work: func(_ context.Context, command *repb.Command) (*repb.ActionResult, error) {
			text := ""
			//lint:ignore SA1019 servers of an older version of the API look here
			for _, p := range command.Platform.GetProperties() {
				text += p.Name + "=" + p.Value + " "
			}
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, text)
			if strings.Contains(text, strings.Repeat("0", 64)) {
				return new(repb.ActionResult), f.lacks
			}
			return new(repb.ActionResult), nil
		}}
		c.Start(t)
		b := newBench(t, c.GRPC, func(o *Options) {
			o.Image, o.Properties = property, []reapi.Variable{{Name: "Arch", Value: "x"}, {Name: property, Value: "other"}, {Name: "pool", Value: "p"}}
		})
		b.input("d/src.c", "source\n")
		for range 2 {
			_, _, err := b.run(t.Context(), b.command("make"), func(j *Job) { j.Image = image })
			switch {
			case f.says == "" && err != nil, f.says != "" && (!unavailable(err) || !strings.Contains(err.Error(), f.says)):
				t.Errorf("%s: %v", name, err)
			}
		}
		if b.cluster.lost != nil {
			t.Errorf("%s: no more commands would be sent: %v", name, b.cluster.lost)
		}
		want := "Arch=x container-image=docker://" + image + " pool=p "
		mu.Lock()
		if n := len(asked); f.says == "" && (n == 0 || asked[n-1] != want) || f.says != "" && n != 1 {
			t.Errorf("%s: the server was asked for %q", name, asked)
		}
		asked = nil
		mu.Unlock()
	}
}
