package adapter

import (
	"context"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/adapter/answer"
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
	call.Once = true // nobody waits for a plugin to come back for this
	var d wire.Diagnosed
	if _, err := p.ask(ctx, call, &d); err != nil {
		return nil, err
	}
	return answer.Findings(d.Diagnostics, req.WorkspaceRoot, p.id), nil
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
