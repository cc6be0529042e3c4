package adapter

import (
	"fmt"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
)

// The shapes of the answers. What the contract does not name is passed over.

// greetingShape is what a manifest must have before anything else in it counts.
func greetingShape() *wire.Shape {
	return wire.Record(
		wire.Must("protocol_version", wire.Int(0)),
		wire.Must("adapter_id", wire.Text(maxName)),
	)
}

func manifestShape() *wire.Shape {
	return wire.Record(
		wire.Must("protocol_version", wire.Int(0)),
		wire.Must("adapter_id", wire.Text(maxName)),
		wire.Must("display_name", name("a name")),
		wire.Must("fingerprint_files", wire.List(maxTasks, text().That("a glob inside the dish", isGlob))),
		wire.Must("default_tasks", tasksShape()),
		wire.May("capabilities", capabilitiesShape()),
		wire.May("diagnostic_hooks", wire.Table(maxTasks, hookShape())),
		wire.May("derived_paths", wire.List(maxTasks, text().That("a glob inside the dish", isGlob))),
		wire.May("parallel", wire.Int(0)),
	)
}

func capabilitiesShape() *wire.Shape {
	var fields []wire.Field
	for _, name := range []string{
		"detect", "required_toolchain", "resolved_toolchain_fingerprint", "install",
		"tasks", "links", "install_scope", "add", "cancel",
	} {
		fields = append(fields, wire.May(name, wire.Bool()))
	}
	return wire.Record(fields...)
}

func hookShape() *wire.Shape {
	return wire.Record(
		wire.Must("rerun", wire.Record(
			wire.Must("kind", wire.Text(maxName)),
			wire.May("args", wire.List(maxTasks, text())),
			wire.May("command", text()),
		)),
		wire.Must("parser", wire.Text(maxName)),
	)
}

func tasksShape() *wire.Shape {
	return wire.List(maxTasks, wire.Record(
		wire.Must("name", name("a task name")),
		wire.Must("run", command()),
		wire.May("inputs", inputGlobs()),
		wire.May("outputs", outputGlobs()),
		wire.May("extra_inputs", inputGlobs()),
		wire.May("depends_on", wire.List(maxTasks, name("a task name"))),
		wire.May("cwd", inside()),
		wire.May("env", variables()),
		wire.May("path", wire.List(maxTasks, inside())),
		wire.May("script", wire.Bool()),
		wire.May("no_cache", wire.Bool()),
		wire.May("side_effects", wire.Bool()),
	))
}

// checkTasks says what a shape cannot: names are unique, variables have names.
func checkTasks(path string, tasks []adapters.Task) error {
	seen := make(map[string]int, len(tasks))
	for i, t := range tasks {
		if first, ok := seen[t.Name]; ok {
			return fmt.Errorf("%s[%d].name: expected a name of its own, got %q as in %s[%d]", path, i, t.Name, path, first)
		}
		seen[t.Name] = i
		for variable := range t.Env {
			if !isVariable(variable) {
				return fmt.Errorf("%s[%d].env: expected names of variables, got %.60q", path, i, variable)
			}
		}
	}
	return nil
}

func detectedShape() *wire.Shape { return wire.Record(wire.Must("matches", wire.Bool())) }

func toolchainShape() *wire.Shape {
	return wire.Record(
		wire.Must("tool", name("the name of a tool")),
		wire.Must("version", name("a version")),
		wire.May("file", absolute()),
		wire.May("line", wire.Int(0)),
	).OrNull()
}

func fingerprintShape() *wire.Shape { return text().OrNull() }

func paths() *wire.Shape { return wire.List(maxPaths, absolute()) }

func tasksAnswerShape() *wire.Shape {
	return wire.Record(
		wire.Must("tasks", tasksShape()),
		wire.May("aggregate", wire.Bool()),
		wire.May("members", paths()),
		wire.May("reads", paths()),
	)
}

func linksAnswerShape() *wire.Shape {
	return wire.Record(
		wire.Must("links", wire.List(maxPaths, wire.Record(
			wire.May("dir", absolute()),
			wire.May("package", wire.Text(maxName*4)),
			wire.Must("file", absolute()),
			wire.May("line", wire.Int(0)),
			wire.May("dev", wire.Bool()),
		))),
		wire.May("provides", wire.List(maxTasks, wire.Text(maxName*4))),
		wire.May("reads", paths()),
	)
}

func checkLinks(a adapters.LinksAnswer) error {
	for i, l := range a.Links {
		if (l.Dir == "") == (l.Package == "") {
			return fmt.Errorf("links[%d]: expected one of dir and package", i)
		}
	}
	return nil
}

func scopeShape() *wire.Shape {
	return wire.Record(
		wire.Must("dir", absolute()),
		wire.May("files", paths()),
		wire.May("made", wire.List(maxTasks, inside())),
		wire.May("command", text()),
		wire.May("nothing", wire.Bool()),
		wire.May("reads", paths()),
	)
}

func diagnosedShape() *wire.Shape {
	return wire.Record(wire.Must("diagnostics", wire.List(maxPaths, wire.Record(
		wire.Must("file", text()),
		wire.Must("line", wire.Int(0)),
		wire.May("col", wire.Int(0)),
		wire.May("end_line", wire.Int(0)),
		wire.May("end_col", wire.Int(0)),
		wire.Must("severity", wire.Text(maxName)),
		wire.Must("message", text()),
		wire.May("rule", wire.Text(maxName)),
		wire.Must("source", wire.Text(maxName)),
		wire.May("hint", text()),
	))))
}

// isParser tells whether a hook may name this parser: the plugin itself, the
// contract's four, or one of bento's further ones.
func isParser(id string) bool {
	return slices.Contains([]string{
		adapters.ParserPlugin, "cargo-message", "golangci-lint", "eslint", "ruff",
		"go-test", "go-build", "tsc", "pytest", "mypy", "junit", "sarif", "javac", "maven", "gradle",
		"rubocop", "phpstan", "phpunit", "deno-lint", "gnu",
	}, id)
}
