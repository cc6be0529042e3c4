package adapter

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/wire"
)

// maxOutput is how much of an output is sent, in bytes.
const maxOutput = 4 << 20

// ParseDiagnostics asks what the output of a task says, if the manifest has a hook
// for the task that wants to be asked. Findings come sorted, each once, with paths
// relative to the workspace; one about a file outside has its place in the message.
func (p *Process) ParseDiagnostics(ctx context.Context, req adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	if p.manifest.DiagnosticHooks[req.TaskName].Parser != adapters.ParserPlugin {
		return nil, nil
	}
	req.Stdout, req.Stderr = lastLines(req.Stdout, maxOutput), lastLines(req.Stderr, maxOutput)
	// Escapes make text longer; rather less of it than a message that is too large.
	for most := maxOutput; 6*(len(req.Stdout)+len(req.Stderr)) > maxOutput*7/2 && escaped(req.Stdout)+escaped(req.Stderr) > maxOutput*7/2; most /= 2 {
		req.Stdout, req.Stderr = lastLines(req.Stdout, most), lastLines(req.Stderr, most)
	}
	call := about(wire.MethodDiagnostics, req.DishDir)
	call.Params = req
	var d wire.Diagnosed
	if _, err := p.ask(ctx, call, diagnosedShape(), &d); err != nil {
		return nil, err
	}
	for i := range d.Diagnostics {
		settle(&d.Diagnostics[i], req.WorkspaceRoot, p.id)
	}
	return diagnostics.Sorted(d.Diagnostics), nil
}

// lastLines gives whole lines from the end, at most that many bytes. Of a single
// line that is longer it gives the end.
func lastLines(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[len(text)-most:]
	if _, rest, ok := strings.Cut(text, "\n"); ok && rest != "" {
		return rest
	}
	return strings.ToValidUTF8(text, "")
}

// escaped is at least the length of text as encoding/json writes it.
func escaped(text string) int {
	n := len(text)
	for _, c := range []byte(text) {
		if c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			n += 5
		}
	}
	return n
}

// settle makes a finding of a plugin one that bento can show.
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

// relative gives the path of file inside root, in forward slashes; ok is false if
// it is outside.
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
