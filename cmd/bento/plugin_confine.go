package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/sandbox"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/host"
)

// confine gives the sandboxes that the configuration wants for plugins, by id. Where
// the kernel cannot do all of what is promised, candidates whose sandbox is required
// are marked as not trusted, which is an error; for the others there is a warning.
func (s *session) confine(candidates []adapters.Candidate, cfg *config.Workspace, st *state.Dir) (map[string]*host.Sandbox, []diagnostics.Diagnostic) {
	c := confiner{session: s, cfg: cfg, boxes: make(map[string]*host.Sandbox), refused: make(map[config.Text][]string)}
	for i := range candidates {
		mode := cfg.Plugins.SandboxOf(candidates[i].ID)
		if candidates[i].Skip == "" && mode.Text != config.SandboxOff {
			c.candidate(&candidates[i], mode, st)
		}
	}
	return c.boxes, c.problems()
}

// confiner makes the sandboxes of one invocation.
type confiner struct {
	*session
	cfg     *config.Workspace
	lacks   string // why a sandbox is not whole, "" when it is
	helper  string
	scratch string // that of the session
	boxes   map[string]*host.Sandbox
	partial *config.Text             // a sandbox that is not whole
	refused map[config.Text][]string // ids of those that are not started for that
}

func (c *confiner) candidate(p *adapters.Candidate, mode config.Text, st *state.Dir) {
	err := c.prepare(st)
	if err != nil {
		c.lacks = err.Error()
	}
	if err != nil || c.lacks != "" && mode.Text == config.SandboxRequired {
		p.Skip, p.SkipReason = adapters.SkipNotTrusted, "it cannot be confined: "+c.lacks
		c.refused[mode] = append(c.refused[mode], p.ID)
		return
	}
	if c.lacks != "" && c.partial == nil {
		c.partial = &mode
	}
	own := c.cfg.Plugins.ByID[p.ID]
	c.boxes[p.ID] = &host.Sandbox{
		Helper: c.helper, Root: c.cfg.Root, Scratch: filepath.Join(c.scratch, p.ID), Read: c.paths(own.Read), Write: c.paths(own.Write),
	}
}

// problems says, once each, what is not as it was wanted.
func (c *confiner) problems() (list []diagnostics.Diagnostic) {
	for mode, ids := range c.refused {
		d := mode.Pos.Error("sandbox_unavailable", "sandbox = %q cannot be had, so %s not started: %s", mode.Text, pluginsAre(ids), c.lacks)
		d.Hint = `"auto" confines plugins as far as the kernel can`
		list = append(list, d)
	}
	if c.partial != nil {
		d := c.partial.Pos.Warning("sandbox_incomplete", "plugins are confined only in part on this kernel: %s", c.lacks)
		d.Hint = `with "required" they are not started then`
		list = append(list, d)
	}
	return list
}

func pluginsAre(ids []string) string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) == 1 {
		return "the plugin " + ids[0] + " is"
	}
	return "the plugins " + strings.Join(ids, ", ") + " are"
}

// prepare finds out, once, what all sandboxes need.
func (c *confiner) prepare(st *state.Dir) (err error) {
	if c.scratch != "" {
		return nil
	}
	c.lacks = strings.Join(sandbox.Offered().Lacks(), "; ")
	if c.helper, err = os.Executable(); err != nil {
		return err
	}
	c.scratch, err = c.session.scratch.make(c.session, st)
	return err
}

// scratch is the directory of all scratch directories of a session.
type scratch struct {
	mu  sync.Mutex
	dir string // "" until somebody needs it
}

// make makes it, unless it is there.
func (d *scratch) make(s *session, st *state.Dir) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dir != "" {
		return d.dir, nil
	}
	temp, err := st.Temp()
	if err != nil { // the workspace cannot be written
		if temp, err = elsewhere(); err != nil {
			return "", fmt.Errorf("no scratch directory: %w", err)
		}
	}
	d.dir = temp.Path()
	s.atEnd = append(s.atEnd, temp.Remove)
	return d.dir, nil
}

// elsewhere makes a directory where the system keeps temporary files.
func elsewhere() (*owndir.Temp, error) {
	parent, err := owndir.Open(os.TempDir(), nil)
	if err != nil {
		return nil, err
	}
	defer parent.Close()
	return parent.Temp()
}

// paths gives absolute paths for those of the configuration. What is below a home
// directory that nobody knows is left out.
func (c *confiner) paths(texts []config.Text) []string {
	var list []string
	home := c.environ.Get("HOME")
	for _, t := range texts {
		path, below := t.Text, strings.HasPrefix(t.Text, "~")
		if below {
			path = filepath.Join(home, strings.TrimPrefix(path, "~"))
		}
		if !below || filepath.IsAbs(home) {
			list = append(list, path)
		}
	}
	return list
}
