package adapter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/probe"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/host"
	"github.com/bentobuild/bento/plugin/wire"
)

// installWithin is the timeout of an install.
const installWithin = 30 * time.Minute

// Install implements adapters.Adapter. It is not repeated if the plugin exits. If the answer has
// commands, Install runs them: a plugin that starts no process installs so.
func (p *Process) Install(ctx context.Context, req adapters.InstallRequest, log adapters.LogFunc) error {
	if !p.manifest.Capabilities.Install {
		return nil
	}
	var commands [][]string
	err := p.asInstaller(ctx, []string{req.DishDir, req.Scope.Dir}, func(p *Process) error {
		call := host.Call{
			Method: wire.MethodInstall,
			Params: req,
			Dir:    req.DishDir,
			Within: cmp.Or(p.install, installWithin),
			Once:   true,
			Log:    log,
		}
		var result json.RawMessage
		_, err := p.ask(ctx, call, &result)
		if err != nil {
			return err
		}
		if commands, err = answer.InstallCommands(result); err != nil {
			return p.malformed(call, err)
		}
		return nil
	})
	for _, argv := range commands {
		if err == nil {
			err = p.runInstall(ctx, req, argv, log)
		}
	}
	return err
}

// runInstall runs one command of an install, confined as the plugin is.
func (p *Process) runInstall(ctx context.Context, req adapters.InstallRequest, argv []string, log adapters.LogFunc) error {
	w := probe.Work{Argv: argv, Dir: cmp.Or(req.Scope.Dir, req.DishDir), Env: req.Env, Shown: strings.Join(argv, " ")}
	if strings.Contains(argv[0], "/") && !filepath.IsAbs(argv[0]) {
		w.Argv = append([]string{filepath.Join(w.Dir, argv[0])}, argv[1:]...)
	}
	if box := p.o.Sandbox[p.id]; box != nil {
		w.Env = w.Env.With(box.Environ())
		w.Start = box.ForInstall(req.DishDir, req.Scope.Dir).Run
	}
	err := probe.Run(ctx, req.Leave(), w, log)
	var missing *adapters.MissingTool
	if errors.As(err, &missing) && missing.Hint == "" {
		return &adapters.MissingTool{Tool: missing.Tool, Hint: fmt.Sprintf("install %s; the plugin %s installs with %q", missing.Tool, p.id, w.Shown)}
	}
	return err
}
