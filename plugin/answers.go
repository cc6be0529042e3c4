package plugin

import (
	"context"
	"os"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/wire"
)

// initialize returns the manifest, with the capabilities of the adapter's type and of this
// package.
func (m *methods) initialize(context.Context, *call) (any, error) {
	about := *m.a.Manifest()
	about.ProtocolVersion = adapters.ProtocolVersion
	if about.DisplayName == "" {
		about.DisplayName = about.AdapterID
	}
	if about.FingerprintFiles == nil { // required by the protocol, which allows no null here
		about.FingerprintFiles = []string{}
	}
	if about.DefaultTasks == nil {
		about.DefaultTasks = []adapters.Task{}
	}
	if c := about.Capabilities; !c.Detect && !c.RequiredToolchain && !c.ResolvedToolchainFingerprint && !c.Install {
		about.Capabilities = adapters.Capabilities{Detect: true, RequiredToolchain: true, ResolvedToolchainFingerprint: true, Install: true}
	}
	_, about.Capabilities.Tasks = m.a.(adapters.TaskLister)
	_, about.Capabilities.Links = m.a.(adapters.Linker)
	_, about.Capabilities.InstallScope = m.a.(adapters.Scoper)
	_, about.Capabilities.Add = m.a.(adapters.Adder)
	_, about.Capabilities.Scaffold = m.a.(adapters.Scaffolder)
	about.Capabilities.Options = about.OptionsSchema != nil
	_, about.Capabilities.ResolvedToolchain = m.a.(adapters.ToolchainResolver)
	about.Capabilities.Cancel = true
	return about, nil
}

func (m *methods) detect(ctx context.Context, c *call) (any, error) {
	dir, err := dirOf(c)
	if err != nil {
		return nil, err
	}
	matches, err := m.a.Detect(ctx, dir)
	return wire.Detected{Matches: matches}, err
}

func (m *methods) toolchain(ctx context.Context, c *call) (any, error) {
	dir, err := dirOf(c)
	if err != nil {
		return nil, err
	}
	return m.a.RequiredToolchain(ctx, dir)
}

// fingerprint calls the adapter without a directory: protocol 1 has one answer for all.
func (m *methods) fingerprint(ctx context.Context, c *call) (any, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var p wire.Toolchain
	if err := decode(c.params, &p); err != nil {
		return nil, err
	}
	text, err := m.a.ToolchainFingerprint(withExec(ctx, p.Exec), dir)
	if text == "" {
		return nil, err
	}
	return text, err
}

func (m *methods) resolved(ctx context.Context, c *call) (any, error) {
	var p wire.Toolchain
	if err := decode(c.params, &p); err != nil {
		return nil, err
	}
	if err := checkDir("dir", p.Dir); err != nil {
		return nil, err
	}
	r, err := m.a.(adapters.ToolchainResolver).ResolvedToolchain(withExec(ctx, p.Exec), p.Dir)
	if r == nil {
		return nil, err
	}
	return r, err
}

func (m *methods) install(ctx context.Context, c *call) (any, error) {
	var p adapters.InstallRequest
	if err := decode(c.params, &p); err != nil {
		return nil, err
	}
	if err := checkDir("dish_dir", p.DishDir); err != nil {
		return nil, err
	}
	p.Env = adapters.NewEnviron(os.Environ())
	planner, plans := m.a.(adapters.InstallPlanner)
	if !plans {
		return nil, m.a.Install(ctx, p, c.log)
	}
	commands, err := planner.InstallCommands(ctx, p)
	if len(commands) == 0 {
		return nil, err
	}
	return wire.Installed{Commands: commands}, err
}

func (m *methods) add(ctx context.Context, c *call) (any, error) {
	var p adapters.AddRequest
	if err := decode(c.params, &p); err != nil {
		return nil, err
	}
	if err := checkDir("dish_dir", p.DishDir); err != nil {
		return nil, err
	}
	if len(p.Packages) == 0 {
		return nil, refuse(wire.CodeInvalidParams, "params.packages: expected at least one")
	}
	p.Env = adapters.NewEnviron(os.Environ())
	return nil, adapters.Add(ctx, m.a, p, c.log)
}

func (m *methods) diagnose(ctx context.Context, c *call) (any, error) {
	var p adapters.ParseRequest
	if err := decode(c.params, &p); err != nil {
		return nil, err
	}
	list, err := m.a.ParseDiagnostics(ctx, p)
	if list == nil {
		list = []diagnostics.Diagnostic{}
	}
	return wire.Diagnosed{Diagnostics: list}, err
}

func (m *methods) tasks(ctx context.Context, c *call) (any, error) {
	dir, err := dirOf(c)
	if err != nil {
		return nil, err
	}
	answer, err := adapters.Tasks(ctx, m.a, dir)
	if answer.Tasks == nil {
		answer.Tasks = []adapters.Task{}
	}
	return answer, err
}

func (m *methods) links(ctx context.Context, c *call) (any, error) {
	dir, err := dirOf(c)
	if err != nil {
		return nil, err
	}
	answer, err := adapters.Links(ctx, m.a, dir)
	if answer.Links == nil {
		answer.Links = []adapters.Link{}
	}
	return answer, err
}

func (m *methods) installScope(ctx context.Context, c *call) (any, error) {
	dir, err := dirOf(c)
	if err != nil {
		return nil, err
	}
	return adapters.InstallScope(ctx, m.a, dir)
}

// scaffold answers with the files of a new project.
func (m *methods) scaffold(_ context.Context, c *call) (any, error) {
	var p wire.Scaffold
	if err := decode(c.params, &p); err != nil {
		return nil, err
	}
	files, err := m.a.(adapters.Scaffolder).Scaffold(p.Name)
	if err != nil {
		return nil, err
	}
	answer := wire.Scaffolded{Files: []wire.ScaffoldedFile{}}
	for _, f := range files {
		answer.Files = append(answer.Files, wire.ScaffoldedFile{Path: f.Path, Text: string(f.Data), Executable: f.Mode&0o111 != 0})
	}
	return answer, nil
}
