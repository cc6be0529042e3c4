package plugintest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/wire"
)

// replies returns the step of a request that is answered. An error of the plugin's own is an answer, but
// "method not found" is not: the manifest offers the method.
func replies(method string, params any) step {
	return func(ctx context.Context, t *talk) outcome {
		m, err := t.ask(ctx, method, params)
		return replied(m, err)
	}
}

func replied(m wire.Message, err error) outcome {
	if err == nil && m.Error != nil && m.Error.Code == wire.CodeMethodNotFound {
		return fail("%v, though the manifest offers it", m.Error)
	}
	return without(err)
}

// answers is replies that also checks the form of a result.
func (s *suite) answers(method string, params any) step {
	return func(ctx context.Context, t *talk) outcome {
		m, err := t.ask(ctx, method, params)
		if o := replied(m, err); o.status != Pass || m.Error != nil {
			return o
		}
		s.members(method, m.Result)
		return without(answer.Check(method, m.Result))
	}
}

// members notes members that bento would ignore in the result of a method.
func (s *suite) members(method string, result json.RawMessage) {
	for _, stranger := range answer.Unknown(method, result) {
		name := stranger.Path[strings.LastIndexByte(stranger.Path, '.')+1:]
		s.seen.note("", "5.12", "%s: %q is no member of the protocol; %s", method, stranger.Path, diagnostics.Suggest(name, stranger.Known))
	}
}

// inBoth is answers about the empty directory and the project.
func (s *suite) inBoth(method string) step {
	return do(s.answers(method, wire.Dir{Dir: s.empty}),
		described(s.answers(method, wire.Dir{Dir: s.project}), ", in a directory with the project's files"))
}

func (s *suite) detectsNothing(ctx context.Context, t *talk) outcome {
	result, err := t.result(ctx, wire.MethodDetect, wire.Dir{Dir: s.empty})
	if err != nil {
		return without(err)
	}
	var d wire.Detected
	return when(wire.Decode(result, &d) == nil && !d.Matches, "%.60s", result)
}

// printed returns what the exec command of the manifest printed, nil if there is none.
func (s *suite) printed(stdout, stderr string) *adapters.ExecOutput {
	if len(s.manifest.Exec) == 0 {
		return nil
	}
	return &adapters.ExecOutput{Stdout: stdout, Stderr: stderr}
}

func (s *suite) fingerprints(stdout, stderr string) step {
	var params any
	if exec := s.printed(stdout, stderr); exec != nil {
		params = wire.Toolchain{Exec: exec}
	}
	return s.answers(wire.MethodFingerprint, params)
}

func (s *suite) resolves(stdout, stderr string) step {
	return s.answers(wire.MethodResolved, s.toolchain(stdout, stderr))
}

func (s *suite) toolchain(stdout, stderr string) wire.Toolchain {
	return wire.Toolchain{Dir: s.empty, Exec: s.printed(stdout, stderr)}
}

// takesOutput sends possible outputs of a tool: nothing, a version with and without words around it, and a
// page of noise.
func (s *suite) takesOutput(ctx context.Context, t *talk) outcome {
	asks := s.fingerprints
	if s.manifest.Capabilities.ResolvedToolchain {
		asks = s.resolves
	}
	noise := strings.Repeat("\x00 [31m{\"\n", 1000)
	return do(asks("", ""), asks("0.14.0", ""), asks("", "kid version 1.2 (plättchen)\r\n"), asks(noise, ""))(ctx, t)
}

// installation is the request to install the empty directory.
func (s *suite) installation() adapters.InstallRequest {
	return adapters.InstallRequest{DishDir: s.empty, DishName: "plugin-test"}
}

// plansInstall checks the commands of an install. It runs none of them.
func (s *suite) plansInstall(ctx context.Context, t *talk) outcome {
	m, err := t.ask(ctx, wire.MethodInstall, s.installation())
	if err != nil || m.Error != nil {
		return skip("install fails, see above")
	}
	commands, err := answer.InstallCommands(m.Result)
	if err != nil {
		return without(err)
	}
	if commands == nil {
		return skip(notOffered)
	}
	s.members(wire.MethodInstall, m.Result)
	return pass()
}

func (s *suite) installsWell(ctx context.Context, t *talk) outcome {
	m, err := t.ask(ctx, wire.MethodInstall, s.installation())
	switch {
	case err != nil:
		return without(err)
	case m.Error == nil:
		commands, err := answer.InstallCommands(m.Result)
		return when(string(m.Result) == "null" || err != nil || commands != nil, "the result %.60s", m.Result)
	case m.Error.Code < 2001 || m.Error.Code > 2099:
		return fail("%v", m.Error)
	case m.Error.Code != wire.CodeInstallFailed:
		return pass()
	}
	if _, err := answer.InstallData(m.Error.Data); err != nil {
		return fail("error 2001 with the data %.100s: %v", cmp.Or(string(m.Error.Data), "of nothing"), err)
	}
	return pass()
}

func (s *suite) logsInTime(ctx context.Context, t *talk) outcome {
	if o := asks(wire.MethodInstall, s.installation())(ctx, t); o.status != Pass {
		return o
	}
	r, err := t.exchanged(ctx, s.detect(t), t.send)
	if err != nil {
		return without(err)
	}
	return when(len(r.notes) == 0, "%.100s after the response", slices.Concat(r.notes...))
}

func (s *suite) cancelsInstall(ctx context.Context, t *talk) outcome {
	_, err := t.exchange(ctx, t.request(wire.MethodInstall, s.installation(), nil), func(body []byte) error {
		if err := t.send(body); err != nil {
			return err
		}
		return t.send(encoded(map[string]any{"jsonrpc": "2.0", "method": wire.NotifyCancel, "params": wire.Cancel{ID: t.last}}))
	})
	return without(err)
}

// addition asks for a package that does not exist: the answer may be an error.
func (s *suite) addition() adapters.AddRequest {
	return adapters.AddRequest{DishDir: s.empty, DishName: "plugin-test", Packages: []string{"bento-plugin-test-none"}}
}

// takesOptions asks with options that every schema accepts: none.
func (s *suite) takesOptions(ctx context.Context, t *talk) outcome {
	params := map[string]any{"dir": s.empty, "options": map[string]any{}}
	m, err := t.ask(ctx, wire.MethodDetect, params)
	if err == nil && m.Error != nil {
		return fail("%v, asked with the params %s", m.Error, encoded(params))
	}
	return without(err)
}

// diagnoses returns the step that asks about each task that has a hook with the parser "plugin".
func (s *suite) diagnoses(check func(method string, result json.RawMessage) error) step {
	return func(ctx context.Context, t *talk) outcome {
		asked := false
		hooks := s.manifest.DiagnosticHooks
		for _, task := range slices.Sorted(maps.Keys(hooks)) {
			if hooks[task].Parser != adapters.ParserPlugin {
				continue
			}
			asked = true
			result, err := t.result(ctx, wire.MethodDiagnostics, adapters.ParseRequest{
				TaskName: task, Stdout: "plättchen/a.txt:3:1: error: expected ;\n", Stderr: "1 error\n", ExitStatus: 1,
				DishDir: s.empty, WorkspaceRoot: s.scratch,
			})
			if err == nil {
				err = check(wire.MethodDiagnostics, result)
			}
			if err != nil {
				return without(err)
			}
		}
		if !asked {
			return skip("no hook has the parser \"plugin\"")
		}
		return pass()
	}
}

// wellFormed checks the members of findings that bento takes in any form.
func wellFormed(method string, result json.RawMessage) error {
	var d wire.Diagnosed
	if err := answer.NewReader().Decode(method, result, &d); err != nil {
		return err
	}
	for i, found := range d.Diagnostics {
		switch found.Severity {
		case diagnostics.Error, diagnostics.Warning, diagnostics.Info, diagnostics.Hint:
		default:
			return fmt.Errorf("diagnostics[%d].severity: %.40q", i, found.Severity)
		}
		if found.File != "" && !filepath.IsLocal(found.File) {
			return fmt.Errorf("diagnostics[%d].file: %.100q", i, found.File)
		}
	}
	return nil
}
