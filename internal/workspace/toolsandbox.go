package workspace

import (
	"path/filepath"

	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/plugin/host"
)

// confine returns the sandbox of a program, nil for none. It sets the Problem of a tool that must not start without
// a sandbox.
func (t *toolFinder) confine(f *FoundTool, dir string) *host.Sandbox {
	mode, c := t.cfg.ToolSandbox(f.ID), &t.confiner
	if mode.Text == config.SandboxOff || t.state == nil { // without a state, tools are only listed
		return nil
	}
	err := c.prepare(t.state)
	if err != nil {
		c.lacks = err.Error()
	}
	if err != nil || c.lacks != "" && mode.Text == config.SandboxRequired {
		f.Tool.Problem, f.Tool.Hint = "the tool "+f.ID+" cannot be confined: "+c.lacks, `"auto" at `+mode.Pos.String()+" confines tools as far as the kernel can"
		return nil
	}
	if c.lacks != "" && c.partial == nil {
		c.partial = &mode
		d := mode.Pos.Warning("sandbox_incomplete", "one-shot tools are confined only in part on this kernel: %s", c.lacks)
		d.Hint = `with "required" they are not started then`
		t.problems = append(t.problems, d)
	}
	read := append(c.paths(t.cfg.ToolReads(f.ID)), dir) // the program itself is always readable
	return &host.Sandbox{Helper: c.helper, Root: t.cfg.Root, Scratch: filepath.Join(c.scratch, "tool-"+f.ID), Read: read}
}
