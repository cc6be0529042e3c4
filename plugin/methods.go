package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/creachadair/jrpc2"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/wire"
)

// initialize returns the manifest, with the capabilities of the adapter's type and of this
// package.
func (s *server) initialize(context.Context, *jrpc2.Request) (any, error) {
	m := *s.a.Manifest()
	m.ProtocolVersion = adapters.ProtocolVersion
	if m.DisplayName == "" {
		m.DisplayName = m.AdapterID
	}
	if m.FingerprintFiles == nil { // required by the protocol, which allows no null here
		m.FingerprintFiles = []string{}
	}
	if m.DefaultTasks == nil {
		m.DefaultTasks = []adapters.Task{}
	}
	if c := m.Capabilities; !c.Detect && !c.RequiredToolchain && !c.ResolvedToolchainFingerprint && !c.Install {
		m.Capabilities = adapters.Capabilities{Detect: true, RequiredToolchain: true, ResolvedToolchainFingerprint: true, Install: true}
	}
	_, m.Capabilities.Tasks = s.a.(adapters.TaskLister)
	_, m.Capabilities.Links = s.a.(adapters.Linker)
	_, m.Capabilities.InstallScope = s.a.(adapters.Scoper)
	_, m.Capabilities.Add = s.a.(adapters.Adder)
	_, m.Capabilities.Scaffold = s.a.(adapters.Scaffolder)
	m.Capabilities.Options = m.OptionsSchema != nil
	_, m.Capabilities.ResolvedToolchain = s.a.(adapters.ToolchainResolver)
	m.Capabilities.Cancel = true
	return m, nil
}

func (s *server) detect(ctx context.Context, req *jrpc2.Request) (any, error) {
	dir, err := dirOf(req)
	if err != nil {
		return nil, err
	}
	matches, err := s.a.Detect(ctx, dir)
	return wire.Detected{Matches: matches}, err
}

func (s *server) toolchain(ctx context.Context, req *jrpc2.Request) (any, error) {
	dir, err := dirOf(req)
	if err != nil {
		return nil, err
	}
	return s.a.RequiredToolchain(ctx, dir)
}

// fingerprint calls the adapter without a directory: protocol 1 has one answer for all.
func (s *server) fingerprint(ctx context.Context, req *jrpc2.Request) (any, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var p wire.Toolchain
	if err := paramsOf(req, &p); err != nil {
		return nil, err
	}
	text, err := s.a.ToolchainFingerprint(withExec(ctx, p.Exec), dir)
	if text == "" {
		return nil, err
	}
	return text, err
}

func (s *server) resolved(ctx context.Context, req *jrpc2.Request) (any, error) {
	var p wire.Toolchain
	if err := paramsOf(req, &p); err != nil {
		return nil, err
	}
	if err := checkDir("dir", p.Dir); err != nil {
		return nil, err
	}
	r, err := s.a.(adapters.ToolchainResolver).ResolvedToolchain(withExec(ctx, p.Exec), p.Dir)
	if r == nil {
		return nil, err
	}
	return r, err
}

func (s *server) install(ctx context.Context, req *jrpc2.Request) (any, error) {
	var p adapters.InstallRequest
	if err := paramsOf(req, &p); err != nil {
		return nil, err
	}
	if err := checkDir("dish_dir", p.DishDir); err != nil {
		return nil, err
	}
	p.Env = adapters.NewEnviron(os.Environ())
	planner, plans := s.a.(adapters.InstallPlanner)
	if !plans {
		return nil, s.a.Install(ctx, p, s.log(ctx))
	}
	commands, err := planner.InstallCommands(ctx, p)
	if len(commands) == 0 {
		return nil, err
	}
	return wire.Installed{Commands: commands}, err
}

// log returns the function that sends progress to bento.
func (s *server) log(ctx context.Context) adapters.LogFunc {
	return func(l adapters.Log) {
		_ = s.rpc.Notify(ctx, wire.NotifyLog, l) // the host may be gone
	}
}

func (s *server) add(ctx context.Context, req *jrpc2.Request) (any, error) {
	var p adapters.AddRequest
	if err := paramsOf(req, &p); err != nil {
		return nil, err
	}
	if err := checkDir("dish_dir", p.DishDir); err != nil {
		return nil, err
	}
	if len(p.Packages) == 0 {
		return nil, jrpc2.Errorf(wire.CodeInvalidParams, "params.packages: expected at least one")
	}
	p.Env = adapters.NewEnviron(os.Environ())
	return nil, adapters.Add(ctx, s.a, p, s.log(ctx))
}

func (s *server) diagnose(ctx context.Context, req *jrpc2.Request) (any, error) {
	var p adapters.ParseRequest
	if err := paramsOf(req, &p); err != nil {
		return nil, err
	}
	list, err := s.a.ParseDiagnostics(ctx, p)
	if list == nil {
		list = []diagnostics.Diagnostic{}
	}
	return wire.Diagnosed{Diagnostics: list}, err
}

func (s *server) tasks(ctx context.Context, req *jrpc2.Request) (any, error) {
	dir, err := dirOf(req)
	if err != nil {
		return nil, err
	}
	answer, err := adapters.Tasks(ctx, s.a, dir)
	if answer.Tasks == nil {
		answer.Tasks = []adapters.Task{}
	}
	return answer, err
}

func (s *server) links(ctx context.Context, req *jrpc2.Request) (any, error) {
	dir, err := dirOf(req)
	if err != nil {
		return nil, err
	}
	answer, err := adapters.Links(ctx, s.a, dir)
	if answer.Links == nil {
		answer.Links = []adapters.Link{}
	}
	return answer, err
}

func (s *server) installScope(ctx context.Context, req *jrpc2.Request) (any, error) {
	dir, err := dirOf(req)
	if err != nil {
		return nil, err
	}
	return adapters.InstallScope(ctx, s.a, dir)
}

// paramsOf decodes the params of a request, if any.
func paramsOf(req *jrpc2.Request, into any) error {
	if !req.HasParams() {
		return nil
	}
	if err := wire.Decode(json.RawMessage(req.ParamString()), into); err != nil {
		return jrpc2.Errorf(wire.CodeInvalidParams, "params: %v", err)
	}
	return nil
}

func dirOf(req *jrpc2.Request) (string, error) {
	var p wire.Dir
	if err := paramsOf(req, &p); err != nil {
		return "", err
	}
	return p.Dir, checkDir("dir", p.Dir)
}

func checkDir(name, dir string) error {
	if !filepath.IsAbs(dir) {
		return jrpc2.Errorf(wire.CodeInvalidParams, "params.%s: expected an absolute path, got %q", name, dir)
	}
	return nil
}

// rpcError returns the code and data of the protocol for an error of the adapter.
func rpcError(method string, err error) error {
	var (
		rpc     *jrpc2.Error
		install *adapters.InstallError
		missing *adapters.MissingTool
		io      *fs.PathError
	)
	switch {
	case err == nil || errors.As(err, &rpc):
		return err
	case errors.As(err, &install):
		message := cmp.Or(install.Detail, install.Error())
		return jrpc2.Errorf(wire.CodeInstallFailed, "%s", message).
			WithData(wire.InstallData{ExitStatus: install.ExitStatus, Command: install.Command})
	case errors.As(err, &missing):
		return withData(wire.CodePlugin, err, wire.PluginData{Detail: err.Error(), MissingTool: missing.Tool, Hint: missing.Hint})
	case errors.As(err, &io):
		var errno syscall.Errno
		errors.As(err, &errno)
		return withData(wire.CodeIO, err, wire.IOData{Path: io.Path, Errno: int(errno)})
	case method == wire.MethodToolchain:
		return withData(wire.CodeToolchain, err, wire.ToolchainData{Reason: err.Error()})
	}
	return withData(wire.CodePlugin, err, wire.PluginData{Detail: err.Error()})
}

func withData(code jrpc2.Code, err error, data any) error {
	return jrpc2.Errorf(code, "%v", err).WithData(data)
}
