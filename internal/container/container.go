// Package container executes commands in containers, by podman or docker.
//
// The workspace is at the same place in every container, whatever its place on the machine, so that outputs with paths
// in them are equal on all machines. It is read-only there, but for the directories in which the task makes files.
// A container belongs to its bento: the guard removes it if bento is killed, and the next run if both are.
package container

import (
	"context"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// The places in a container.
const (
	Workspace = dish.Contained
	home      = "/bento/home"
	temporary = "/tmp"
)

// Settings are what a user says of the engines of a machine, in a file of their own.
type Settings struct {
	Engine     string   // "podman" or "docker"; "": the first that answers
	EngineArgs []string // words in front of each subcommand
	RunArgs    []string // words behind run, and behind build those of BuildArgs
	BuildArgs  []string
}

// Options describe the workspace of a Host.
type Options struct {
	Root     string // of the workspace, absolute, without links
	Environ  adapters.Environ
	State    *state.Dir
	Tree     *tree.Tree
	Settings Settings
	Self     string // path of a program that calls SweepBy for SweepCommand, as bento does; "" for none
}

// Host runs the containers of one workspace. It is safe for concurrent use.
type Host struct {
	Options
	locked  func() (Lock, error)
	mu      sync.Mutex
	images  map[string]*image // by digest and engine
	engines map[string]*found
	guarded sync.Once
}

// New returns a host. It reads nothing and starts nothing.
func New(o Options) *Host {
	return &Host{
		Options: o, locked: sync.OnceValues(func() (Lock, error) { return ReadLock(o.Root) }),
		images: make(map[string]*image), engines: make(map[string]*found),
	}
}

// ImageOf returns what identifies the image of c in a key: the digest of a registry, or the digest of all that it is built
// of. The error of a tag without a digest is an *UnknownImage of package key.
func (h *Host) ImageOf(c *dish.Container) (string, error) {
	if c.Dockerfile != "" {
		b, err := h.contextOf(c)
		if err != nil {
			return "", err
		}
		return b.digest()
	}
	return h.pinned(c)
}

// Engine returns a sentence about the engine that runs c, or an *EngineError.
func (h *Host) Engine(ctx context.Context, c *dish.Container) (string, error) {
	e, err := h.engine(ctx, c)
	if err != nil {
		return "", err
	}
	says := e.Name + " " + e.Version
	if e.rootless {
		says += ", without root"
	}
	if e.alone {
		says += ", with one user in each container: /etc/subuid has no ids for yours"
	}
	if !e.init {
		says += "; catatonit is missing, without which a process that does not handle SIGTERM ends after its grace"
	}
	return says, nil
}

// found is the search for an engine.
type found struct {
	once   sync.Once
	engine *engine
	err    error
}

// engine returns the engine of c, which it searches for once.
func (h *Host) engine(ctx context.Context, c *dish.Container) (*engine, error) {
	name := c.Engine
	if name == "" {
		name = h.Settings.Engine
	}
	h.mu.Lock()
	f := h.engines[name]
	if f == nil {
		f = new(found)
		h.engines[name] = f
	}
	h.mu.Unlock()
	f.once.Do(func() { f.engine, f.err = h.search(ctx, name) })
	return f.engine, f.err
}
