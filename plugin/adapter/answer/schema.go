package answer

import (
	"reflect"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/plugin/wire"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// Message is a method or notification of the protocol.
type Message struct {
	Name   string // of its schema
	Method string
	Title  string
	notify bool
	params *shape.Shape // nil for none
	result *shape.Shape // nil for null
}

// Messages returns every method and notification, with the shapes that answers are checked by.
func Messages() []Message {
	f := forms()
	dir, installs := shape.Record(shape.Must("dir", absolute()), shape.May("options", nil)), sent[adapters.InstallRequest]()
	return []Message{
		{Name: "initialize", Method: wire.MethodInitialize, Title: "the handshake: the result is the manifest", params: sent[wire.Initialize](), result: manifestShape()},
		{Name: "detect", Method: wire.MethodDetect, Title: "whether a directory is a dish of the adapter", params: dir, result: f[wire.MethodDetect].shape},
		{Name: "requiredToolchain", Method: wire.MethodToolchain, Title: "the version that a directory pins", params: dir, result: f[wire.MethodToolchain].shape},
		{Name: "resolvedToolchainFingerprint", Method: wire.MethodFingerprint, Title: "the version of the installed tool, as a text", params: sent[wire.Toolchain](), result: f[wire.MethodFingerprint].shape},
		{Name: "resolvedToolchain", Method: wire.MethodResolved, Title: "the version of the installed tool, to compare with a pin", params: sent[wire.Toolchain](), result: f[wire.MethodResolved].shape},
		{Name: "install", Method: wire.MethodInstall, Title: "the installation of a dish's dependencies", params: installs, result: installedShape().OrNull()},
		{Name: "parseDiagnostics", Method: wire.MethodDiagnostics, Title: "the findings in the output of a task", params: sent[adapters.ParseRequest](), result: f[wire.MethodDiagnostics].shape},
		{Name: "shutdown", Method: wire.MethodShutdown, Title: "the end"},
		{Name: "tasks", Method: wire.MethodTasks, Title: "the recipes of a directory", params: dir, result: f[wire.MethodTasks].shape},
		{Name: "links", Method: wire.MethodLinks, Title: "the dishes that a directory depends on", params: dir, result: f[wire.MethodLinks].shape},
		{Name: "installScope", Method: wire.MethodInstallScope, Title: "where an installation happens, and what decides it", params: dir, result: f[wire.MethodInstallScope].shape},
		{Name: "addPackages", Method: wire.MethodAdd, Title: "the addition of packages to a dish", params: sent[adapters.AddRequest]()},
		{Name: "scaffoldProject", Method: wire.MethodScaffold, Title: "the files of a new project", params: sent[wire.Scaffold](), result: f[wire.MethodScaffold].shape},
		{Name: "log", Method: wire.NotifyLog, Title: "progress or output, from the plugin", notify: true, params: shape.Record(
			shape.Must("level", text()), shape.May("stream", text()), shape.Must("message", shape.Text(maxMessage)))},
		{Name: "cancel", Method: wire.NotifyCancel, Title: "the request that no caller waits for any more, to the plugin", notify: true, params: shape.Record(shape.Must("id", shape.Int(1)))},
	}
}

// maxMessage is the largest size of a body in bytes.
const maxMessage = 16 << 20

// sent returns the shape of params of bento's own.
func sent[T any]() *shape.Shape { return shape.Of(reflect.TypeFor[T]()) }

// Schema returns the JSON Schema (draft 2020-12) of the message's frames: the request and its
// response, or the notification. $defs has its params and its result.
func (m Message) Schema() map[string]any {
	defs := map[string]any{"params": m.params.Schema()}
	request := map[string]any{"jsonrpc": map[string]any{"const": "2.0"}, "method": map[string]any{"const": m.Method}}
	required := []any{"jsonrpc", "method"}
	if m.params != nil {
		request["params"] = map[string]any{"$ref": "#/$defs/params"}
		if m.Method != wire.MethodFingerprint {
			required = append(required, "params")
		}
	}
	frames := []any{map[string]any{"$ref": "#/$defs/request"}}
	if !m.notify {
		result := map[string]any{"type": "null"}
		if m.result != nil {
			result = m.result.Schema()
		}
		id := map[string]any{"type": "integer", "minimum": 1}
		request["id"], required, defs["result"] = id, append(required, "id"), result
		defs["response"] = object(map[string]any{"jsonrpc": request["jsonrpc"], "id": id, "result": map[string]any{"$ref": "#/$defs/result"}})
		defs["error"] = object(map[string]any{"jsonrpc": request["jsonrpc"], "id": id, "error": map[string]any{
			"type": "object", "required": []any{"code", "message"},
			"properties": map[string]any{"code": map[string]any{"type": "integer"}, "message": map[string]any{"type": "string"}, "data": map[string]any{}},
		}})
		frames = append(frames, map[string]any{"$ref": "#/$defs/response"}, map[string]any{"$ref": "#/$defs/error"})
	}
	defs["request"] = map[string]any{"type": "object", "properties": request, "required": required}
	return map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "bento adapter protocol, version 1: " + m.Title,
		"oneOf": frames, "$defs": defs,
	}
}

// object returns the schema of an object whose members are all required.
func object(members map[string]any) map[string]any {
	var names []any
	for _, name := range []string{"jsonrpc", "id", "result", "error"} {
		if _, ok := members[name]; ok {
			names = append(names, name)
		}
	}
	return map[string]any{"type": "object", "properties": members, "required": names}
}
