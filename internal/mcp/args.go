package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
)

// Kind is the type of an argument.
type Kind string

// The kinds of arguments.
const (
	Name   Kind = "a string"          // a name, a path, a revision: not empty, and no flag
	Names  Kind = "a list of strings" // each as Name
	Words  Kind = "a list of words"   // any strings
	Switch Kind = "true or false"
)

// Arg is an argument of a tool.
type Arg struct {
	Name, About string
	Kind        Kind
	Required    bool
}

// Bounds of arguments.
const (
	maxValue  = 4096 // bytes of a string
	maxValues = 1000 // strings of a list
)

// schema returns the JSON Schema of the arguments of t.
func (t *Tool) schema() map[string]any {
	properties, required := make(map[string]any), []string{}
	for _, a := range t.Args {
		property := map[string]any{"description": a.About}
		switch a.Kind {
		case Name:
			property["type"], property["minLength"], property["maxLength"] = "string", 1, maxValue
		case Switch:
			property["type"] = "boolean"
		default:
			property["type"], property["maxItems"] = "array", maxValues
			property["items"] = map[string]any{"type": "string", "maxLength": maxValue}
		}
		properties[a.Name] = property
		if a.Required {
			required = append(required, a.Name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// Args are the arguments of a call, as the tool declares them.
type Args struct {
	texts    map[string][]string
	switches map[string]bool
}

// Text returns an argument of the kind Name, "" if it was not passed.
func (a Args) Text(name string) string { return strings.Join(a.texts[name], "") }

// List returns an argument of the kind Names or Words.
func (a Args) List(name string) []string { return a.texts[name] }

// On returns an argument of the kind Switch.
func (a Args) On(name string) bool { return a.switches[name] }

// read returns the arguments of a call. The error names each argument that the tool expects.
func (t *Tool) read(raw json.RawMessage) (Args, error) {
	args := Args{make(map[string][]string), make(map[string]bool)}
	var members map[string]json.RawMessage
	if len(raw) > 0 && json.Unmarshal(raw, &members) != nil {
		return args, t.bad("the arguments are %s, want an object", kindOf(raw))
	}
	for name, value := range members {
		i := slices.IndexFunc(t.Args, func(a Arg) bool { return a.Name == name })
		if i < 0 {
			return args, t.bad("no argument is named %q", name)
		}
		if err := t.readOne(args, t.Args[i], value); err != nil {
			return args, err
		}
	}
	for _, a := range t.Args {
		if a.Required && len(args.texts[a.Name]) == 0 {
			return args, t.bad("the argument %s is missing", a.Name)
		}
	}
	return args, nil
}

// readOne adds the value of one argument to args.
func (t *Tool) readOne(args Args, a Arg, value json.RawMessage) error {
	if string(value) == "null" {
		return nil
	}
	var list []string
	var err error
	switch a.Kind {
	case Switch:
		var on bool
		err = json.Unmarshal(value, &on)
		args.switches[a.Name] = on
	case Name:
		list = []string{""}
		err = json.Unmarshal(value, &list[0])
	default:
		err = json.Unmarshal(value, &list)
	}
	if err != nil {
		return t.bad("%s is %s, want %s", a.Name, kindOf(value), a.Kind)
	}
	if len(list) > maxValues {
		return t.bad("%s has %d strings, want at most %d", a.Name, len(list), maxValues)
	}
	for _, text := range list {
		switch {
		case len(text) > maxValue || strings.ContainsRune(text, 0):
			return t.bad("%s has a string of %d bytes, want at most %d, and no NUL", a.Name, len(text), maxValue)
		case a.Kind != Words && (text == "" || text[0] == '-'):
			return t.bad("%s is %q, want a name that is not empty and does not start with -", a.Name, text)
		}
	}
	args.texts[a.Name] = list
	return nil
}

// bad returns an error of the arguments of a call.
func (t *Tool) bad(format string, operands ...any) error {
	hint := t.Name + " takes no arguments"
	for i, a := range t.Args {
		if i == 0 {
			hint = t.Name + " takes "
		} else {
			hint += ", "
		}
		hint += fmt.Sprintf("%s (%s", a.Name, a.Kind)
		if a.Required {
			hint += ", required"
		}
		hint += ")"
	}
	return diagnostics.Refuse("usage", hint, "%s", t.Name+": "+fmt.Sprintf(format, operands...))
}

// kindOf names the type of a JSON value.
func kindOf(value json.RawMessage) string {
	switch value = bytes.TrimSpace(value); {
	case len(value) == 0:
		return "nothing"
	case value[0] == '{':
		return "an object"
	case value[0] == '[':
		return "a list with other elements"
	case value[0] == '"':
		return "a string"
	case value[0] == 't' || value[0] == 'f':
		return "true or false"
	case value[0] == 'n':
		return "null"
	}
	return "a number"
}
