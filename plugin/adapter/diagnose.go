package adapter

import (
	"context"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/plugin/adapter/answer"
	"github.com/bentobuild/bento/plugin/wire"
)

// maxOutput is how many bytes of an output are sent at most.
const maxOutput = 4 << 20

// ParseDiagnostics returns the plugin's diagnostics of a task's output, if the manifest has a hook for the
// task with the parser "plugin". They are sorted, without duplicates, with paths relative to the
// workspace. For a file outside, the message has the place.
func (p *Process) ParseDiagnostics(ctx context.Context, req adapters.ParseRequest) ([]diagnostics.Diagnostic, error) {
	if p.manifest.DiagnosticHooks[req.TaskName].Parser != adapters.ParserPlugin {
		return nil, nil
	}
	req.Stdout, req.Stderr = lastLines(req.Stdout, maxOutput), lastLines(req.Stderr, maxOutput)
	// Escapes make text longer: send less of it, so that the message stays within its
	// limit.
	for most := maxOutput; 6*(len(req.Stdout)+len(req.Stderr)) > maxOutput*7/2 && escaped(req.Stdout)+escaped(req.Stderr) > maxOutput*7/2; most /= 2 {
		req.Stdout, req.Stderr = lastLines(req.Stdout, most), lastLines(req.Stderr, most)
	}
	call := about(wire.MethodDiagnostics, req.DishDir)
	call.Params = req
	call.Once = true // the output is not worth waiting for a restart
	var d wire.Diagnosed
	if _, err := p.ask(ctx, call, &d); err != nil {
		return nil, err
	}
	return answer.Findings(d.Diagnostics, req.WorkspaceRoot, p.id), nil
}

// lastLines returns whole lines from the end, at most that many bytes. Of a single longer
// line it returns the end.
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

// escaped returns an upper bound for the length of text as encoding/json writes it.
func escaped(text string) int {
	n := len(text)
	for _, c := range []byte(text) {
		if c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			n += 5
		}
	}
	return n
}
