package wasm

import (
	"context"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/bentobuild/bento/adapters"
)

// These exports describe a module. It may lack them, or have other exports with these names.
const (
	selfName   = "az_tool_name"
	selfSchema = "az_tool_schema"
)

// Self is the name and the schema that a module exports. A missing part is empty.
type Self struct {
	Name   string          // need not be the id of the tool
	Schema json.RawMessage // a JSON object: the schema of the input
}

// Self compiles the module and asks it about itself.
func (t *Tool) Self(ctx context.Context) (Self, error) {
	var s Self
	name, err := t.ask(ctx, selfName)
	if err != nil {
		return s, err
	}
	if !utf8.Valid(name) {
		return s, t.failure(adapters.MalformedResponse, selfName, "the name of the module is not valid UTF-8", "")
	}
	s.Name = string(name)
	schema, err := t.ask(ctx, selfSchema)
	if err != nil || schema == nil {
		return s, err
	}
	var object map[string]json.RawMessage
	if !utf8.Valid(schema) || json.Unmarshal(schema, &object) != nil || object == nil {
		return s, t.failure(adapters.MalformedResponse, selfSchema, fmt.Sprintf("the schema of the module is no JSON object: found %s", plain(start(schema))), "required is a JSON schema, or no such export")
	}
	s.Schema = schema
	return s, nil
}

// ask calls an export () -> i64 that returns a packed text. Without the export it returns nothing.
func (t *Tool) ask(ctx context.Context, export string) ([]byte, error) {
	t.calls.RLock()
	defer t.calls.RUnlock()
	p, err := t.ready(ctx)
	if err != nil || !p.says[export] {
		return nil, err
	}
	return t.run(ctx, p, recorded{}, func(ctx context.Context, k *call) ([]byte, error) { return k.text(ctx, export) })
}
