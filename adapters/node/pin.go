package node

import (
	"bufio"
	"bytes"
	"context"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/diagnostics"
)

// RulePin is the rule of the diagnostic of a pin that nobody can read.
const RulePin = "invalid_pin"

// RequiredToolchain gives the version of Node.js that the project pins, else that
// of npm. The nearest .nvmrc, .node-version and .tool-versions come first, then
// volta and engines of the package and of its workspace, then the types that it
// is checked against.
func (a *Adapter) RequiredToolchain(ctx context.Context, dir string) (*adapters.Toolchain, error) {
	f := adapters.NewFiles(dir)
	p, err := a.open(f)
	if err != nil {
		return nil, err
	}
	return a.pin(f, p)
}

func (a *Adapter) pin(f *adapters.Files, p *project) (*adapters.Toolchain, error) {
	for _, name := range []string{".nvmrc", ".node-version"} {
		if pin, err := filePin(f, name); pin != nil || err != nil {
			return pin, err
		}
	}
	pin, err := f.ToolVersions("node", "nodejs", "node")
	if pin != nil || err != nil {
		return checked(pin, ".tool-versions", err)
	}
	manifests := []*packagejson.Manifest{p.Manifest}
	if p.isMember() {
		manifests = append(manifests, p.root)
	}
	for _, m := range manifests {
		if pin, err := manifestPin(m); pin != nil || err != nil {
			return a.strict(f, p, m, pin), err
		}
	}
	if pin := typesPin(p.Manifest); pin != nil {
		return pin, nil
	}
	return npmPin(manifests)
}

// filePin reads a file of one version. A name that stands for whatever is newest
// pins nothing.
func filePin(f *adapters.Files, name string) (*adapters.Toolchain, error) {
	path, ok := f.Up(name)
	if !ok {
		return nil, nil
	}
	data, err := f.Read(path)
	if err != nil {
		return nil, err
	}
	text, line := firstLine(data)
	version, pins := alias(text)
	if !pins {
		return nil, nil
	}
	return checked(&adapters.Toolchain{Tool: "node", Version: version, File: path, Line: line}, name, nil)
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

// checked refuses a pin that is no range, so that it is told before anything runs.
func checked(pin *adapters.Toolchain, name string, err error) (*adapters.Toolchain, error) {
	if pin == nil || err != nil {
		return nil, err
	}
	if _, err := parseRange(pin.Version); err != nil {
		return nil, diagnostics.Problems{{
			File: pin.File, Line: pin.Line,
			Severity: diagnostics.Error,
			Message:  name + ": " + err.Error(),
			Rule:     RulePin,
			Source:   diagnostics.Source,
			Hint:     `write a version or a range, such as "20", "20.11.1", ">=18 <21" or "lts/iron"`,
		}}
	}
	return pin, nil
}

// manifestPin reads volta.node, then engines.node. Any version at all is no pin.
func manifestPin(m *packagejson.Manifest) (*adapters.Toolchain, error) {
	for _, c := range []struct {
		name  string
		entry packagejson.Entry
	}{{"volta.node", m.VoltaPin("node")}, {"engines.node", m.Engine("node")}} {
		version := strings.TrimSpace(c.entry.Value)
		if version == "" || version == "*" || version == "x" {
			continue
		}
		pin := &adapters.Toolchain{Tool: "node", Version: version, File: m.Path, Line: c.entry.Line}
		return checked(pin, c.name, nil)
	}
	return nil, nil
}

// strict marks a pin of "engines" that npm itself enforces.
func (a *Adapter) strict(f *adapters.Files, p *project, m *packagejson.Manifest, pin *adapters.Toolchain) *adapters.Toolchain {
	if pin == nil || pin.Line != m.Engine("node").Line {
		return pin
	}
	for _, dir := range []string{p.dir, p.scope()} {
		if data, err := f.ReadIfExists(dir + "/.npmrc"); err == nil && enginesAreStrict(data) {
			pin.Strict = true
		}
	}
	return pin
}

func enginesAreStrict(npmrc []byte) bool {
	for line := range strings.Lines(string(npmrc)) {
		name, value, _ := strings.Cut(line, "=")
		if strings.TrimSpace(name) == "engine-strict" {
			return strings.TrimSpace(value) == "true"
		}
	}
	return false
}

// typesPin takes the major version that @types/node describes.
func typesPin(m *packagejson.Manifest) *adapters.Toolchain {
	var types packagejson.Dependency
	for _, d := range m.Dependencies {
		if d.Name == "@types/node" && (d.Group == packagejson.Prod || d.Group == packagejson.Dev) {
			types = d
		}
	}
	major := strings.TrimLeft(types.Value, "^~>=<v ")
	end := strings.IndexFunc(major, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		major = major[:end]
	}
	if major == "" || len(major) > 4 {
		return nil
	}
	return &adapters.Toolchain{Tool: "node", Version: "^" + major, File: m.Path, Line: types.Line}
}

// npmPin takes the npm of packageManager, else of engines.
func npmPin(manifests []*packagejson.Manifest) (*adapters.Toolchain, error) {
	for _, m := range manifests {
		if name, version := m.Manager(); name == string(npm) && version != "" {
			pin := &adapters.Toolchain{Tool: "npm", Version: version, File: m.Path, Line: m.PackageManager.Line}
			return checked(pin, "packageManager", nil)
		}
		if v := strings.TrimSpace(m.Engine("npm").Value); v != "" && v != "*" {
			pin := &adapters.Toolchain{Tool: "npm", Version: v, File: m.Path, Line: m.Engine("npm").Line}
			return checked(pin, "engines.npm", nil)
		}
	}
	return nil, nil
}
