package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// ToolReady is the status of a tool that a task can call.
const ToolReady = "ready"

// ToolList is the document of `bento tool list`. Its rows are those of `bento plugin list`.
type ToolList struct {
	Schema string    `json:"schema"`
	Tools  []ToolRow `json:"tools"`
}

// ToolRow is one tool that bento.toml declares or that was found on PATH.
type ToolRow struct {
	PluginRow
	Declared string `json:"declared,omitempty"` // "bento.toml:3" of its table, "" for a tool on PATH
}

// NewToolList makes the document of tools, declared ones first.
func NewToolList(list []ToolRow) ToolList {
	return ToolList{Schema: Schema("tool.list"), Tools: list}
}

// WriteToolList prints tools for people.
func WriteToolList(w io.Writer, style Style, doc ToolList) {
	if len(doc.Tools) == 0 {
		fmt.Fprintln(w, "no [tools] in bento.toml, and no bento-tool-* on PATH")
	}
	for _, t := range doc.Tools {
		writePluginRow(w, style, t.PluginRow, ToolReady)
	}
}

// ToolInfo is the document of `bento tool info`.
type ToolInfo struct {
	Schema string `json:"schema"`
	ToolRow
	Digest       string            `json:"digest,omitempty"`
	Files        []string          `json:"files,omitempty"` // of the workspace
	Capabilities []string          `json:"capabilities"`    // granted
	AllowedHosts []string          `json:"allowed_hosts,omitempty"`
	Terms        map[string]string `json:"terms"`              // of its identity; values of variables are never included
	Manifest     *ToolManifest     `json:"manifest,omitempty"` // with --handshake
}

// ToolManifest is the self-description of a tool: the version, functions and capabilities of a program, or the
// name and input schema of a module.
type ToolManifest struct {
	Name         string          `json:"name,omitempty"`
	Version      string          `json:"version,omitempty"`
	Functions    []string        `json:"functions,omitempty"`
	Capabilities []string        `json:"capabilities,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
}

// NewToolInfo sets the schema of doc and returns it.
func NewToolInfo(doc ToolInfo) ToolInfo {
	doc.Schema = Schema("tool.info")
	return doc
}

// WriteToolInfo prints a tool for people.
func WriteToolInfo(w io.Writer, style Style, doc ToolInfo) {
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-13s %s\n", name, Indent(Printable(text)))
		}
	}
	line(style.Bold(doc.ID), doc.Status)
	line("path", doc.Path)
	line("contract", doc.Contract)
	line("declared", doc.Declared)
	line("digest", doc.Digest)
	line("granted", strings.Join(doc.Capabilities, ", "))
	line("hosts", strings.Join(doc.AllowedHosts, ", "))
	line("files", strings.Join(doc.Files, ", "))
	if m := doc.Manifest; m != nil {
		line("name", m.Name)
		line("version", m.Version)
		line("functions", strings.Join(m.Functions, ", "))
		line("asks for", strings.Join(m.Capabilities, ", "))
		line("input", string(m.InputSchema))
	}
	line("problem", doc.Message)
}

// ToolRun is the document of `bento tool run`.
type ToolRun struct {
	Schema     string        `json:"schema"`
	ID         string        `json:"id"`
	Function   string        `json:"function,omitempty"`
	Output     string        `json:"output,omitempty"` // unchanged
	Warning    string        `json:"warning,omitempty"`
	Log        []string      `json:"log,omitempty"`   // its log lines, or its stderr
	Error      *ToolRunError `json:"error,omitempty"` // in place of an output
	DurationMS float64       `json:"duration_ms"`
}

// ToolRunError is the reason why a call has no output.
type ToolRunError struct {
	Kind    string `json:"kind" enum:"tool,failure"` // an error that the tool reported, or a failure of the tool
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// NewToolRun makes the document of a call with its duration.
func NewToolRun(id, function string, took time.Duration) ToolRun {
	return ToolRun{Schema: Schema("tool.run"), ID: id, Function: function, DurationMS: float64(took.Microseconds()) / 1000}
}

// RawOutput returns the output of a tool with exactly one line end.
func RawOutput(text string) string { return strings.TrimSuffix(text, "\n") + "\n" }
