package container

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/internal/state"
)

// SweepCommand is the first argument of the program that the guard runs if bento is killed: its further arguments are those
// of SweepBy.
const SweepCommand = "__containers"

// claimsDir is the directory in the state of a workspace with a file for each container that runs.
const claimsDir = "containers"

// claim names a container. It has no command: the state of a workspace is no place for one.
type claim struct{ Engine, Name string }

const (
	maxClaim   = 4 << 10 // bytes
	removeTime = time.Minute
	namePrefix = "bento-"
)

// valid reports whether bento may have made the claim.
func (c claim) valid() bool {
	name, ours := strings.CutPrefix(c.Name, namePrefix)
	return (c.Engine == "podman" || c.Engine == "docker") && ours && owndir.IsRandomName(name)
}

// remove ends and removes a container, if it is still there. It also continues when the run is interrupted.
func (e *engine) remove(name string) {
	words := []string{"rm", "--force", name}
	if e.Name == "podman" {
		words = []string{"rm", "--force", "--ignore", "--time", "0", name}
	}
	_, _ = proc.Run(context.Background(), proc.Spec{Argv: e.command(words...), Dir: "/", Env: e.env, Engine: true, Timeout: removeTime})
}

// claim notes a container before it is started, and tells the guard to remove it if this process dies.
func (h *Host) claim(r *request) (*state.Claimed, error) {
	h.guarded.Do(func() {
		settings, err := json.Marshal(h.Settings)
		if h.Self != "" && err == nil {
			proc.Afterwards([]string{h.Self, SweepCommand, h.Root, string(settings)}, h.Environ)
		}
	})
	data, err := json.Marshal(claim{r.engine.Name, r.name})
	if err != nil {
		return nil, err
	}
	c, err := h.State.Claim(claimsDir)
	if err != nil {
		return nil, err
	}
	if _, err = c.Write(data); err != nil {
		_ = c.Remove()
		return nil, err
	}
	return c, nil
}

// Sweep removes the containers that killed processes of bento have left. Without any it starts nothing.
func (h *Host) Sweep() {
	for _, left := range h.State.Abandoned(claimsDir) {
		data, err := left.ReadAll(maxClaim)
		var c claim
		if err == nil && json.Unmarshal(data, &c) == nil && c.valid() {
			if path, err := h.Environ.LookPath(c.Engine); err == nil {
				(&engine{Name: c.Engine, path: path, args: h.Settings.EngineArgs, env: h.Environ}).remove(c.Name)
			}
		}
		_ = left.Remove()
	}
}

// SweepBy is Sweep for the program of SweepCommand, with its further arguments.
func SweepBy(args, environ []string) {
	h := New(Options{Environ: adapters.NewEnviron(environ)})
	if len(args) != 2 || json.Unmarshal([]byte(args[1]), &h.Settings) != nil {
		return
	}
	h.State = state.Open(args[0])
	h.Sweep()
}

// giveBack makes bento's user the owner of what the container has left in the directories of its outputs.
func (x *Executor) giveBack(r *request) error {
	if r.container.User == "" {
		return nil
	}
	for _, b := range r.binds {
		if rel, err := filepath.Rel(r.root, b.source); !b.write || err != nil || !filepath.IsLocal(rel) {
			continue
		}
		err := filepath.WalkDir(b.source, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // the collection of outputs reports it
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != r.uid {
				return os.Lchown(p, r.uid, r.gid)
			}
			return nil
		})
		if err != nil {
			return &strangerError{err, r.container.User}
		}
	}
	return nil
}

// strangerError is the error of a file of another user.
type strangerError struct {
	err  error
	user string
}

func (s *strangerError) Error() string {
	return "the container has left a file of another user: " + s.err.Error() + "; remove user = \"" + s.user + "\" from the container"
}

func (s *strangerError) Unwrap() error { return s.err }

// removeAll removes the temporary directory of a container, also directories that nobody may write.
func removeAll(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}
