package kit

import (
	"cmp"
	"errors"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/plugin/bundle"
	"github.com/bentobuild/bento/plugin/wasm"
)

// openPackage opens the program or module of an installed package. It reads only manifests.
func (t *toolFinder) openPackage(f *FoundTool) {
	pins := make(map[string]bundle.Pin)
	for id, pin := range t.cfg.Tools.Locked {
		pins[id] = bundle.Pin{SHA256: pin.Text, Where: pin.Pos.String()}
	}
	p, problems, err := bundle.Resolve(bundle.Query{
		Ref: f.Settings.Package.Text, Tiers: t.tiers(), Pins: pins,
		Keys: t.cfg.Trust.Keys, RequireSigned: t.cfg.Trust.RequireSigned,
	})
	t.problems = append(t.problems, problems...)
	if err != nil {
		f.Tool.Problem = err.Error()
		var list diagnostics.Problems
		if errors.As(err, &list) {
			f.Tool.Problem, f.Tool.Hint = list[0].Message, list[0].Hint
		}
		return
	}
	terms := []dish.Term{{Name: "package", Value: p.ID + " " + p.Version}, {Name: "package digest", Value: p.Digest}}
	if p.Wasm != "" {
		f.Path = p.Wasm
		m := moduleOf{terms: terms, beside: []string{p.Manifest}, manifest: &wasm.Manifest{
			Capabilities: p.Module.Capabilities, HostCalls: p.Module.AllowedHostCalls, MinAPI: p.Module.MinRuntimeAPI, MaxAPI: p.Module.MaxRuntimeAPI,
		}}
		if m.sha256 = p.WasmSHA256; t.cfg.HashPolicy(p.Installed) != config.HashEnforce {
			m.sha256 = ""
			t.compare(f, p)
		}
		t.openModule(f, m)
		return
	}
	f.Path = t.programOf(p.WorkDir, p.Argv[0])
	t.openProgram(f, launch{
		ID: p.ID, Argv: append([]string{f.Path}, p.Argv[1:]...), words: append([]string{p.Process.Command}, p.Process.Args...), Dir: p.WorkDir, SHA256: p.ArgvSHA256, terms: terms,
		Env: t.host.PluginEnv(t.cfg.Root).Strict(f.Settings.Env...).With(p.Process.Env).With(f.Settings.SetEnv),
	})
}

// tiers returns the directories of packages. A later directory takes precedence.
func (t *toolFinder) tiers() (list []bundle.Tier) {
	if dir := packagesDir(t.host, "tools"); dir != "" {
		list = append(list, bundle.Global(dir))
	}
	project, dev := t.cfg.Tools.PackageDirs()
	return append(list, bundle.Tier{Name: "project", Base: t.cfg.Root, Rel: project}, bundle.Tier{Name: "dev", Base: t.cfg.Root, Rel: dev})
}

// compare warns of a module that does not have the digest of its manifest, unless the policy is to skip the
// comparison. Other problems of the file are reported when a task needs it.
func (t *toolFinder) compare(f *FoundTool, p *bundle.Resolved) {
	if p.WasmSHA256 == "" || t.cfg.HashPolicy(p.Installed) == config.HashSkip {
		return
	}
	id := &toolIdentity{digests: t.digests, files: []string{p.Wasm}, most: cmp.Or(f.Settings.Limits.Module, wasm.DefaultModule), within: t.above(p.Wasm)}
	found, err := id.digest()
	if err != nil || found == p.WasmSHA256 {
		return
	}
	t.problems = append(t.problems, f.Settings.Package.Pos.Warning(bundle.RuleDigest, "the sha256 of %q is %s, and its manifest states %s", p.Wasm, found, p.WasmSHA256).
		WithHint("if the module was changed on purpose, write its digest or 64 zeros to the manifest"))
}
