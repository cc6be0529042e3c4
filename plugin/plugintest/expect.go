package plugintest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/bentobuild/bento/internal/tomlfile"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/wire"
)

func checked(method string, result json.RawMessage) error {
	if err := answer.Check(method, result); err != nil {
		return err
	}
	for _, stranger := range answer.Unknown(method, result) {
		return fmt.Errorf("%q is no member of the protocol", stranger.Path)
	}
	return nil
}

// take makes an answer the expected one.
func (e *expectation) take(got any, err error) {
	var rpc *wire.RPCError
	if e.fails = errors.As(err, &rpc); e.fails {
		e.failed = rpc.Message
	}
	e.want = got
}

// judge compares an answer with the expected one.
func (e *expectation) judge(got any, err error) outcome {
	if !e.fails {
		return compare("", e.want, got, err)
	}
	var rpc *wire.RPCError
	if !errors.As(err, &rpc) {
		return fail("expected an error with %q, got %s", e.failed, jsonText(got))
	}
	return when(strings.Contains(rpc.Message, e.failed), "expected an error with %q, got %v", e.failed, rpc)
}

// compare fails with the first difference of two values.
func compare(path string, want, got any, err error) outcome {
	if err != nil {
		return without(err)
	}
	if at, w, g := difference(path, want, got); w != g {
		if at != "" {
			at += ": "
		}
		return fail("%sexpected %.200s, got %.200s", at, w, g)
	}
	return pass()
}

// difference returns the first place where two values of JSON differ, with their texts there; equal
// texts for equal values.
func difference(path string, want, got any) (at, w, g string) {
	if reflect.DeepEqual(want, got) {
		return path, "", ""
	}
	switch x := want.(type) {
	case map[string]any:
		y, ok := got.(map[string]any)
		if !ok {
			break
		}
		keys := slices.Sorted(maps.Keys(x))
		for _, key := range slices.Sorted(maps.Keys(y)) {
			if _, known := x[key]; !known {
				keys = append(keys, key)
			}
		}
		for _, key := range keys {
			of := strings.TrimPrefix(path+"."+key, ".")
			a, wanted := x[key]
			b, there := y[key]
			if !wanted || !there {
				return of, textOr(a, wanted), textOr(b, there)
			}
			if at, w, g := difference(of, a, b); w != g {
				return at, w, g
			}
		}
	case []any:
		y, ok := got.([]any)
		if !ok {
			break
		}
		for i := range max(len(x), len(y)) {
			of := fmt.Sprintf("%s[%d]", path, i)
			if i >= len(x) || i >= len(y) {
				return of, textOr(elem(x, i), i < len(x)), textOr(elem(y, i), i < len(y))
			}
			if at, w, g := difference(of, x[i], y[i]); w != g {
				return at, w, g
			}
		}
	}
	return path, jsonText(want), jsonText(got)
}

func elem(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func textOr(v any, ok bool) string {
	if !ok {
		return "nothing"
	}
	return jsonText(v)
}

// jsonText returns a value of JSON for people: "<" and ">" of constraints are themselves.
func jsonText(v any) string {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // it was JSON
	}
	return strings.TrimSpace(text.String())
}

// Text returns the file of the expected answers.
func (f *Fixtures) Text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Expected answers, a table for each directory. bento plugin test PLUGIN --dir . --update writes this\n# file. false stands for null, ${dir} for the directory and ${root} for the one of this file.\n")
	slices.SortFunc(f.cases, func(a, b *fixture) int { return strings.Compare(a.name, b.name) })
	for _, c := range f.cases {
		c.write(&b)
	}
	return []byte(b.String())
}

// write writes the table of a directory: plain answers first, then those that are tables.
func (c *fixture) write(b *strings.Builder) {
	name := tomlfile.Key(c.name)
	fmt.Fprintf(b, "\n[%s]\n", name)
	var tables []*expectation
	for _, e := range c.answers {
		table, isTable := e.want.(map[string]any)
		switch {
		case e.fails:
			fmt.Fprintf(b, "%s = { error = %s }\n", e.method, tomlText(e.failed))
		case e.method == wire.MethodDetect && isTable:
			fmt.Fprintf(b, "%s = %s\n", e.method, tomlText(table["matches"]))
		case e.want == nil:
			fmt.Fprintf(b, "%s = false\n", e.method)
		case isTable:
			tables = append(tables, e)
		default:
			fmt.Fprintf(b, "%s = %s\n", e.method, tomlText(e.want))
		}
	}
	for _, e := range tables {
		fmt.Fprintf(b, "\n[%s.%s]\n", name, e.method)
		writeMembers(b, e.want.(map[string]any))
	}
	for _, p := range c.parses {
		fmt.Fprintf(b, "\n[[%s.%s]]\n", name, wire.MethodDiagnostics)
		fmt.Fprintf(b, "task_name = %s\nexit_status = %d\nstdout = %s\nstderr = %s\n", tomlText(p.task), p.status, tomlText(p.stdout), tomlText(p.stderr))
		writeMembers(b, map[string]any{"diagnostics": p.want})
	}
}

// writeMembers writes a key a line, and of an array an element a line.
func writeMembers(b *strings.Builder, table map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		list, isList := table[key].([]any)
		if !isList || len(list) == 0 {
			fmt.Fprintf(b, "%s = %s\n", tomlfile.Key(key), tomlText(table[key]))
			continue
		}
		fmt.Fprintf(b, "%s = [\n", tomlfile.Key(key))
		for _, elem := range list {
			fmt.Fprintf(b, "  %s,\n", tomlText(elem))
		}
		b.WriteString("]\n")
	}
}

// tomlText returns a value of JSON as TOML, on one line but for a text of several.
func tomlText(v any) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.FormatInt(int64(v), 10)
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = tomlText(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, tomlfile.Key(key)+" = "+tomlText(v[key]))
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	default:
		return fmt.Sprint(v)
	}
}

func quoted(s string) string {
	odd := strings.Contains(s, "'''") || strings.HasSuffix(s, "'") || strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && unicode.IsControl(r) })
	if strings.Contains(s, "\n") && !odd {
		return "'''\n" + s + "'''"
	}
	return tomlfile.Quote(s)
}
