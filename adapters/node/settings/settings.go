// Package settings reads the settings of package managers that bento needs: .npmrc,
// .yarnrc.yml and pnpm-workspace.yaml.
package settings

import (
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/yamldoc"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// The files.
const (
	NPMFile  = ".npmrc"
	YarnFile = ".yarnrc.yml"
	PNPMFile = "pnpm-workspace.yaml"
)

// NPM is a .npmrc.
type NPM struct {
	EngineStrict bool
	// InstallLinks reports whether npm copies packages that are named by their directories.
	InstallLinks bool
	// Inject reports whether pnpm copies members into the node_modules of others.
	Inject bool
}

// ReadNPM reads the .npmrc in dir.
func ReadNPM(f *snapshot.Files, dir string) (n NPM) {
	data, err := f.ReadIfExists(filepath.Join(dir, NPMFile))
	if err != nil {
		return n
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, "=")
		is := strings.TrimSpace(value) == "true"
		switch strings.TrimSpace(name) {
		case "engine-strict":
			n.EngineStrict = is
		case "install-links":
			n.InstallLinks = is
		case "inject-workspace-packages":
			n.Inject = is
		}
	}
	return n
}

// Yarn is a .yarnrc.yml.
type Yarn struct {
	Linker string // "pnp" by default
	Path   string // of the project's own yarn, absolute; or ""
}

// ReadYarn reads the .yarnrc.yml in dir. The error is a diagnostics.Problems.
func ReadYarn(f *snapshot.Files, dir string) (Yarn, error) {
	y := Yarn{Linker: "pnp"}
	doc, err := read(f, filepath.Join(dir, YarnFile))
	if err != nil || doc == nil {
		return y, err
	}
	if linker := doc.Get("nodeLinker").Text(); linker != "" {
		y.Linker = linker
	}
	if path := doc.Get("yarnPath").Text(); path != "" {
		y.Path = filepath.Join(dir, filepath.FromSlash(path))
	}
	return y, nil
}

// PNPM is a pnpm-workspace.yaml.
type PNPM struct {
	Packages  []string          // globs of the members, nil when missing
	Overrides map[string]string // replacements of packages
	// EngineStrict makes pnpm enforce "engines".
	EngineStrict bool
	// Inject makes pnpm copy members into the node_modules of others.
	Inject bool
	// UseNode is the version of Node.js that pnpm would fetch for scripts.
	UseNode     string
	UseNodeLine int
}

// ReadPNPM reads the pnpm-workspace.yaml in dir and returns nil when it is missing. The
// error is a diagnostics.Problems.
func ReadPNPM(f *snapshot.Files, dir string) (*PNPM, error) {
	path := filepath.Join(dir, PNPMFile)
	if !f.IsFile(path) {
		return nil, nil
	}
	doc, err := read(f, path)
	if err != nil {
		return nil, err
	}
	p := &PNPM{
		UseNode: doc.Get("useNodeVersion").Text(), UseNodeLine: doc.Get("useNodeVersion").Line(),
		EngineStrict: doc.Get("engineStrict").Text() == "true",
		Inject:       doc.Get("injectWorkspacePackages").Text() == "true",
	}
	packages := doc.Get("packages")
	if k := packages.Kind(); k == jsonfile.Object || k == jsonfile.String {
		return nil, wrong(path, packages.Line(), `"packages" is not a list of globs`)
	}
	for _, item := range packages.Items() {
		if item.Kind() != jsonfile.String {
			return nil, wrong(path, item.Line(), `"packages" is not a list of globs`)
		}
		p.Packages = append(p.Packages, item.Text())
	}
	if err := diagnostics.Bounded(path, packages.Line(), "globs of packages", len(p.Packages), adapters.MaxMembers); err != nil {
		return nil, err
	}
	for _, o := range doc.Get("overrides").Members() {
		if p.Overrides == nil {
			p.Overrides = make(map[string]string)
		}
		p.Overrides[o.Name] = o.Value.Text()
	}
	return p, nil
}

// read returns the first document of a file, nil when the file is missing.
func read(f *snapshot.Files, path string) (*jsonfile.Value, error) {
	data, err := f.ReadIfExists(path)
	if err != nil || data == nil {
		return nil, err
	}
	docs, err := yamldoc.Parse(path, data)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	if k := docs[0].Kind(); k != jsonfile.Object && k != jsonfile.Null {
		return nil, wrong(path, docs[0].Line(), "expected keys with values")
	}
	return docs[0], nil
}

func wrong(path string, line int, message string) error {
	return diagnostics.Problems{diagnostics.Pos{File: path, Line: line}.Error(yamldoc.RuleSyntax, "%s", message)}
}
