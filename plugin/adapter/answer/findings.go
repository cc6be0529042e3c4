package answer

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/wire"
)

// Findings returns the diagnostics of the plugin with this id as bento reports them: with paths relative
// to root, the workspace, sorted, without duplicates. For a file outside, the message has the place.
func Findings(list []diagnostics.Diagnostic, root, id string) []diagnostics.Diagnostic {
	for i := range list {
		settle(&list[i], root, id)
	}
	return diagnostics.Sorted(list)
}

// ToolFindings returns the diagnostics in the output of a tool that parses, as Findings: a JSON
// array of them, checked and bounded as a plugin's answer is.
func ToolFindings(output, root, id string) ([]diagnostics.Diagnostic, error) {
	if strings.TrimSpace(output) == "" {
		return nil, nil
	}
	if !json.Valid([]byte(output)) {
		return nil, fmt.Errorf("tool %s: expected a JSON array of diagnostics, got %.60q", id, output)
	}
	var d wire.Diagnosed
	if err := NewReader().Decode(wire.MethodDiagnostics, json.RawMessage(`{"diagnostics":`+output+"}"), &d); err != nil {
		return nil, fmt.Errorf("tool %s: %w", id, err)
	}
	return Findings(d.Diagnostics, root, id), nil
}

// settle completes a diagnostic of a plugin.
func settle(d *diagnostics.Diagnostic, root, id string) {
	switch d.Severity {
	case diagnostics.Error, diagnostics.Warning, diagnostics.Info, diagnostics.Hint:
	default:
		d.Severity = diagnostics.Warning
	}
	d.Message, d.Rule, d.Hint = wire.Plain(d.Message), wire.Plain(d.Rule), wire.Plain(d.Hint)
	if d.Source = wire.Plain(d.Source); d.Source == "" {
		d.Source = id
	}
	if d.EndLine == 0 || d.EndCol == 0 {
		d.EndLine, d.EndCol = 0, 0
	}
	file, ok := relative(d.File, root)
	if !ok {
		d.Message = fmt.Sprintf("%s: %s", wire.Plain(d.Where()), d.Message)
		d.Line, d.Col, d.EndLine, d.EndCol = 0, 0, 0, 0
		file = ""
	}
	d.File = file
	if d.File != "" {
		d.Line = max(1, d.Line)
	}
}

// relative returns the path of file inside root, in forward slashes; ok is false if it is
// outside.
func relative(file, root string) (path string, ok bool) {
	if file == "" {
		return "", true
	}
	if filepath.IsAbs(file) {
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return "", false
		}
		file = rel
	}
	file = filepath.Clean(file)
	return filepath.ToSlash(file), filepath.IsLocal(file)
}
