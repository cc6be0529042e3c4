package config

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// The bounds of an input.
const (
	maxInput      = 1 << 20 // bytes of JSON
	maxInputDepth = 64
)

// toolInput is the input of a tool: a TOML table as JSON.
type toolInput struct {
	text string
	at   diagnostics.Pos
	uses []string // of the words
}

// Shape returns the schema.
func (*toolInput) Shape() tomlfile.Schema { return tomlfile.Schema{"type": "object"} }

// UnmarshalTOML turns a table into JSON.
func (i *toolInput) UnmarshalTOML(v *tomlfile.Value) []diagnostics.Diagnostic {
	if v.Kind() != tomlfile.Table {
		return []diagnostics.Diagnostic{v.Expected(`a table, { paths = "${inputs}" }`)}
	}
	w := inputWriter{input: i}
	w.value(v, 0)
	if len(w.problems) == 0 && w.out.Len() > maxInput {
		w.problems = append(w.problems, v.Pos().Error(diagnostics.RuleInvalid, "%s has %d bytes as JSON, expected at most %d", v.Path(), w.out.Len(), maxInput))
	}
	if len(w.problems) == 0 {
		i.text, i.at = w.out.String(), v.Pos()
	}
	return w.problems
}

// inputWriter writes JSON. Keys keep the order of the document.
type inputWriter struct {
	input    *toolInput // records the words; nil if "${" has no meaning
	out      strings.Builder
	problems []diagnostics.Diagnostic
}

func (w *inputWriter) value(v *tomlfile.Value, depth int) {
	if depth > maxInputDepth {
		w.problems = append(w.problems, v.Pos().Error(diagnostics.RuleInvalid, "%s is nested too deeply, expected at most %d levels", v.Path(), maxInputDepth))
		return
	}
	switch v.Kind() {
	case tomlfile.Table:
		w.out.WriteByte('{')
		for n, name := range v.Keys() {
			if n > 0 {
				w.out.WriteByte(',')
			}
			if w.input != nil && strings.Contains(name, "${") {
				w.problems = append(w.problems, v.Child(name).KeyPos().Error(diagnostics.RuleInvalid, "the key %q of %s has ${, expected it in values only", name, v.Path()))
			}
			w.json(name)
			w.out.WriteByte(':')
			w.value(v.Child(name), depth+1)
		}
		w.out.WriteByte('}')
	case tomlfile.Array:
		w.out.WriteByte('[')
		for n, elem := range v.Elems() {
			if n > 0 {
				w.out.WriteByte(',')
			}
			w.value(elem, depth+1)
		}
		w.out.WriteByte(']')
	default:
		w.scalar(v)
	}
}

// scalar writes a string, a number or a boolean.
func (w *inputWriter) scalar(v *tomlfile.Value) {
	switch x := v.Any().(type) {
	case string:
		w.text(v, x)
	case bool, int64:
		w.json(x)
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			w.problems = append(w.problems, v.Pos().Error(diagnostics.RuleInvalid, "%s is %v, which JSON cannot express, expected a number", v.Path(), x))
			return
		}
		w.json(x)
	default:
		d := v.Expected("a string, a number, a boolean, an array or a table: JSON has no other values")
		d.Hint = "write a date as a string"
		w.problems = append(w.problems, d)
	}
}

// text writes a string, and records the words in it.
func (w *inputWriter) text(v *tomlfile.Value, s string) {
	w.json(s)
	for rest := s; w.input != nil; {
		at := strings.Index(rest, "${")
		if at < 0 {
			return
		}
		rest = rest[at:]
		end := strings.IndexByte(rest, '}')
		word := rest[:end+1]
		switch {
		case word == dish.InputFiles && s != dish.InputFiles:
			w.problems = append(w.problems, v.Pos().Error(diagnostics.RuleInvalid, "%s has %s inside a longer string, expected it alone: it becomes an array of paths", v.Path(), dish.InputFiles).
				WithHint(`write { paths = "${inputs}" }`))
			return
		case word == dish.InputFiles, word == dish.InputDish, word == dish.InputOut:
			w.input.uses = append(w.input.uses, word)
			rest = rest[end:]
		default:
			known := []string{dish.InputFiles, dish.InputDish, dish.InputOut}
			w.problems = append(w.problems, v.Pos().Error(diagnostics.RuleInvalid, "%s has %q, expected %s", v.Path(), clipWord(rest, end), orList(known)).
				WithHint(diagnostics.Suggest(clipWord(rest, end), known)))
			return
		}
	}
}

// clipWord returns the beginning of text up to its "}", or a piece of it.
func clipWord(text string, end int) string {
	if end < 0 {
		end = len(text) - 1
	}
	return strings.ToValidUTF8(text[:min(end+1, 40)], "")
}

func (w *inputWriter) json(x any) {
	text, err := json.Marshal(x)
	if err != nil {
		panic(err) // not of a string, a number or a boolean
	}
	w.out.Write(text)
}

// checkTool reports keys that a task with a tool cannot have, and an input without a tool.
func (t *taskTable) checkTool() (problems []diagnostics.Diagnostic) {
	if !t.Tool.Given {
		if t.Input.text != "" {
			problems = append(problems, t.Input.at.Error(diagnostics.RuleInvalid, "input applies to tasks that call a tool, and the task has no tool"))
		}
		return problems
	}
	pos := t.Tool.Pos
	exclude := func(given bool, key, why string) {
		if given {
			problems = append(problems, pos.Error(diagnostics.RuleInvalid, "tool and %s exclude each other: %s", key, why))
		}
	}
	const ends = "the call of a tool ends by itself"
	const declared = "a tool has the environment that [tools.ID] of bento.toml declares"
	exclude(!t.Run.isEmpty(), "run", "a task runs a command or calls a tool")
	exclude(t.Cwd.Given, "cwd", "a tool works in the workspace's root; "+dish.InputDish+" in its input is the dish")
	exclude(t.Persistent != nil && *t.Persistent, "persistent", ends)
	exclude(t.Interactive.Value, "interactive", "a tool has no terminal")
	exclude(t.Ready.Given, "ready", ends)
	exclude(len(t.Env.Names)+len(t.Env.Set) > 0, "env", declared)
	exclude(len(t.PassEnv) > 0, "pass_env", declared)
	exclude(len(t.EnvFiles) > 0, "env_files", declared)
	return append(problems, badToolRef(pos, t.Tool.Value)...)
}

// badToolRef reports a reference of a tool that is malformed.
func badToolRef(pos diagnostics.Pos, ref string) []diagnostics.Diagnostic {
	id, function, has := strings.Cut(ref, ":")
	if !ValidToolID(id) {
		return []diagnostics.Diagnostic{pos.Error(diagnostics.RuleInvalid, `%q names no tool, expected "id" or "id:function" such as "acme.fmt:fmt.check"`, ref).
			WithHint("an id is [a-z0-9][a-z0-9._-]*")}
	}
	if has && (strings.TrimSpace(function) != function || function == "" || hasControl(function) || len(function) > 200) {
		return []diagnostics.Diagnostic{pos.Error(diagnostics.RuleInvalid, `%q names no function of the tool, expected "id:function" such as "acme.fmt:fmt.check"`, ref)}
	}
	return nil
}

// checkParser reports a parser that is malformed.
func checkParser(p tomlfile.At[string]) []diagnostics.Diagnostic {
	ref, isTool := strings.CutPrefix(p.Value, adapters.ParserTool)
	switch {
	case !p.Given:
		return nil
	case isTool:
		return badToolRef(p.Pos, ref)
	}
	d := p.Pos.Error(diagnostics.RuleInvalid, `parser %q is no tool, expected "tool:id:function" such as "tool:acme.report:parse"`, p.Value)
	return []diagnostics.Diagnostic{d}
}
