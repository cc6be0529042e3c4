package manifest

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/internal/jsonfile"
)

// protocol is the contract of one-shot programs that bento serves.
const protocol = "rterm.plugin.v1"

// Process is the manifest of a one-shot program.
type Process struct {
	ID, DisplayName      string
	Description, Version string
	Capabilities         []string
	Command              string // absolute, a bare name on PATH, or relative to the bundle
	Args                 []string
	Dir                  string            // absolute, or relative to the bundle; "." is its root
	Env                  map[string]string // never nil
	Tools                []Function
	Unknown              []string // keys that bento ignores, sorted
}

// Function is one tool of a one-shot program.
type Function struct {
	Name, Description         string
	InputSchema, OutputSchema json.RawMessage
	Capabilities              []string
	ApprovalTier              string
	Mutating                  bool
	TargetKind                string
}

var (
	processKeys = []string{"plugin_id", "display_name", "description", "plugin_version", "protocol_version", "capabilities", "process", "tools"}
	tiers       = []string{"safe", "moderate", "dangerous", "destructive"}
	targets     = []string{"workspace", "widget", "policy"}
)

// anyObject is the schema of a function without one.
const anyObject = `{"type":"object","additionalProperties":true}`

// ReadProcess reads an rterm-plugin.json. path is its name in messages. The error is a
// diagnostics.Problems with every problem.
func ReadProcess(path string, data []byte) (*Process, error) {
	r, err := newReader(path, data)
	if err != nil {
		return nil, err
	}
	p := &Process{
		ID: r.text("plugin_id"), DisplayName: r.text("display_name"), Description: r.text("description"),
		Version: r.text("plugin_version"), Capabilities: r.texts("capabilities"), Unknown: r.unknown(processKeys),
		Env: make(map[string]string), Dir: ".",
	}
	if p.DisplayName == "" {
		p.DisplayName = p.ID
	}
	r.identity(p)
	if r.is("process", jsonfile.Object, "an object") {
		inner := r.below(r.root.Get("process"))
		inner.program(p)
		r.join(inner)
	} else if r.root.Get("process") == nil {
		r.fail("process", "process is missing, expected an object with the command")
	}
	r.objects("tools", func(r *reader) { r.function(p) })
	if len(p.Tools) == 0 && len(r.problems) == 0 {
		r.fail("tools", "tools is empty, expected at least one tool")
	}
	return p, r.err()
}

func (r *reader) identity(p *Process) {
	if !ValidID(p.ID) {
		r.fail("plugin_id", "plugin_id %.120q is not valid, expected "+idWanted, p.ID)
	}
	if !ValidVersion(p.Version) {
		r.fail("plugin_version", "plugin_version %.120q is not valid, expected "+versionWanted, p.Version)
	}
	if got := r.text("protocol_version"); got != protocol {
		r.fail("protocol_version", "protocol_version %.120q is not supported, expected %q", got, protocol)
	}
}

// program reads the object process.
func (r *reader) program(p *Process) {
	p.Command, p.Args = r.text("command"), r.texts("args")
	switch {
	case strings.TrimSpace(p.Command) == "":
		r.fail("command", "process.command cannot be empty")
	case strings.Contains(p.Command, "/") && !inside(p.Command):
		r.fail("command", "process.command %.200q leads out of the bundle", p.Command)
	}
	if dir := r.text("dir"); dir != "" {
		if p.Dir = dir; !inside(dir) {
			r.fail("dir", "process.dir %.200q leads out of the bundle", dir)
		}
	}
	for _, text := range append(slices.Clone(p.Args), p.Command, p.Dir) {
		if strings.ContainsRune(text, 0) {
			r.failAt(r.root, "process contains a NUL character")
		}
	}
	if !r.is("env", jsonfile.Object, "an object") {
		return
	}
	for _, m := range r.root.Get("env").Members() {
		if m.Value.Kind() != jsonfile.String {
			r.problems = append(r.problems, m.Value.Mistyped(r.path, m.Name, "a string"))
		} else if m.Name == "" || strings.ContainsAny(m.Name, "=\x00") || strings.ContainsRune(m.Value.Text(), 0) {
			r.failAt(m.Value, "process.env: %.80q is no name of a variable, or its value contains a NUL character", m.Name)
		} else {
			p.Env[m.Name] = m.Value.Text()
		}
	}
}

// inside reports whether a path is absolute or stays in the bundle.
func inside(name string) bool {
	if strings.HasPrefix(name, "/") {
		return true
	}
	clean := path.Clean(name)
	return clean != ".." && !strings.HasPrefix(clean, "../") && !strings.Contains(name, `\`)
}

// function reads one element of tools.
func (r *reader) function(p *Process) {
	f := Function{
		Name: r.text("name"), Description: r.text("description"), Capabilities: r.texts("capabilities"),
		InputSchema: r.schema("input_schema"), OutputSchema: r.schema("output_schema"),
		ApprovalTier: r.oneOf("approval_tier", tiers), TargetKind: r.oneOf("target_kind", targets),
		Mutating: r.is("mutating", jsonfile.Bool, "true or false") && r.root.Get("mutating").IsTrue(),
	}
	if strings.TrimSpace(f.Name) == "" {
		r.fail("name", "the name of a tool cannot be empty")
	} else if slices.ContainsFunc(p.Tools, func(o Function) bool { return o.Name == f.Name }) {
		r.fail("name", "tool %.120q occurs twice, expected unique names", f.Name)
	}
	for _, c := range f.Capabilities {
		if len(p.Capabilities) > 0 && !slices.Contains(p.Capabilities, c) {
			r.fail("capabilities", "tool %.120q: capability %.120q is not among those of the plugin", f.Name, c)
		}
	}
	p.Tools = append(p.Tools, f)
}

// oneOf returns a word of a list; a missing one is the first.
func (r *reader) oneOf(name string, words []string) string {
	word := r.text(name)
	if word == "" {
		return words[0]
	}
	if !slices.Contains(words, word) {
		r.fail(name, "%s %.120q is not known, expected one of %s", name, word, strings.Join(words, ", "))
	}
	return word
}

// schema returns a JSON Schema: an object, true or false, or a string that contains one.
func (r *reader) schema(name string) json.RawMessage {
	v := r.root.Get(name)
	switch v.Kind() {
	case 0, jsonfile.Null:
		return json.RawMessage(anyObject)
	case jsonfile.Object, jsonfile.Bool:
		return raw(v)
	case jsonfile.String:
		if text := v.Text(); len(text) <= maxText && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	}
	r.fail(name, "%s is no JSON Schema, expected an object", name)
	return json.RawMessage(anyObject)
}

// raw returns the JSON text of a value.
func raw(v *jsonfile.Value) json.RawMessage {
	var c canon
	c.value(v)
	return json.RawMessage(c)
}

func (c *canon) value(v *jsonfile.Value) {
	switch v.Kind() {
	case jsonfile.String:
		c.member("", v.Text())
	case jsonfile.Object:
		*c = append(*c, '{')
		for i, m := range v.Members() {
			if i > 0 {
				*c = append(*c, ',')
			}
			c.member("", m.Name)
			*c = append(*c, ':')
			c.value(m.Value)
		}
		*c = append(*c, '}')
	case jsonfile.Array:
		*c = append(*c, '[')
		for i, item := range v.Items() {
			if i > 0 {
				*c = append(*c, ',')
			}
			c.value(item)
		}
		*c = append(*c, ']')
	default:
		*c = append(*c, v.Literal()...)
	}
}
