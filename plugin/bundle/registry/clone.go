package registry

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/internal/bounds"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/plugin/bundle/archive"
)

// clone reads the files of a repository.
func (f *Fetcher) clone(ctx context.Context, repo string) ([]archive.File, error) {
	repo, branch, _ := strings.Cut(repo, "#")
	scheme, _, ok := strings.Cut(repo, "://")
	if !ok || scheme != "https" && scheme != "http" && scheme != "ssh" && scheme != "file" {
		return nil, fmt.Errorf("expected git+https://, git+http://, git+ssh:// or git+file://")
	}
	if strings.HasPrefix(branch, "-") {
		return nil, fmt.Errorf("%q is no branch", branch)
	}
	git, err := bounds.Of(f.Root).LookPath(f.lookup("PATH"), "git")
	if err != nil {
		return nil, fmt.Errorf("git is required and not installed")
	}
	temp, err := os.MkdirTemp("", "bento-clone-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	err = f.runClone(ctx, temp, proc.Spec{
		Argv: append([]string{git}, cloneArgs(repo, branch, filepath.Join(temp, "repo"))...),
		Dir:  temp, Env: f.gitEnv(scheme, temp), Timeout: cloneTime,
	})
	if err != nil {
		return nil, err
	}
	return archive.ReadDir(filepath.Join(temp, "repo"), archive.Limits{})
}

// runClone runs git, which writes below temp. It ends git when that has written too much.
func (f *Fetcher) runClone(ctx context.Context, temp string, spec proc.Spec) error {
	limit := cmp.Or(f.cloneLimit, maxClone)
	watched, cancel := context.WithCancelCause(ctx)
	done := watchSize(watched, cancel, temp, limit)
	_, stderr, res, err := proc.Output(watched, spec, 1<<20)
	cause := context.Cause(watched)
	cancel(nil)
	<-done
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case cause != nil:
		return fmt.Errorf("git clone: %w", cause)
	case err != nil:
		return err
	case res.TimedOut:
		return fmt.Errorf("git clone: timed out after %v", cloneTime)
	case res.ExitCode != 0:
		return fmt.Errorf("git clone: exited with status %d: %s", res.ExitCode, strings.TrimSpace(string(stderr)))
	case sizeOf(temp) > limit:
		return fmt.Errorf("git clone: more than %d bytes", limit)
	}
	return nil
}

// maxClone bounds the bytes that git may write: the files twice, as objects and in the work tree, with
// space for a pack.
const maxClone = 4 * archive.MaxSize

// watchSize cancels when the files below dir have more than limit bytes. It ends with ctx and then
// closes done.
func watchSize(ctx context.Context, cancel context.CancelCauseFunc, dir string, limit int64) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if sizeOf(dir) > limit {
				cancel(fmt.Errorf("more than %d bytes", limit))
				return
			}
		}
	}()
	return done
}

// sizeOf returns the bytes of the files below dir. git may rename them meanwhile.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if fi, err := e.Info(); err == nil && fi.Mode().IsRegular() {
			size += fi.Size()
		}
		return nil
	})
	return size
}

// cloneArgs returns the arguments of git for a shallow clone that runs no hook and no filter.
func cloneArgs(repo, branch, dir string) []string {
	args := []string{"--no-pager"}
	for _, s := range []string{
		"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.askPass=false", "credential.helper=", "submodule.recurse=false",
		"core.protectHFS=true", "core.protectNTFS=true", "transfer.fsckObjects=true", "http.followRedirects=false",
	} {
		args = append(args, "-c", s)
	}
	args = append(args, "clone", "--quiet", "--depth=1", "--single-branch", "--no-tags", "--template=", "--no-recurse-submodules")
	if branch != "" {
		args = append(args, "--branch="+branch)
	}
	return append(args, "--", repo, dir)
}

// gitEnv returns the environment for git: without the user's configuration and without variables
// that lead to programs of the workspace.
func (f *Fetcher) gitEnv(scheme, home string) []string {
	env := []string{
		"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false",
		"GIT_ALLOW_PROTOCOL=" + scheme, "GIT_CEILING_DIRECTORIES=" + home, "XDG_CONFIG_HOME=" + home, "GIT_LFS_SKIP_SMUDGE=1",
	}
	for _, kv := range bounds.Of(f.Root).Outside(f.Environ) {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasPrefix(name, "GIT_") && name != "LC_ALL" && name != "XDG_CONFIG_HOME" {
			env = append(env, kv)
		}
	}
	return env
}
