package adapter

import (
	"fmt"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics/parse"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// The shapes of the answers. What the contract does not name is passed over.

// greetingShape is what a manifest must have before anything else in it counts.
func greetingShape() *shape.Shape {
	return shape.Record(
		shape.Must("protocol_version", shape.Int(0)),
		shape.Must("adapter_id", shape.Text(maxName)),
	)
}

func manifestShape() *shape.Shape {
	return shape.Record(
		shape.Must("protocol_version", shape.Int(0)),
		shape.Must("adapter_id", shape.Text(maxName)),
		shape.Must("display_name", name("a name")),
		shape.Must("fingerprint_files", shape.List(maxTasks, text().That("a glob inside the dish", isGlob))),
		shape.Must("default_tasks", tasksShape()),
		shape.May("capabilities", capabilitiesShape()),
		shape.May("diagnostic_hooks", shape.Table(maxTasks, hookShape())),
		shape.May("derived_paths", shape.List(maxTasks, text().That("a glob inside the dish", isGlob))),
		shape.May("parallel", shape.Int(0)),
	)
}

func capabilitiesShape() *shape.Shape {
	var fields []shape.Field
	for _, name := range []string{
		"detect", "required_toolchain", "resolved_toolchain_fingerprint", "install",
		"tasks", "links", "install_scope", "add", "cancel",
	} {
		fields = append(fields, shape.May(name, shape.Bool()))
	}
	return shape.Record(fields...)
}

func hookShape() *shape.Shape {
	return shape.Record(
		shape.Must("rerun", shape.Record(
			shape.Must("kind", shape.Text(maxName)),
			shape.May("args", shape.List(maxTasks, text())),
			shape.May("command", text()),
		)),
		shape.Must("parser", shape.Text(maxName)),
	)
}

func tasksShape() *shape.Shape {
	return shape.List(maxTasks, shape.Record(
		shape.Must("name", name("a task name")),
		shape.Must("run", command()),
		shape.May("inputs", inputGlobs()),
		shape.May("outputs", outputGlobs()),
		shape.May("extra_inputs", inputGlobs()),
		shape.May("depends_on", shape.List(maxTasks, name("a task name"))),
		shape.May("cwd", inside()),
		shape.May("env", variables()),
		shape.May("path", shape.List(maxTasks, inside())),
		shape.May("script", shape.Bool()),
		shape.May("no_cache", shape.Bool()),
		shape.May("side_effects", shape.Bool()),
		shape.May("mutex", shape.Text(maxName)),
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

func detectedShape() *shape.Shape { return shape.Record(shape.Must("matches", shape.Bool())) }

func toolchainShape() *shape.Shape {
	return shape.Record(
		shape.Must("tool", name("the name of a tool")),
		shape.Must("version", name("a version")),
		shape.May("file", absolute()),
		shape.May("line", shape.Int(0)),
	).OrNull()
}

func fingerprintShape() *shape.Shape { return text().OrNull() }

func paths() *shape.Shape { return shape.List(maxPaths, absolute()) }

func tasksAnswerShape() *shape.Shape {
	return shape.Record(
		shape.Must("tasks", tasksShape()),
		shape.May("aggregate", shape.Bool()),
		shape.May("members", paths()),
		shape.May("reads", paths()),
	)
}

func linksAnswerShape() *shape.Shape {
	return shape.Record(
		shape.Must("links", shape.List(maxPaths, shape.Record(
			shape.May("dir", absolute()),
			shape.May("package", shape.Text(maxName*4)),
			shape.Must("file", absolute()),
			shape.May("line", shape.Int(0)),
			shape.May("dev", shape.Bool()),
		))),
		shape.May("provides", shape.List(maxTasks, shape.Text(maxName*4))),
		shape.May("reads", paths()),
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

func scopeShape() *shape.Shape {
	return shape.Record(
		shape.Must("dir", absolute()),
		shape.May("files", paths()),
		shape.May("made", shape.List(maxTasks, inside())),
		shape.May("command", text()),
		shape.May("nothing", shape.Bool()),
		shape.May("reads", paths()),
	)
}

func diagnosedShape() *shape.Shape {
	return shape.Record(shape.Must("diagnostics", shape.List(maxPaths, shape.Record(
		shape.Must("file", text()),
		shape.Must("line", shape.Int(0)),
		shape.May("col", shape.Int(0)),
		shape.May("end_line", shape.Int(0)),
		shape.May("end_col", shape.Int(0)),
		shape.Must("severity", shape.Text(maxName)),
		shape.Must("message", text()),
		shape.May("rule", shape.Text(maxName)),
		shape.Must("source", shape.Text(maxName)),
		shape.May("hint", text()),
	))))
}

// isParser tells whether a hook may name this parser: the plugin itself, or one of
// bento's.
func isParser(id string) bool {
	return id == adapters.ParserPlugin || slices.Contains(parse.Parsers(), id)
}
