package interpreter

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/diagnostics"
)

// RulePin is the rule of the diagnostic of a malformed pin.
const RulePin = "invalid_pin"

// Pin returns the version of Python that a project pins: that of the nearest
// .python-version, of its requires-python, of the nearest .tool-versions; or nil. f reads
// the project's directory.
func Pin(f *adapters.Files, w Wants) (*adapters.Toolchain, error) {
	if pin, err := filePin(f, w.StrictFile); pin != nil || err != nil {
		return pin, err
	}
	if r := w.Requires; r.Line > 0 {
		pin := &adapters.Toolchain{Tool: "python", Version: r.Value, File: r.File, Line: r.Line, Strict: w.StrictRequires}
		return checked(pin, "requires-python")
	}
	pin, err := f.ToolVersions("python", "python")
	if pin == nil || err != nil {
		return nil, err
	}
	return checked(pin, ".tool-versions")
}

// Wants holds a manifest's requirement, and how strictly its tool treats a pin.
type Wants struct {
	Requires       pyproject.Entry
	StrictRequires bool // the tool refuses versions other than the manifest's
	StrictFile     bool // the tool refuses versions other than that of .python-version
}

// filePin reads .python-version. pyenv also allows the name of a virtual environment, which
// pins nothing.
func filePin(f *adapters.Files, strict bool) (*adapters.Toolchain, error) {
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
	return checked(&adapters.Toolchain{Tool: "python", Version: text, File: path, Line: line, Strict: strict}, ".python-version")
}

// firstLine returns the first line that is not empty, without a comment.
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

// checked refuses a malformed pin, so that bento reports it before anything runs.
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
