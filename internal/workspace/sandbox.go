package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/sandbox"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/plugin/host"
)

// confine returns the configured sandboxes of plugins, by id. If the kernel cannot provide the whole sandbox, confine
// marks candidates with a required sandbox as not trusted, which is an error, and warns of the others.
func (h *Host) confine(candidates []adapters.Candidate, cfg *config.Workspace, st *state.Dir) (map[string]*host.Sandbox, []diagnostics.Diagnostic) {
	c := h.Confiner(cfg, st)
	boxes, refused := make(map[string]*host.Sandbox), make(map[dish.Text][]string)
	for i := range candidates {
		p := &candidates[i]
		mode, own := cfg.Plugins.SandboxOf(p.ID), cfg.Plugins.ByID[p.ID]
		if p.Skip != "" || mode.Text == config.SandboxOff {
			continue
		}
		box, err := c.Box(p.ID, mode)
		if err != nil {
			p.Skip, p.SkipReason = adapters.SkipNotTrusted, "it "+err.Error()
			refused[mode] = append(refused[mode], p.ID)
			continue
		}
		box.Read, box.Write = c.Paths(own.Read), c.Paths(own.Write)
		boxes[p.ID] = box
	}
	problems := c.Problems("plugins")
	for mode, ids := range refused {
		problems = append(problems, mode.Pos.Error("sandbox_unavailable", "sandbox = %q is not available, so %s not started: %s", mode.Text, pluginsAre(ids), c.lacks).
			WithHint(`"auto" confines plugins as far as the kernel can`))
	}
	return boxes, problems
}

func pluginsAre(ids []string) string {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) == 1 {
		return "the plugin " + ids[0] + " is"
	}
	return "the plugins " + strings.Join(ids, ", ") + " are"
}

// Confiner makes the sandboxes of the plugins or of the tools of one invocation.
type Confiner struct {
	host    *Host
	cfg     *config.Workspace
	state   *state.Dir
	lacks   string // the missing features of the sandbox, "" for none
	helper  string
	scratch string     // the scratch directory of the host
	partial *dish.Text // the setting of an incomplete sandbox
}

// Confiner returns a Confiner for a workspace.
func (h *Host) Confiner(cfg *config.Workspace, st *state.Dir) *Confiner {
	return &Confiner{host: h, cfg: cfg, state: st}
}

// Box returns a sandbox with a scratch directory of that name. It returns an error if mode requires the whole sandbox,
// which the kernel cannot provide.
func (c *Confiner) Box(name string, mode dish.Text) (*host.Sandbox, error) {
	err := c.prepare()
	if err != nil {
		c.lacks = err.Error()
	}
	if err != nil || c.lacks != "" && mode.Text == config.SandboxRequired {
		return nil, fmt.Errorf("cannot be confined: %s", c.lacks)
	}
	if c.lacks != "" && c.partial == nil {
		c.partial = &mode
	}
	return &host.Sandbox{Helper: c.helper, Root: c.cfg.Root, Scratch: filepath.Join(c.scratch, name)}, nil
}

// Problems returns a warning if sandboxes of programs, such as "plugins", are incomplete.
func (c *Confiner) Problems(programs string) []diagnostics.Diagnostic {
	if c.partial == nil {
		return nil
	}
	return []diagnostics.Diagnostic{c.partial.Pos.Warning("sandbox_incomplete", "%s are confined only in part on this kernel: %s", programs, c.lacks).
		WithHint(`with "required" they are not started then`)}
}

// prepare determines the common parts of all sandboxes, once.
func (c *Confiner) prepare() (err error) {
	if c.scratch != "" {
		return nil
	}
	c.lacks = strings.Join(sandbox.Offered().Lacks(), "; ")
	if c.helper, err = os.Executable(); err != nil {
		return err
	}
	c.scratch, err = c.host.scratchIn(c.state)
	return err
}

// scratchIn returns the directory of all scratch directories of the host. The first call creates it.
func (h *Host) scratchIn(st *state.Dir) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.scratch != "" {
		return h.scratch, nil
	}
	temp, err := st.Temp()
	if err != nil { // the workspace is read-only
		if temp, err = state.TempElsewhere(); err != nil {
			return "", fmt.Errorf("no scratch directory: %w", err)
		}
	}
	h.scratch = temp.Path()
	h.atEnd = append(h.atEnd, temp.Remove)
	return h.scratch, nil
}

// Paths returns the configured paths as absolute paths. It leaves out paths below an unknown home directory.
func (c *Confiner) Paths(texts []dish.Text) []string {
	var list []string
	for _, t := range texts {
		if path := c.host.expand(t.Text); path != "" {
			list = append(list, path)
		}
	}
	return list
}
