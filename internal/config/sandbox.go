package config

import (
	"path"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// confineWords are the values of sandbox for tasks.
type confineWords struct{}

func (confineWords) words() []string {
	return []string{string(dish.SandboxInputs), string(dish.SandboxNone)}
}

// SandboxOf returns the sandbox of the tasks of d that do not set one themselves, "" for none: that of the first of
// its bentos with one, else of its adapter, else of the workspace.
func (w *Workspace) SandboxOf(d *dish.Dish) dish.Sandbox {
	for _, b := range w.Bentos {
		for _, name := range d.Bentos {
			if b.Name == name && b.Sandbox != "" {
				return b.Sandbox
			}
		}
	}
	for i := range w.Adapters {
		if a := &w.Adapters[i]; d.Adapter != nil && a.ID == d.Adapter.Manifest().AdapterID && a.Sandbox != "" {
			return a.Sandbox
		}
	}
	return w.Defaults.Sandbox
}

// hostPath is the path of a file outside of the workspace.
type hostPath string

// Shape returns the schema.
func (*hostPath) Shape() tomlfile.Schema {
	return tomlfile.Schema{"type": "string", "pattern": "^(~/|/)."}
}

// UnmarshalTOML reads and checks a path.
func (p *hostPath) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	s, ok := v.Text()
	if !ok {
		return []diagnostics.Diagnostic{v.Expected("the path of a file outside of the workspace")}
	}
	rest, home := strings.CutPrefix(s, "~/")
	if !home && !strings.HasPrefix(s, "/") {
		return []diagnostics.Diagnostic{v.Pos().Error(rulePath, "host_inputs %q is relative, expected an absolute path or one with ~/ in front", s).
			WithHint("files of the workspace belong into inputs")}
	}
	clean := path.Clean("/" + rest)
	if clean == "/" || strings.ContainsRune(s, 0) || home && strings.HasPrefix(path.Clean(rest), "..") {
		return []diagnostics.Diagnostic{v.Pos().Error(rulePath, "host_inputs %q names no file", s)}
	}
	*p = hostPath(clean)
	if home {
		*p = hostPath("~" + clean)
	}
	return nil
}

func hostPaths(list []hostPath) (paths []string) {
	for _, p := range list {
		if p != "" {
			paths = append(paths, string(p))
		}
	}
	return paths
}
