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

func queryAxes() []axis {
	return []axis{
		{clause: "6.1", level: Must, expected: `detect answers {"matches": true or false}`, run: detects},
		{clause: "6.2", level: Should, expected: "detect returns false for an empty directory", run: detectsNothing},
		{clause: "6.3", level: Should, expected: "detect of a missing directory is answered", run: detectsAbsent},
		{clause: "6.4", level: Must, expected: "requiredToolchain answers {tool, version} or null",
			run: once(query(wire.MethodToolchain, func(c adapters.Capabilities) bool { return c.RequiredToolchain }))},
		{clause: "6.5", level: Must, expected: "resolvedToolchainFingerprint, without params, answers a string or null", run: once(fingerprints)},
		{clause: "6.8", level: Must, expected: "resolvedToolchain answers {fingerprint, version} or null",
			run: once(resolves)},
		{clause: "6.10", level: Should, expected: "with resolved_toolchain, bento can compare the versions", run: versionsCompare},
	}
}

func installAxes() []axis {
	return []axis{
		{clause: "7.1", level: Must, expected: "install is answered with a result or an error", run: installs},
		{clause: "7.2", level: Should, expected: "the result of install is null or {commands}, its error 2001 with {exit_status, command}", run: installsWell},
		{clause: "7.3", level: Should, expected: "no log of an install comes after its response", run: logsInTime},
		{clause: "8.1", level: Must, expected: `parseDiagnostics answers {"diagnostics": [{file, line, severity, message, source}]}`, run: once(diagnoses)},
		{clause: "8.2", level: Should, expected: "a severity is error, warning, info or hint, a file relative to the workspace", run: diagnosesWell},
	}
}

func additionAxes() []axis {
	return []axis{
		{clause: "9.1", level: Must, expected: `tasks answers {"tasks": [{name, run}]}`,
			run: once(query(wire.MethodTasks, func(c adapters.Capabilities) bool { return c.Tasks }))},
		{clause: "9.2", level: Must, expected: `links answers {"links": [{dir or package, file}]}`,
			run: once(query(wire.MethodLinks, func(c adapters.Capabilities) bool { return c.Links }))},
		{clause: "9.3", level: Must, expected: `install_scope answers {"dir": …}`,
			run: once(query(wire.MethodInstallScope, func(c adapters.Capabilities) bool { return c.InstallScope }))},
		{clause: "9.5", level: Must, expected: "add is answered with a result or an error", run: once(adds)},
		{clause: "9.6", level: Must, expected: "a cancelled request is answered too", run: answersCancelled},
		{clause: "9.7", level: Must, expected: "as many requests at once as parallel allows are answered", run: answersAtOnce},
		{clause: "9.11", level: Must, expected: "with exec, the questions about the toolchain are answered whatever the command printed", run: once(takesOutput)},
		{clause: "9.13", level: Must, expected: `the commands of an install are [[program, argument, …], …]`, run: plansInstall},
		{clause: "9.15", level: Must, expected: "with options, questions are answered as without", run: takesOptions},
		{clause: "9.16", level: Must, expected: `scaffold answers {"files": [{path, text}]}`, run: scaffolds},
		{clause: "9.20", level: Must, expected: "depends_on names tasks that exist", run: ofRecipes(wrongOrder)},
		{clause: "9.21", level: Must, expected: "two tasks name the same output only if one depends on the other", run: ofRecipes(sharedOutput)},
		{clause: "9.22", level: Should, expected: "what an install makes is no output of a task", run: installsNoOutput},
	}
}

// once sends another question after run: a second response to the first request would arrive before its
// answer. It ignores errors that other axes report.
func once(run func(context.Context, *peer) outcome) func(context.Context, *peer) outcome {
	return func(ctx context.Context, p *peer) outcome {
		o := run(ctx, p)
		if o.status == Pass {
			_ = p.ping(ctx)
		}
		return o
	}
}

const notOffered = "the manifest does not offer it"

// query asks a method about the empty directory and the project, if the manifest offers it.
func query(method string, offered func(adapters.Capabilities) bool) func(context.Context, *peer) outcome {
	return func(ctx context.Context, p *peer) outcome {
		if !offered(p.s.manifest.Capabilities) {
			return skip(notOffered)
		}
		return p.answersAbout(ctx, method)
	}
}

// answersAbout is answers for each directory that the suite asks about.
func (p *peer) answersAbout(ctx context.Context, method string) outcome {
	o := p.answers(ctx, method, wire.Dir{Dir: p.s.empty})
	if o.status != Pass || p.s.project == "" {
		return o
	}
	if o = p.answers(ctx, method, wire.Dir{Dir: p.s.project}); o.status == Fail {
		o.got += ", in a directory with the project's files"
	}
	return o
}

// answers asks and checks the form of the answer. An error of the plugin's own is an
// answer, but "method not found" is not: the manifest offers the method.
func (p *peer) answers(ctx context.Context, method string, params any) outcome {
	m, err := p.ask(ctx, method, params)
	switch {
	case err != nil:
		return without(err)
	case m.Error != nil && m.Error.Code == wire.CodeMethodNotFound:
		return fail("%v, though the manifest offers it", m.Error)
	case m.Error != nil:
		return pass()
	}
	p.s.seen.members(method, m.Result)
	return without(answer.Check(method, m.Result))
}

func detects(ctx context.Context, p *peer) outcome {
	if !p.s.manifest.Capabilities.Detect {
		return skip(notOffered)
	}
	return p.answersAbout(ctx, wire.MethodDetect)
}

func detectsNothing(ctx context.Context, p *peer) outcome {
	if !p.s.manifest.Capabilities.Detect {
		return skip(notOffered)
	}
	result, err := p.result(ctx, wire.MethodDetect, wire.Dir{Dir: p.s.empty})
	if err != nil {
		return without(err)
	}
	var d wire.Detected
	return when(wire.Decode(result, &d) == nil && !d.Matches, "%.60s", result)
}

func detectsAbsent(ctx context.Context, p *peer) outcome {
	if !p.s.manifest.Capabilities.Detect {
		return skip(notOffered)
	}
	_, err := p.ask(ctx, wire.MethodDetect, wire.Dir{Dir: filepath.Join(p.s.scratch, "absent")})
	return without(err)
}

func fingerprints(ctx context.Context, p *peer) outcome {
	if !p.s.manifest.Capabilities.ResolvedToolchainFingerprint {
		return skip(notOffered)
	}
	if len(p.s.manifest.Exec) == 0 {
		return p.answers(ctx, wire.MethodFingerprint, nil)
	}
	return p.answers(ctx, wire.MethodFingerprint, wire.Toolchain{Exec: &adapters.ExecOutput{Stdout: "1.0.0\n"}})
}

func resolves(ctx context.Context, p *peer) outcome {
	if !p.s.manifest.Capabilities.ResolvedToolchain {
		return skip(notOffered)
	}
	return p.answers(ctx, wire.MethodResolved, p.toolchain("1.0.0\n", ""))
}

// toolchain returns the params of resolvedToolchain, with the output of the exec command if the manifest
// has one.
func (p *peer) toolchain(stdout, stderr string) wire.Toolchain {
	params := wire.Toolchain{Dir: p.s.empty}
	if len(p.s.manifest.Exec) > 0 {
		params.Exec = &adapters.ExecOutput{Stdout: stdout, Stderr: stderr}
	}
	return params
}

// takesOutput sends possible outputs of a tool: nothing, a version with and without words around it, and a
// page of noise.
func takesOutput(ctx context.Context, p *peer) outcome {
	c := p.s.manifest.Capabilities
	if len(p.s.manifest.Exec) == 0 || !c.ResolvedToolchain && !c.ResolvedToolchainFingerprint {
		return skip(notOffered)
	}
	for _, said := range []adapters.ExecOutput{{}, {Stdout: "0.14.0"}, {Stderr: "kid version 1.2 (plättchen)\r\n"}, {Stdout: strings.Repeat("\x00 [31m{\"\n", 1000)}} {
		params := p.toolchain(said.Stdout, said.Stderr)
		o := pass()
		if c.ResolvedToolchain {
			o = p.answers(ctx, wire.MethodResolved, params)
		} else {
			params.Dir = ""
			o = p.answers(ctx, wire.MethodFingerprint, params)
		}
		if o.status != Pass {
			return o
		}
	}
	return pass()
}

// plansInstall checks the commands of an install. It runs none of them.
func plansInstall(ctx context.Context, p *peer) outcome {
	if !p.s.manifest.Capabilities.Install {
		return skip(notOffered)
	}
	m, err := p.install(ctx)
	if err != nil || m.Error != nil {
		return skip("install fails, see above")
	}
	commands, err := answer.InstallCommands(m.Result)
	if err != nil {
		return fail("%v", err)
	}
	if commands == nil {
		return skip(notOffered)
	}
	p.s.seen.members(wire.MethodInstall, m.Result)
	return pass()
}

// install installs the empty directory.
func (p *peer) install(ctx context.Context) (wire.Message, error) {
	return p.ask(ctx, wire.MethodInstall, adapters.InstallRequest{DishDir: p.s.empty, DishName: "plugin-test"})
}

func installs(ctx context.Context, p *peer) outcome {
	if !p.s.manifest.Capabilities.Install {
		return skip(notOffered)
	}
	m, err := p.install(ctx)
	if err == nil && m.Error != nil && m.Error.Code == wire.CodeMethodNotFound {
		return fail("%v, though the manifest offers it", m.Error)
	}
	return without(err)
}

// takesOptions asks with options that every schema accepts: none.
func takesOptions(ctx context.Context, p *peer) outcome {
	if !p.s.manifest.Capabilities.Options {
		return skip(notOffered)
	}
	params := map[string]any{"dir": p.s.empty, "options": map[string]any{}}
	m, err := p.ask(ctx, wire.MethodDetect, params)
	if err == nil && m.Error != nil {
		return fail("%v, asked with the params %s", m.Error, encoded(params))
	}
	return without(err)
}

func scaffolds(ctx context.Context, p *peer) outcome {
	if !p.s.manifest.Capabilities.Scaffold {
		return skip(notOffered)
	}
	return p.answers(ctx, wire.MethodScaffold, wire.Scaffold{Name: "plugin-test"})
}

// adds asks for a package that does not exist: the answer may be an error.
func adds(ctx context.Context, p *peer) outcome {
	if !p.s.manifest.Capabilities.Add {
		return skip(notOffered)
	}
	m, err := p.ask(ctx, wire.MethodAdd, adapters.AddRequest{DishDir: p.s.empty, DishName: "plugin-test", Packages: []string{"bento-plugin-test-none"}})
	if err == nil && m.Error != nil && m.Error.Code == wire.CodeMethodNotFound {
		return fail("%v, though the manifest offers it", m.Error)
	}
	return without(err)
}

func answersCancelled(ctx context.Context, p *peer) outcome {
	if !p.s.manifest.Capabilities.Cancel || !p.s.manifest.Capabilities.Install {
		return skip(notOffered)
	}
	body := p.request(wire.MethodInstall, adapters.InstallRequest{DishDir: p.s.empty, DishName: "plugin-test"}, nil)
	err := p.send(body)
	if err == nil {
		err = p.send(encoded(map[string]any{"jsonrpc": "2.0", "method": wire.NotifyCancel, "params": wire.Cancel{ID: p.id}}))
	}
	if err != nil {
		return without(p.deaf(ctx, wire.MethodInstall, err))
	}
	if _, err := p.await(ctx, wire.MethodInstall, p.id); err != nil {
		return without(err)
	}
	return without(p.ping(ctx))
}

func answersAtOnce(ctx context.Context, p *peer) outcome {
	n := min(p.s.manifest.Parallel, 64)
	if n < 2 {
		return skip(notOffered)
	}
	var all []byte
	for range n {
		all = append(all, frame(plainHeader, p.request(wire.MethodDetect, wire.Dir{Dir: p.s.empty}, nil))...)
	}
	if err := p.write(all); err != nil {
		return without(p.deaf(ctx, wire.MethodDetect, err))
	}
	for id := p.id - int64(n) + 1; id <= p.id; id++ {
		if _, err := p.await(ctx, wire.MethodDetect, id); err != nil {
			return fail("%v, of %d at once", err, n)
		}
	}
	return pass()
}

func installsWell(ctx context.Context, p *peer) outcome {
	if !p.s.manifest.Capabilities.Install {
		return skip(notOffered)
	}
	m, err := p.install(ctx)
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

func logsInTime(ctx context.Context, p *peer) outcome {
	if !p.s.manifest.Capabilities.Install {
		return skip(notOffered)
	}
	if _, err := p.install(ctx); err != nil {
		return without(err)
	}
	before := len(p.logs)
	if err := p.ping(ctx); err != nil {
		return without(err)
	}
	late := p.logs[before:]
	return when(len(late) == 0, "%.100s after the response", slices.Concat(late...))
}

// diagnose asks about each task that has a hook with the parser "plugin".
func (p *peer) diagnose(ctx context.Context, check func(method string, result json.RawMessage) error) outcome {
	asked := false
	hooks := p.s.manifest.DiagnosticHooks
	for _, task := range slices.Sorted(maps.Keys(hooks)) {
		if hooks[task].Parser != adapters.ParserPlugin {
			continue
		}
		asked = true
		result, err := p.result(ctx, wire.MethodDiagnostics, adapters.ParseRequest{
			TaskName: task, Stdout: "plättchen/a.txt:3:1: error: expected ;\n", Stderr: "1 error\n", ExitStatus: 1,
			DishDir: p.s.empty, WorkspaceRoot: p.s.scratch,
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

func diagnoses(ctx context.Context, p *peer) outcome { return p.diagnose(ctx, answer.Check) }

func diagnosesWell(ctx context.Context, p *peer) outcome {
	return p.diagnose(ctx, func(method string, result json.RawMessage) error {
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
	})
}
