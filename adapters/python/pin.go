package python

import (
	"bufio"
	"bytes"
	"context"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
)

// RulePin is the rule of the diagnostic of a pin that nobody can read.
const RulePin = "invalid_pin"

// RequiredToolchain gives the version of Python that the project pins: that of the
// nearest .python-version, of requires-python, of the nearest .tool-versions.
func (a *Adapter) RequiredToolchain(ctx context.Context, dir string) (*adapters.Toolchain, error) {
	f := adapters.NewFiles(dir)
	p, err := open(f)
	if err != nil {
		return nil, err
	}
	return pin(f, p)
}

func pin(f *adapters.Files, p *project) (*adapters.Toolchain, error) {
	if pin, err := filePin(f); pin != nil || err != nil {
		return pin, err
	}
	if r := p.RequiresPython; r.Line > 0 {
		// pip refuses to install the project under another version.
		pin := &adapters.Toolchain{Tool: "python", Version: r.Value, File: r.File, Line: r.Line, Strict: p.canBuild()}
		return checked(pin, "requires-python")
	}
	pin, err := f.ToolVersions("python", "python")
	if pin == nil || err != nil {
		return nil, err
	}
	return checked(pin, ".tool-versions")
}

// filePin reads .python-version. The name of a virtual environment, which pyenv
// allows there, pins nothing.
func filePin(f *adapters.Files) (*adapters.Toolchain, error) {
	path, ok := f.Up(".python-version")
	if !ok {
		return nil, nil
	}
	data, err := f.Read(path)
	if err != nil {
		return nil, err
	}
	text, line := firstLine(data)
	if text == "system" || !strings.ContainsAny(text, "0123456789") {
		return nil, nil
	}
	if w, err := parseWanted(text); err == nil && w.name != "" {
		return nil, nil
	}
	return checked(&adapters.Toolchain{Tool: "python", Version: text, File: path, Line: line}, ".python-version")
}

// firstLine gives the first line that is not empty, without a comment.
func firstLine(data []byte) (text string, line int) {
	data, _ = bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text != "" {
			return text, n
		}
	}
	return "", 0
}

// checked refuses a pin that nobody can read, so that it is told before anything
// runs.
func checked(pin *adapters.Toolchain, name string) (*adapters.Toolchain, error) {
	if _, err := parseWanted(pin.Version); err != nil {
		return nil, diagnostics.Problems{{
			File: pin.File, Line: pin.Line,
			Severity: diagnostics.Error,
			Message:  name + ": " + err.Error(),
			Rule:     RulePin,
			Source:   diagnostics.Source,
			Hint:     `write a version or a range, such as "3.12", "3.12.4" or ">=3.10,<3.13"`,
		}}
	}
	return pin, nil
}
