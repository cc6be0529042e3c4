package plugintest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/wire"
)

func lifeAxes() []axis {
	return []axis{
		{clause: "4.1", level: Must, expected: "initialize is answered in time", run: answersInitialize, first: true},
		{clause: "4.2", level: Must, expected: "shutdown is answered with null, also right after initialize", run: answersShutdown},
		{clause: "4.3", level: Must, expected: "it exits within 2 s of shutdown", run: exitsOnShutdown},
		{clause: "4.4", level: Should, expected: "it exits with status 0", run: exitsWell},
		{clause: "4.5", level: Should, expected: "it exits at the end of its standard input", run: exitsAtEOF},
		{clause: "4.6", level: Should, expected: "SIGTERM ends it", run: exitsOnTerm},
	}
}

func manifestAxes() []axis {
	return []axis{
		{clause: "5.1", level: Must, expected: "protocol_version is 1", run: ofManifest(adapters.ProtocolVersionMismatch), first: true},
		{clause: "5.2", level: Must, expected: "adapter_id is that of the file name", run: ofManifest(adapters.AdapterIDMismatch), first: true},
		{clause: "5.3", level: Must, expected: "the manifest has all members, of their types and within bounds", run: ofManifest(""), first: true},
		{clause: "5.4", level: Should, expected: "every diagnostic hook and derived path can be used", run: usableHooks},
		{clause: "5.5", level: Must, expected: "every start returns the same manifest", run: unlessRefused(sameManifest), first: true},
		{clause: "5.12", level: Should, expected: "the manifest and the answers have no members that the protocol lacks"},
	}
}

// answersInitialize checks the first handshake, which is done already.
func answersInitialize(_ context.Context, p *peer) outcome {
	if p.s.text == nil {
		return without(p.s.refused)
	}
	return pass()
}

// unlessRefused skips an axis that does the handshake itself when the first one failed.
func unlessRefused(run func(context.Context, *peer) outcome) func(context.Context, *peer) outcome {
	return func(ctx context.Context, p *peer) outcome {
		if p.s.refused != nil {
			return skip(notAsked)
		}
		return run(ctx, p)
	}
}

// ofManifest checks the manifest of the first handshake, which is refused for at most one reason: a code,
// or "" for a reason without a code.
func ofManifest(code adapters.Code) func(context.Context, *peer) outcome {
	return func(_ context.Context, p *peer) outcome {
		var f *adapters.Failure
		errors.As(p.s.refused, &f)
		switch {
		case p.s.text == nil:
			return skip("there is no manifest")
		case p.s.refused == nil:
			return pass()
		case f == nil && code != "":
			return skip("the manifest cannot be read")
		case f == nil:
			return without(p.s.refused)
		}
		return when(f.Code != code, "%s", f.Message)
	}
}

// usableHooks finds hooks that bento drops, and hooks whose name looks like a misspelt name of a task. A
// hook for a task of dish.toml is valid.
func usableHooks(ctx context.Context, p *peer) outcome {
	if len(p.s.dropped) > 0 {
		return fail("%s", strings.Join(p.s.dropped, "; "))
	}
	var names []string
	for _, dir := range []string{p.s.empty, p.s.project} {
		tasks, _ := p.tasks(ctx, dir) // clause 9.1 has the error
		for _, t := range append(tasks, p.s.manifest.DefaultTasks...) {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, hook := range slices.Sorted(maps.Keys(p.s.manifest.DiagnosticHooks)) {
		if !slices.Contains(names, hook) && len(diagnostics.Nearest(hook, names)) > 0 {
			return fail("diagnostic_hooks.%q: the plugin has no such task; %s", hook, diagnostics.Suggest(hook, names))
		}
	}
	return pass()
}

// sameManifest compares the members that bento reads. Their order is free.
func sameManifest(ctx context.Context, p *peer) outcome {
	text, err := p.result(ctx, wire.MethodInitialize, hello())
	if err != nil {
		return without(err)
	}
	again, _, err := answer.ReadManifest(text, p.s.manifest.AdapterID)
	if err != nil {
		return without(err)
	}
	return when(bytes.Equal(encoded(again), encoded(p.s.manifest)), "a different one at the second start: %.200s", text)
}

// shutdown sends the request and returns the response.
func (p *peer) shutdown(ctx context.Context) (string, error) {
	result, err := p.result(ctx, wire.MethodShutdown, nil)
	return string(result), err
}

func answersShutdown(ctx context.Context, p *peer) outcome {
	result, err := p.shutdown(ctx)
	if err != nil {
		return without(err)
	}
	p.exits(p.s.o.Exit)
	p.stream.End(true)
	p.rest(ctx)
	return when(result == "null", "%.60s", result)
}

// exitsOnShutdown asks a question first: an idle plugin ends more easily.
func exitsOnShutdown(ctx context.Context, p *peer) outcome {
	if err := p.ping(ctx); err != nil {
		return without(err)
	}
	if _, err := p.shutdown(ctx); err != nil {
		return without(err)
	}
	return without(p.mustExit("the response to shutdown"))
}

func exitsWell(ctx context.Context, p *peer) outcome {
	if _, err := p.shutdown(ctx); err != nil {
		return without(err)
	}
	if err := p.mustExit("the response to shutdown"); err != nil {
		return without(err)
	}
	return when(p.status() == "exit status 0", "%s", p.status())
}

func exitsAtEOF(_ context.Context, p *peer) outcome {
	p.stream.Stdin.Close()
	return without(p.mustExit("the end of its standard input"))
}

func exitsOnTerm(_ context.Context, p *peer) outcome {
	p.stream.End(false)
	return without(p.mustExit("SIGTERM"))
}

func (p *peer) mustExit(after string) error {
	if !p.exits(p.s.o.Exit) {
		return fmt.Errorf("it still runs %v after %s", p.s.o.Exit, after)
	}
	return nil
}
