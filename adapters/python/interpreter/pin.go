package interpreter

import (
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Pin returns the version of Python that a project pins: that of the nearest
// .python-version, of its requires-python, of the nearest .tool-versions; or nil. f reads
// the project's directory.
func Pin(f *snapshot.Files, w Wants) (*adapters.Toolchain, error) {
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

// filePin reads .python-version. pyenv also allows the name of a virtual environment, which is no
// pin.
func filePin(f *snapshot.Files, strict bool) (*adapters.Toolchain, error) {
	pin, err := f.VersionFile("python", ".python-version")
	if pin == nil || err != nil {
		return nil, err
	}
	text := pin.Version
	if text == "system" || !strings.ContainsAny(text, "0123456789") {
		return nil, nil
	}
	if w, err := parseWanted(text); err == nil && w.name != "" {
		return nil, nil
	}
	pin.Strict = strict
	return checked(pin, ".python-version")
}

// checked refuses a malformed pin, so that bento reports it before anything runs.
func checked(pin *adapters.Toolchain, name string) (*adapters.Toolchain, error) {
	if _, err := parseWanted(pin.Version); err != nil {
		return nil, pin.Malformed(name, err, `write a version or a range, such as "3.12", "3.12.4" or ">=3.10,<3.13"`)
	}
	return pin, nil
}
