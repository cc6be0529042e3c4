package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics/parse"
	"github.com/bentobuild/bento/internal/tree/glob"
	"github.com/bentobuild/bento/plugin/wire"
	"github.com/bentobuild/bento/plugin/wire/shape"
)

// ReadManifest checks and decodes the result of initialize, for the plugin with this id. It
// returns a description of each member that it drops. The error is an *adapters.Failure for
// a manifest of another version or another id, else it wraps *shape.Error.
func ReadManifest(result json.RawMessage, id string) (m *adapters.Manifest, dropped []string, err error) {
	m = &adapters.Manifest{Capabilities: adapters.DefaultCapabilities()}
	if err := checkGreeting(result, id); err != nil {
		return nil, nil, err
	}
	if err := shape.Decode(result, manifestShape(), m); err != nil {
		return nil, nil, fmt.Errorf("manifest: %w", err)
	}
	if err := checkTasks("default_tasks", m.DefaultTasks); err != nil {
		return nil, nil, fmt.Errorf("manifest: %w", err)
	}
	if err := checkOptions(m); err != nil {
		return nil, nil, fmt.Errorf("manifest: %w", err)
	}
	if len(m.Exec) > 0 {
		if err := adapters.CheckExec(m.Exec); err != nil {
			return nil, nil, fmt.Errorf("manifest: exec: %w", err)
		}
	}
	for _, task := range slices.Sorted(maps.Keys(m.DiagnosticHooks)) {
		if why := wrongHook(m.DiagnosticHooks[task]); why != "" {
			delete(m.DiagnosticHooks, task)
			dropped = append(dropped, fmt.Sprintf("manifest: diagnostic_hooks.%.60q: %s; the hook is not used", task, why))
		}
	}
	return m, append(dropped, dropMarkers(m)...), nil
}

// dropMarkers removes the derived paths that match a fingerprint file, since edits of that file would be
// ignored.
func dropMarkers(m *adapters.Manifest) (dropped []string) {
	kept := m.DerivedPaths[:0]
	for i, pattern := range m.DerivedPaths {
		set, err := glob.Compile("", []string{pattern})
		lost := slices.IndexFunc(m.FingerprintFiles, func(name string) bool { return err == nil && set.Match(path.Clean(name)) })
		if lost < 0 {
			kept = append(kept, pattern)
			continue
		}
		dropped = append(dropped, fmt.Sprintf("manifest: derived_paths[%d]: %.60q matches the fingerprint file %.60q, whose edits would be lost; the glob is not used",
			i, pattern, m.FingerprintFiles[lost]))
	}
	m.DerivedPaths = kept
	return dropped
}

// checkGreeting checks the members that decide whether bento can read the rest.
func checkGreeting(result json.RawMessage, id string) error {
	var m struct {
		ProtocolVersion int    `json:"protocol_version"`
		AdapterID       string `json:"adapter_id"`
		Versions        []int  `json:"protocol_versions"`
	}
	if err := shape.Decode(result, greetingShape(), &m); err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	if speaks := slices.Contains(m.Versions, adapters.ProtocolVersion); m.ProtocolVersion != adapters.ProtocolVersion || m.Versions != nil && !speaks {
		message := fmt.Sprintf("its protocol_version is %d, this bento speaks %d", m.ProtocolVersion, adapters.ProtocolVersion)
		if speaks {
			message += ", as the plugin does too: it has to answer with the version that initialize names"
		} else if m.Versions != nil {
			message += fmt.Sprintf(", which its protocol_versions %v lack", m.Versions)
		}
		return &adapters.Failure{Code: adapters.ProtocolVersionMismatch, Message: message}
	}
	if m.AdapterID != id || !isID(id) {
		return &adapters.Failure{
			Code:    adapters.AdapterIDMismatch,
			Message: fmt.Sprintf("its adapter_id is %q, expected %q as in its file name", m.AdapterID, id),
		}
	}
	return nil
}

// wrongHook returns why a hook cannot be used. Hooks are optional, so an unknown one is
// dropped alone.
func wrongHook(h adapters.Hook) string {
	switch {
	case h.Rerun.Kind != adapters.RerunAppend && h.Rerun.Kind != adapters.RerunReplace:
		return fmt.Sprintf("rerun.kind: expected %q or %q, got %.60q", adapters.RerunAppend, adapters.RerunReplace, h.Rerun.Kind)
	case h.Rerun.Kind == adapters.RerunReplace && h.Rerun.Command == "":
		return "rerun.command: expected a shell command, got nothing"
	case !IsParser(h.Parser):
		return fmt.Sprintf("parser: bento has no parser %.60q, expected %q or one of %s", h.Parser, adapters.ParserPlugin, strings.Join(parse.Parsers(), ", "))
	}
	return ""
}

// IsParser reports whether a hook may name this parser: the plugin itself, a tool of the
// workspace, or one of bento's.
func IsParser(id string) bool {
	if strings.HasPrefix(id, adapters.ParserTool) {
		return len(id) > len(adapters.ParserTool) && isName(id)
	}
	return id == adapters.ParserPlugin || slices.Contains(parse.Parsers(), id)
}

// Names reports whether the manifest in result names a method as offered. A plugin need not
// know a method that the manifest offers by default.
func Names(result json.RawMessage, method string) bool {
	var m struct {
		Capabilities map[string]json.RawMessage `json:"capabilities"`
	}
	name, ok := capabilities()[method]
	return !ok || wire.Decode(result, &m) == nil && string(m.Capabilities[name]) == "true"
}

// capabilities returns the capability of each method that has one.
func capabilities() map[string]string {
	return map[string]string{
		wire.MethodDetect:       "detect",
		wire.MethodToolchain:    "required_toolchain",
		wire.MethodFingerprint:  "resolved_toolchain_fingerprint",
		wire.MethodInstall:      "install",
		wire.MethodTasks:        "tasks",
		wire.MethodLinks:        "links",
		wire.MethodInstallScope: "install_scope",
		wire.MethodAdd:          "add",
		wire.MethodResolved:     "resolved_toolchain",
		wire.MethodScaffold:     "scaffold",
	}
}

// greetingShape returns the shape of the members that are checked first.
func greetingShape() *shape.Shape {
	return shape.Record(
		shape.Must("protocol_version", shape.Int(0)),
		shape.Must("adapter_id", shape.Text(maxName)),
		shape.May("protocol_versions", shape.List(maxTasks, shape.Int(0))),
	)
}

// checkOptions checks the schema of the options.
func checkOptions(m *adapters.Manifest) error {
	has := len(m.OptionsSchema) > 0 && string(m.OptionsSchema) != "null"
	if has != m.Capabilities.Options {
		return errors.New("options_schema: expected it with the capability options, and only then")
	}
	if !has {
		return nil
	}
	_, err := ReadOptionsSchema(m.OptionsSchema)
	return err
}

// variableNames returns the shape of names of variables, NAME or PREFIX_*.
func variableNames() *shape.Shape {
	return shape.List(maxTasks, shape.Text(maxName).That("the name of a variable, or PREFIX_*", func(s string) bool {
		return isVariable(strings.TrimSuffix(s, "*")) && !strings.ContainsAny(s[:len(s)-1], "* $")
	}))
}

func manifestShape() *shape.Shape {
	return shape.Record(
		shape.Must("protocol_version", shape.Int(0)),
		shape.Must("adapter_id", shape.Text(maxName)),
		shape.Must("display_name", name("a name")),
		shape.Must("fingerprint_files", dishGlobs()),
		shape.Must("default_tasks", tasksShape()),
		shape.May("capabilities", capabilitiesShape()),
		shape.May("diagnostic_hooks", shape.Table(maxTasks, hookShape())),
		shape.May("derived_paths", dishGlobs()),
		shape.May("parallel", shape.Int(0)),
		shape.May("nested", shape.Bool()),
		shape.May("exec", shape.List(maxTasks, text())),
		shape.May("env", variableNames()),
		shape.May("pass_env", variableNames()),
		shape.May("options_schema", nil),
		shape.May("protocol_versions", shape.List(maxTasks, shape.Int(0))),
	)
}

func capabilitiesShape() *shape.Shape {
	var fields []shape.Field
	for _, name := range append(slices.Sorted(maps.Values(capabilities())), "cancel", "options") {
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
		shape.May("in_dish", shape.Bool()),
	)
}
