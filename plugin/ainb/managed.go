package ainb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/proc"
	"github.com/bentobuild/bento/plugin/wire"
)

const (
	managed = "spawn_managed_subprocess"
	// maxChildren is how many managed children one extension has at once.
	maxChildren = 16
	childGrace  = 2 * time.Second // from SIGTERM to SIGKILL
)

// listed checks a value against a capability whose grant must be a list.
func (x *extension) listed(method, capability, member, value string, has func(listed string) bool) *wire.RPCError {
	g := x.granted[capability]
	switch {
	case g.All:
		x.audit(method, capability, "granted as true, required a list", false)
		return refusal(codeManifest, "%s = true in the manifest: required a list", capability)
	case !slices.ContainsFunc(g.Only, has):
		x.audit(method, capability, fmt.Sprintf("no grant of %.200q", value), false)
		return deniedWith(capability, member, value)
	}
	x.audit(method, capability, value, true)
	return nil
}

// spawn answers host/spawn_managed_subprocess. The child ends with the process of the extension.
func (s *session) spawn(ctx context.Context, method string, raw json.RawMessage) (any, *wire.RPCError) {
	p, refused := params[struct {
		Bin  *string  `json:"bin"`
		Argv []string `json:"argv"`
		Env  []string `json:"env_allowlist"`
		Cwd  string   `json:"cwd"`
	}](raw)
	if refused != nil {
		return nil, refused
	}
	bin, refused := must("bin", p.Bin)
	if refused == nil {
		refused = s.x.listed(method, managed, "bin", bin, func(listed string) bool { return listed == bin })
	}
	if refused != nil {
		return nil, refused
	}
	path, err := s.x.program(bin)
	if err != nil {
		return nil, refusal(wire.CodeInvalidParams, "spawn %.200s: %v", bin, err)
	}
	var env []string
	for _, name := range p.Env {
		if value := s.x.h.o.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	handle, refused := s.reserve()
	if refused != nil {
		return nil, refused
	}
	child, err := proc.Start(proc.Spec{Argv: append([]string{path}, p.Argv...), Dir: p.Cwd, Env: env, Grace: childGrace})
	if err != nil {
		s.release(handle)
		return nil, refusal(wire.CodeInvalidParams, "spawn %.200s: %v", bin, plainCause(err))
	}
	s.handlers.Go(func() {
		child.Wait(ctx) // ends it when ctx is done
		s.release(handle)
	})
	return map[string]any{"handle": handle, "pid": child.Pid()}, nil
}

// program returns the path of a program: an absolute one, or a name in the PATH of the extension, which has
// no directory of the repository.
func (x *extension) program(bin string) (string, error) {
	switch {
	case filepath.IsAbs(bin):
		return filepath.Clean(bin), nil
	case strings.ContainsRune(bin, filepath.Separator):
		return "", errors.New("it is a relative path, required an absolute one or a name in PATH")
	}
	return adapters.Environ(x.e.Env).LookPath(bin)
}

// reserve returns the handle of a new child, unless there are too many.
func (s *session) reserve() (string, *wire.RPCError) {
	handle := fmt.Sprintf("c%d", s.nextID())
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.children) >= maxChildren {
		return "", refusal(wire.CodeInvalidParams, "more than %d children", maxChildren)
	}
	s.children[handle] = true
	return handle, nil
}

func (s *session) release(handle string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.children, handle)
}
