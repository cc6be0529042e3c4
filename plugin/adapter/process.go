package adapter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/probe"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// Process is a plugin that runs, or will run when it is needed, as an adapter. A method that the manifest
// does not offer returns the default of an adapter without it. So does a method that the manifest offers
// only by default and that the plugin does not know. Detect and RequiredToolchain ask the plugin once per
// directory, ToolchainFingerprint once. The error of a plugin at fault is an *adapters.Failure.
type Process struct {
	id      string
	install time.Duration
	from    adapters.Candidate
	o       Options

	manifest   *adapters.Manifest
	raw, text  []byte   // of the manifest: as received, and the members that bento uses
	dropped    []string // descriptions of the members that bento ignores
	executable string   // the digest

	known  map[string]listing // while it is asleep: directories that it refused before
	waking memo[struct{}, *host.Plugin]
	idle   idle
	reader *answer.Reader
	asker  *probe.Asker // runs the manifest's exec
	saved  *saved       // answers of a module, nil for others
	basis  string       // its key in o.Keep

	isKept, isReleased bool // o.Keep ends it; this use of it is over; both belong to o.Keep

	mu      sync.Mutex
	plugin  *host.Plugin      // nil while it is asleep
	failure *adapters.Failure // of a start on demand
	closed  bool

	detected   memo[string, bool]
	toolchain  memo[string, *adapters.Toolchain]
	resolution memo[toolchainOf, string]
}

var (
	_ adapters.Adapter    = (*Process)(nil)
	_ adapters.TaskLister = (*Process)(nil)
	_ adapters.Linker     = (*Process)(nil)
	_ adapters.Scoper     = (*Process)(nil)
	_ adapters.Adder      = (*Process)(nil)
	_ adapters.PinChecker = (*Process)(nil)
	_ adapters.LateTeller = (*Process)(nil)
)

// Manifest returns the plugin's manifest with its Identity: the digest of its executable
// and its manifest.
func (p *Process) Manifest() *adapters.Manifest { return p.manifest }

// Detect implements adapters.Adapter.
func (p *Process) Detect(ctx context.Context, dir string) (bool, error) {
	if !p.manifest.Capabilities.Detect {
		return false, nil
	}
	dir = filepath.Clean(dir)
	return p.detected.get(ctx, dir, func() (bool, error) {
		return p.detect(dir, func() (bool, error) {
			var d wire.Detected
			_, err := p.ask(ctx, about(wire.MethodDetect, dir), &d)
			return d.Matches, err
		})
	})
}

// RequiredToolchain implements adapters.Adapter.
func (p *Process) RequiredToolchain(ctx context.Context, dir string) (*adapters.Toolchain, error) {
	if !p.manifest.Capabilities.RequiredToolchain {
		return nil, nil
	}
	dir = filepath.Clean(dir)
	return p.toolchain.get(ctx, dir, func() (t *adapters.Toolchain, err error) {
		_, err = p.ask(ctx, about(wire.MethodToolchain, dir), &t)
		return t, err
	})
}

// Tasks implements adapters.TaskLister.
func (p *Process) Tasks(ctx context.Context, dir string) (adapters.TasksAnswer, error) {
	defaults := adapters.TasksAnswer{Tasks: p.manifest.DefaultTasks}
	if !p.manifest.Capabilities.Tasks {
		return defaults, nil
	}
	var a adapters.TasksAnswer
	if known, err := p.ask(ctx, about(wire.MethodTasks, dir), &a); !known {
		return defaults, err
	}
	return a, nil
}

// Links implements adapters.Linker.
func (p *Process) Links(ctx context.Context, dir string) (adapters.LinksAnswer, error) {
	if !p.manifest.Capabilities.Links {
		return adapters.LinksAnswer{}, nil
	}
	var a adapters.LinksAnswer
	_, err := p.ask(ctx, about(wire.MethodLinks, dir), &a)
	return a, err
}

// InstallScope implements adapters.Scoper.
func (p *Process) InstallScope(ctx context.Context, dir string) (adapters.Scope, error) {
	scope := adapters.Scope{Dir: dir}
	if !p.manifest.Capabilities.InstallScope {
		return scope, nil
	}
	_, err := p.ask(ctx, about(wire.MethodInstallScope, dir), &scope)
	return scope, err
}

// Ask sends a raw request: params are sent unchanged, none if they are nil, and the answer is neither
// checked nor kept. The timeout is that of the method. If the plugin answers with an error, it is a
// *wire.RPCError. log may be nil.
func (p *Process) Ask(ctx context.Context, method string, params json.RawMessage, log adapters.LogFunc) (json.RawMessage, error) {
	c := host.Call{Method: method, Once: true, Log: log}
	if params != nil {
		c.Params = params
	}
	if method != wire.MethodInstall && method != wire.MethodAdd {
		return p.call(ctx, c)
	}
	c.Within = cmp.Or(p.install, installWithin)
	var about struct {
		Dir string `json:"dish_dir"`
	}
	_ = wire.Decode(params, &about) // the plugin reports invalid params
	var result json.RawMessage
	err := p.asInstaller(ctx, []string{about.Dir}, func(p *Process) (err error) {
		result, err = p.call(ctx, c)
		return err
	})
	return result, err
}

func about(method, dir string) host.Call {
	return host.Call{Method: method, Params: wire.Dir{Dir: dir}, Dir: dir}
}

// call asks the plugin, and starts it if it is asleep.
func (p *Process) call(ctx context.Context, c host.Call) (json.RawMessage, error) {
	plugin, err := p.running(ctx)
	if err != nil {
		return nil, err
	}
	if c.Method != wire.MethodDetect {
		p.idle.isBusy()
	}
	return plugin.Call(ctx, c)
}

// ask calls the plugin and decodes the answer into the value that into points to. If the
// plugin does not know a method that the manifest does not name, answered is false without
// an error. The answer may be a saved one.
func (p *Process) ask(ctx context.Context, c host.Call, into any) (answered bool, err error) {
	if p.recall(c, "", into) {
		return true, nil
	}
	return p.askNow(ctx, c, "", into)
}

// askNow is ask without saved answers; tool is the tool of the question.
func (p *Process) askNow(ctx context.Context, c host.Call, tool string, into any) (answered bool, err error) {
	c, err = p.withSettings(c)
	if err != nil {
		return false, err
	}
	result, err := p.call(ctx, c)
	var rpc *wire.RPCError
	switch {
	case errors.As(err, &rpc) && rpc.Code == wire.CodeMethodNotFound && !answer.Names(p.raw, c.Method):
		return false, nil
	case errors.As(err, &rpc):
		return false, p.explain(c, rpc)
	case err != nil:
		return false, err
	}
	if err := p.reader.Decode(c.Method, result, into); err != nil {
		return false, p.malformed(c, err)
	}
	if p.settings(c.Dir) == "" { // saved answers depend on files alone
		p.saved.answered(c, tool, result)
	}
	return true, nil
}

// malformed returns the failure of a result of another form than the method has.
func (p *Process) malformed(c host.Call, err error) *adapters.Failure {
	f := p.host().Failure(c, adapters.MalformedResponse, "result: "+err.Error())
	f.Hint = "bento plugin test " + p.id + " names the clause that it breaks; report that to the plugin's author"
	return f
}

// explain adds the meaning of the plugin's own error.
func (p *Process) explain(c host.Call, rpc *wire.RPCError) error {
	if err := answer.ToolError(p.id, c.Method, rpc); err != nil {
		return err
	}
	message := fmt.Sprintf("error %d: %s", rpc.Code, cmp.Or(wire.Plain(rpc.Message), "no message"))
	if rpc.Code == wire.CodeMethodNotFound {
		message += ", though its manifest offers it"
	}
	f := p.host().Failure(c, adapters.RPCError, message)
	if rpc.Data != nil {
		f.Data = wire.Plain(string(rpc.Data))
	}
	return f
}
