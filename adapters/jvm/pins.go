package jvm

import (
	"fmt"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// VersionFiles returns the version of Java that the nearest .java-version, .sdkmanrc or
// .tool-versions requires, or nil.
func VersionFiles(f *snapshot.Files) (*adapters.Toolchain, error) {
	if pin, err := javaVersion(f); pin != nil || err != nil {
		return pin, err
	}
	if pin, err := sdkman(f); pin != nil || err != nil {
		return pin, err
	}
	pin, err := f.ToolVersions("java", "java")
	return readable(pin, err)
}

// javaVersion reads the file of jenv: the first line that is not empty.
func javaVersion(f *snapshot.Files) (*adapters.Toolchain, error) {
	pin, err := f.VersionFile("java", ".java-version")
	if pin != nil && pin.Version == "system" {
		return nil, nil
	}
	return readable(pin, err)
}

// sdkman reads https://sdkman.io/usage/#env-command.
func sdkman(f *snapshot.Files) (*adapters.Toolchain, error) {
	path, ok := f.Up(".sdkmanrc")
	if !ok {
		return nil, nil
	}
	data, err := f.Read(path)
	if err != nil {
		return nil, err
	}
	if java := ParseProperties(data)["java"]; java.Value != "" {
		return readable(&adapters.Toolchain{Tool: "java", Version: java.Value, File: path, Line: java.Line}, nil)
	}
	return nil, nil
}

// readable refuses a pin without a version, so that bento reports it before anything runs.
func readable(pin *adapters.Toolchain, err error) (*adapters.Toolchain, error) {
	if pin == nil || err != nil {
		return nil, err
	}
	if _, ok := (Version{}).Satisfies(pin.Version); ok && len(pin.Version) < 100 {
		return pin, nil
	}
	return nil, pin.Malformed(pin.File, fmt.Errorf("%.60q is not a version of Java", pin.Version),
		`write a version such as "17", "17.0.9" or "temurin-21.0.1+12"`)
}

// Pins makes one pin from several, any of which may be nil: the first, with the others as
// More.
func Pins(list ...*adapters.Toolchain) *adapters.Toolchain {
	var pin *adapters.Toolchain
	for _, p := range list {
		switch {
		case p == nil:
		case pin == nil:
			pin = p
		default:
			pin.More = append(pin.More, *p)
		}
	}
	return pin
}

// CheckJava compares a pin with the output of java. found are versions of JDKs that the
// tool may take instead.
func (h *Host) CheckJava(want adapters.Toolchain, fingerprint string, found ...Version) adapters.Verdict {
	_, have := Tell(firstLine(fingerprint))
	if len(have) == 0 {
		return adapters.Verdict{OK: true}
	}
	v := adapters.Verdict{Found: versionText(fingerprint)}
	for _, version := range append(found, have) {
		yes, ok := version.Satisfies(want.Version)
		v.OK = v.OK || yes || !ok
	}
	if !v.OK {
		v.Hint = h.hint(Minimum(want.Version))
	}
	return v
}

// CheckTool compares a pin of the build tool itself.
func CheckTool(want adapters.Toolchain, found, hint string) adapters.Verdict {
	have := ParseVersion(found)
	if len(have) == 0 {
		return adapters.Verdict{OK: true}
	}
	yes, ok := have.Satisfies(want.Version)
	v := adapters.Verdict{OK: yes || !ok, Found: found}
	if !v.OK {
		v.Hint = fmt.Sprintf(hint, want.Version)
	}
	return v
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// versionText returns the text in quotes in the first line of a fingerprint.
func versionText(fingerprint string) string {
	_, rest, _ := strings.Cut(firstLine(fingerprint), `"`)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}
