package workspace

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/declared"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/diagnostics/parse"
	"github.com/bentobuild/bento/internal/config"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/plugin/adapter/answer"
)

// Defined returns the adapters that a workspace defines, in order. It reports and leaves out a faulty adapter, and
// one with the id of a built-in adapter.
func Defined(list []config.Adapter, builtin []adapters.Adapter, o snapshot.Options) (out []adapters.Adapter, problems []diagnostics.Diagnostic) {
	for i := range list {
		c := &list[i]
		taken := slices.ContainsFunc(builtin, func(a adapters.Adapter) bool { return a.Manifest().AdapterID == c.ID })
		if taken {
			problems = append(problems, c.Pos.Error(config.RuleDuplicate, "the adapter cannot have the id %q: bento has a built-in adapter of this name", c.ID))
			continue
		}
		d := definition(c)
		if more := faults(c, &d.Manifest); len(more) > 0 {
			problems = append(problems, more...)
			continue
		}
		out = append(out, declared.New(d, o))
	}
	return out, problems
}

// definition converts the configuration of an adapter.
func definition(c *config.Adapter) declared.Definition {
	d := declared.Definition{
		Manifest: adapters.Manifest{
			ProtocolVersion: adapters.ProtocolVersion, AdapterID: c.ID, DisplayName: c.DisplayName, Nested: c.Nested, Parallel: 8,
			FingerprintFiles: globTexts(c.Files), DerivedPaths: globTexts(c.Derived), SteeringEnv: c.Env, PassEnv: c.PassEnv,
			DiagnosticHooks: make(map[string]adapters.Hook),
		},
		Markers: texts(c.Markers), Command: texts(c.Toolchain.Command), Version: c.Toolchain.Version.Text,
		PinFile: c.Toolchain.PinFile, Pin: c.Toolchain.Pin.Text, Hint: c.Toolchain.Hint,
		Install: c.Install.Command, Files: texts(c.Install.Files), Made: texts(c.Install.Made),
	}
	for _, t := range c.Tasks {
		d.Manifest.DefaultTasks = append(d.Manifest.DefaultTasks, adapters.Task{
			Name: t.Name, Run: t.Run, Cwd: t.Cwd, Inputs: globTexts(t.Inputs), ExtraInputs: globTexts(t.ExtraInputs), Outputs: globTexts(t.Outputs),
			Rewrites: globTexts(t.Rewrites), DependsOn: t.DependsOn, Env: t.Env, Mutex: t.Mutex, SideEffects: t.SideEffects, NoCache: t.NoCache, Script: t.Script,
		})
	}
	for _, h := range c.Hooks {
		rerun := adapters.Rerun{Kind: adapters.RerunAppend, Args: h.Args}
		if h.Command != "" {
			rerun = adapters.Rerun{Kind: adapters.RerunReplace, Command: h.Command}
		}
		d.Manifest.DiagnosticHooks[h.Task] = adapters.Hook{Rerun: rerun, Parser: h.Parser.Text, InDish: h.InDish}
	}
	return d
}

// faults returns the problems that bento would report for the manifest of a plugin.
func faults(c *config.Adapter, m *adapters.Manifest) (problems []diagnostics.Diagnostic) {
	for _, h := range c.Hooks {
		if h.Parser.Text == adapters.ParserPlugin {
			problems = append(problems, h.Parser.Pos.Error(diagnostics.RuleInvalid, "parser %q is for plugins: an adapter without a program names a parser of bento", h.Parser.Text))
		} else if !answer.IsParser(h.Parser.Text) {
			d := h.Parser.Pos.Error(diagnostics.RuleInvalid, "bento has no parser %q", h.Parser.Text)
			d.Hint = diagnostics.Suggest(h.Parser.Text, parse.Parsers())
			if d.Hint == "" {
				d.Hint = "bento has " + strings.Join(parse.Parsers(), ", ")
			}
			problems = append(problems, d)
		}
	}
	if len(problems) > 0 {
		return problems
	}
	sent := *m
	sent.FingerprintFiles = append([]string{}, m.FingerprintFiles...) // not null
	sent.DefaultTasks = append([]adapters.Task{}, m.DefaultTasks...)
	text, err := json.Marshal(&sent)
	if err == nil {
		var dropped []string
		_, dropped, err = answer.ReadManifest(text, m.AdapterID)
		if len(dropped) > 0 {
			err = errors.New(dropped[0])
		}
	}
	if err != nil {
		return []diagnostics.Diagnostic{c.Pos.Error(diagnostics.RuleInvalid, "the adapter %s: %v", c.ID, err)}
	}
	return nil
}

func texts(list []dish.Text) (out []string) {
	for _, t := range list {
		out = append(out, t.Text)
	}
	return out
}

func globTexts(list []dish.Glob) (out []string) {
	for _, g := range list {
		if g.Text != "" {
			out = append(out, g.Text)
		}
	}
	return out
}
