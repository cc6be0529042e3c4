package main

import (
	"context"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/plugin/adapter"
)

// pluginNamed returns the plugin that an argument of a command names: a path or an id.
func (s *session) pluginNamed(ctx context.Context, target string) (*kit.Plugin, error) {
	cfg := &config.Workspace{}
	if root, _, err := s.root(); err == nil {
		var problems []diagnostics.Diagnostic
		cfg, problems = config.Load(root, s.host().OwnConfig())
		s.writeProblems(problems)
	}
	return kit.FindPlugin(s.host(), cfg, target, func(path string) ([]byte, error) { return readNamed(ctx, path) })
}

// withPlugin starts one plugin, calls use, and ends the plugin. If the plugin does not start,
// the error is its *adapters.Failure.
func (s *session) withPlugin(ctx context.Context, target string, use func(*adapter.Process, adapter.Status) error) error {
	p, err := s.pluginNamed(ctx, target)
	if err != nil {
		return err
	}
	set, problems, err := p.Start(ctx, s.showLog)
	if err != nil {
		return err
	}
	defer set.Close()
	s.writeProblems(problems)
	return use(set.Adapters()[0].(*adapter.Process), set.Status()[0])
}

// showLog shows progress on stderr: stdout is for the result.
func (s *session) showLog(l adapters.Log) { report.WriteLog(s.err, l) }
