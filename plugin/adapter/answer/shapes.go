package answer

import (
	"strings"

	"github.com/bentobuild/bento/plugin/wire/shape"
)

// The shapes of the answers. Unknown members are ignored.

func tasksShape() *shape.Shape {
	return shape.List(maxTasks, shape.Record(
		shape.Must("name", name("a task name")),
		shape.Must("run", command()),
		shape.May("inputs", inputGlobs()),
		shape.May("outputs", dishGlobs()),
		shape.May("rewrites", inputGlobs()),
		shape.May("extra_inputs", inputGlobs()),
		shape.May("depends_on", shape.List(maxTasks, name("a task name"))),
		shape.May("cwd", inside()),
		shape.May("env", variables()),
		shape.May("path", shape.List(maxTasks, inside())),
		shape.May("script", shape.Bool()),
		shape.May("no_cache", shape.Bool()),
		shape.May("side_effects", shape.Bool()),
		shape.May("skips_private", shape.Bool()),
		shape.May("mutex", shape.Text(maxName)),
	))
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

func resolvedShape() *shape.Shape {
	return shape.Record(
		shape.Must("fingerprint", text()),
		shape.Must("version", name("a version")),
	).OrNull()
}

func fingerprintShape() *shape.Shape { return text().OrNull() }

// installedShape returns the shape of a result of install that is an object.
func installedShape() *shape.Shape {
	word := text().That("a word without NUL", func(s string) bool { return !strings.Contains(s, "\x00") })
	return shape.Record(shape.May("commands", shape.List(maxCommands, shape.List(maxTasks, word))))
}

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
			shape.May("private", shape.Bool()),
			shape.May("deep", shape.Bool()),
		))),
		shape.May("provides", shape.List(maxTasks, shape.Text(maxName*4))),
		shape.May("reads", paths()),
	)
}

func scopeShape() *shape.Shape {
	return shape.Record(
		shape.Must("dir", absolute()),
		shape.May("files", paths()),
		shape.May("made", shape.List(maxTasks, text().That("a path in \"dir\", relative to it or absolute, without \"..\"", func(s string) bool { return isInside(s) || isAbsolute(s) }))),
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

func scaffoldedShape() *shape.Shape {
	return shape.Record(shape.Must("files", shape.List(maxTasks, shape.Record(
		shape.Must("path", inside()),
		shape.Must("text", shape.Text(1<<20)),
		shape.May("executable", shape.Bool()),
	))))
}
