package workspace

import (
	"errors"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/wasm"
)

// openPackage opens the program or module of an installed package. It reads manifests alone.
func (t *toolFinder) openPackage(f *FoundTool) {
	dir := bundle.DataDir(t.host.Environ.Get)
	if dir == "" {
		f.Tool.Problem = "neither XDG_DATA_HOME nor HOME says where packages are installed"
		return
	}
	pins := make(map[string]bundle.Pin)
	for id, pin := range t.cfg.Tools.Locked {
		pins[id] = bundle.Pin{SHA256: pin.Text, Where: pin.Pos.String()}
	}
	p, problems, err := bundle.Resolve(bundle.Query{Ref: f.Settings.Package.Text, Tiers: []bundle.Tier{bundle.Global(dir)}, Pins: pins})
	t.problems = append(t.problems, problems...)
	if err != nil {
		f.Tool.Problem = err.Error()
		var list diagnostics.Problems
		if errors.As(err, &list) {
			f.Tool.Problem, f.Tool.Hint = list[0].Message, list[0].Hint
		}
		return
	}
	terms := []discovery.Term{{Name: "package", Value: p.ID + " " + p.Version}, {Name: "package digest", Value: p.Digest}}
	if p.Wasm != "" {
		f.Path = p.Wasm
		t.openModule(f, moduleOf{sha256: p.WasmSHA256, terms: terms, manifest: &wasm.Manifest{
			Capabilities: p.Module.Capabilities, HostCalls: p.Module.AllowedHostCalls, MinAPI: p.Module.MinRuntimeAPI, MaxAPI: p.Module.MaxRuntimeAPI,
		}})
		return
	}
	f.Path = t.host.programOf(p.WorkDir, p.Argv[0])
	t.openProgram(f, Launch{
		ID: p.ID, Argv: append([]string{f.Path}, p.Argv[1:]...), words: p.Argv, Dir: p.WorkDir, sha256: p.ArgvSHA256, terms: terms,
		Env: t.host.PluginEnv(t.cfg.Root).Strict(f.Settings.Env...).With(p.Process.Env).With(f.Settings.SetEnv),
	})
}
