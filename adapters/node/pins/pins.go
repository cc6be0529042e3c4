// Package pins reads which versions of its tools a project requires.
package pins

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/node/settings"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// Reader reads the pins of projects of one manager.
type Reader struct {
	Shelf    *project.Shelf
	Manager  project.Manager
	Download bool // tools may fetch the required version
}

// Of returns all versions that a project requires: of bun if it is the manager, of Node.js,
// and of the manager. The nearest .nvmrc, .node-version and .tool-versions come first, then
// volta, engines and devEngines of the package and of its workspace, then the version of
// its @types/node.
func (r *Reader) Of(f *snapshot.Files, p *project.Project) ([]adapters.Toolchain, error) {
	pins := list(r.download(p))
	for _, find := range []func(*snapshot.Files, *project.Project) ([]adapters.Toolchain, error){r.bunPins, r.nodePins, r.managerPins} {
		found, err := find(f, p)
		if err != nil {
			return nil, err
		}
		pins = append(pins, found...)
	}
	return pins, nil
}

// bunPins reads the files of bun.
func (r *Reader) bunPins(f *snapshot.Files, _ *project.Project) ([]adapters.Toolchain, error) {
	if r.Manager != project.Bun {
		return nil, nil
	}
	if pin, err := filePin(f, string(project.Bun), ".bun-version"); pin != nil || err != nil {
		return list(pin), err
	}
	pin, err := f.ToolVersions(string(project.Bun), string(project.Bun))
	pin, err = checked(pin, ".tool-versions", err)
	return list(pin), err
}

func list(pin *adapters.Toolchain) []adapters.Toolchain {
	if pin == nil {
		return nil
	}
	return []adapters.Toolchain{*pin}
}

// nodePins returns the version of Node.js that wins, and those that the manager itself
// enforces.
func (r *Reader) nodePins(f *snapshot.Files, p *project.Project) ([]adapters.Toolchain, error) {
	pins, err := r.chain(f)
	if err != nil {
		return nil, err
	}
	for _, m := range p.Manifests() {
		for _, pin := range r.manifestPins(f, p, m) {
			if len(pins) > 0 && !pin.Strict {
				continue
			}
			if _, err := checked(&pin, m.Path, nil); err != nil {
				return nil, err
			}
			pins = append(pins, pin)
		}
	}
	if types := typesPin(p.Manifest); types != nil && len(pins) == 0 {
		pins = append(pins, *types)
	}
	return pins, nil
}

// chain reads the files of version managers.
func (r *Reader) chain(f *snapshot.Files) ([]adapters.Toolchain, error) {
	for _, name := range []string{".nvmrc", ".node-version"} {
		if pin, err := filePin(f, "node", name); pin != nil || err != nil {
			return list(pin), err
		}
	}
	pin, err := f.ToolVersions("node", "nodejs", "node")
	pin, err = checked(pin, ".tool-versions", err)
	return list(pin), err
}

// filePin reads a file of one version. A name of the newest version is no pin.
func filePin(f *snapshot.Files, tool, name string) (*adapters.Toolchain, error) {
	pin, err := f.VersionFile(tool, name)
	if pin == nil || err != nil {
		return nil, err
	}
	version, pins := alias(pin.Version)
	if !pins {
		return nil, nil
	}
	pin.Version = version
	return checked(pin, name, nil)
}

// checked refuses a pin that is not a range, so that bento reports it before anything runs.
func checked(pin *adapters.Toolchain, name string, err error) (*adapters.Toolchain, error) {
	if pin == nil || err != nil {
		return nil, err
	}
	if _, err := ParseRange(pin.Version); err != nil {
		return nil, pin.Malformed(name, err, `write a version or a range, such as "20", "20.11.1", ">=18 <21" or "lts/iron"`)
	}
	return pin, nil
}

// manifestPins reads the versions of Node.js in a manifest. "*" is no pin.
func (r *Reader) manifestPins(f *snapshot.Files, p *project.Project, m *packagejson.Manifest) []adapters.Toolchain {
	entries := []jsonfile.Entry{m.VoltaPin("node"), m.Engine("node")}
	strict := []bool{false, r.refusesEngines(f, p)}
	for _, e := range m.DevEngines {
		if e.Kind == "runtime" && e.Name == "node" && (r.Manager != project.PNPM || r.Download || e.OnFail != "download") {
			entries = append(entries, e.Entry)
			strict = append(strict, r.Manager == project.NPM && e.OnFail == "error")
		}
	}
	var pins []adapters.Toolchain
	for i, e := range entries {
		if version := strings.TrimSpace(e.Value); version != "" && version != "*" && version != "x" {
			pins = append(pins, adapters.Toolchain{Tool: "node", Version: version, File: m.Path, Line: e.Line, Strict: strict[i]})
		}
	}
	return pins
}

// refusesEngines reports whether the manager stops where "engines" are not met.
func (r *Reader) refusesEngines(f *snapshot.Files, p *project.Project) bool {
	switch r.Manager {
	case project.NPM, project.PNPM:
		if p.Space != nil && p.Space.PNPM != nil && p.Space.PNPM.EngineStrict {
			return true
		}
		return slices.ContainsFunc([]string{p.Dir, p.Scope()}, func(dir string) bool {
			return settings.ReadNPM(f, dir).EngineStrict
		})
	case project.Yarn:
		gen, _ := r.Shelf.Generation(f, p.Scope())
		return gen == project.Classic
	}
	return false
}

// typesPin returns the major version of @types/node.
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

// managerPins returns the version of the manager: that of packageManager, else of volta,
// devEngines and engines, else the generation of a yarn.lock.
func (r *Reader) managerPins(f *snapshot.Files, p *project.Project) ([]adapters.Toolchain, error) {
	tool := string(r.Manager)
	for _, m := range p.Manifests() {
		var candidates []adapters.Toolchain
		add := func(e jsonfile.Entry, version string, strict bool) {
			if version = strings.TrimSpace(version); version != "" && version != "*" {
				candidates = append(candidates, adapters.Toolchain{Tool: tool, Version: version, File: m.Path, Line: e.Line, Strict: strict})
			}
		}
		if name, version := m.Manager(); name == tool && !strings.Contains(version, "/") {
			add(m.PackageManager, version, false) // a URL is no version
		}
		add(m.VoltaPin(tool), m.VoltaPin(tool).Value, false)
		for _, e := range m.DevEngines {
			if e.Kind == "packageManager" && e.Name == tool {
				add(e.Entry, e.Value, r.Manager == project.NPM && e.OnFail == "error")
			}
		}
		add(m.Engine(tool), m.Engine(tool).Value, false)
		if len(candidates) > 0 {
			pin, err := checked(&candidates[0], m.Path, nil)
			return list(pin), err
		}
	}
	return r.lockfilePin(f, p), nil
}

// lockfilePin distinguishes yarn 1 from its successor of the same name. Each refuses the lockfile
// of the other.
func (r *Reader) lockfilePin(f *snapshot.Files, p *project.Project) []adapters.Toolchain {
	lock := filepath.Join(p.Scope(), "yarn.lock")
	if r.Manager != project.Yarn || !f.IsFile(lock) {
		return nil
	}
	pin := adapters.Toolchain{Tool: "yarn", File: lock, Line: 1, Strict: true}
	switch gen, _ := r.Shelf.Generation(f, p.Scope()); gen {
	case project.Classic:
		pin.Version = "^1"
	case project.Berry:
		pin.Version = ">=2"
	default:
		return nil
	}
	return []adapters.Toolchain{pin}
}

// download returns the version that settings make pnpm fetch, nil if they name none or if it may.
func (r *Reader) download(p *project.Project) *adapters.Toolchain {
	if r.Manager != project.PNPM || r.Download {
		return nil
	}
	for _, m := range p.Manifests() {
		for _, e := range m.DevEngines {
			if e.Kind == "runtime" && e.OnFail == "download" {
				return &adapters.Toolchain{Tool: e.Name, Version: e.Value, File: m.Path, Line: e.Line, Refused: "devEngines.runtime: pnpm would download it"}
			}
		}
	}
	if p.Space != nil && p.Space.PNPM != nil && p.Space.PNPM.UseNode != "" {
		file := filepath.Join(p.Scope(), settings.PNPMFile)
		return &adapters.Toolchain{Tool: "node", Version: p.Space.PNPM.UseNode, File: file, Line: p.Space.PNPM.UseNodeLine, Refused: "useNodeVersion: pnpm would download it"}
	}
	return nil
}
