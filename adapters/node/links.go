package node

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/node/tsconfig"
)

// Links implements adapters.Linker: dependencies by path, and in a workspace all
// dependencies by name, since any of them may be a member.
func (a *Adapter) Links(ctx context.Context, dir string) (adapters.LinksAnswer, error) {
	f := a.Files(dir)
	p, err := a.Open(f)
	if err != nil {
		return adapters.LinksAnswer{}, err
	}
	ans := adapters.LinksAnswer{Links: tsconfig.Read(f).Links, Open: p.Open}
	if p.Space != nil && p.Name != "" {
		ans.Provides = []string{packageID(p, p.Name)}
	}
	instead := overrides(p)
	seen := make(map[string]bool)
	for _, d := range p.Dependencies {
		if spec, ok := instead[d.Name]; ok {
			d.Value = spec
		}
		l, ok := link(p, d)
		l.Shared = p.Aggregate() != nil && d.Group != packagejson.Peer
		if id := l.Dir + "\x00" + l.Package; ok && !seen[id] {
			seen[id] = true
			ans.Links = append(ans.Links, l)
		}
	}
	ans.Reads = f.Reads()
	return ans, nil
}

// packageID returns the name of a member within its workspace.
func packageID(p *project.Project, name string) string { return "npm:" + p.Scope() + ":" + name }

// overrides returns the packages that the root of the workspace replaces by directories,
// with absolute paths.
func overrides(p *project.Project) map[string]string {
	instead := make(map[string]string)
	put := func(name, spec string) {
		if target := fileTarget(p.Scope(), spec); target != "" {
			instead[name] = "link:" + target
		}
	}
	if root := p.Root(); root != nil {
		for _, o := range root.Overrides {
			put(o.Name, o.Value)
		}
	}
	if p.Space != nil && p.Space.PNPM != nil {
		for name, spec := range p.Space.PNPM.Overrides {
			put(name, spec)
		}
	}
	return instead
}

func link(p *project.Project, d packagejson.Dependency) (adapters.Link, bool) {
	l := adapters.Link{File: p.Path, Line: d.Line, Dev: d.Group == packagejson.Dev}
	if target := fileTarget(p.Dir, d.Value); target != "" {
		l.Dir = target
		return l, !isArchive(target) && target != p.Dir
	}
	if p.Space == nil {
		return l, false
	}
	name, dir := member(p, d.Name, d.Value)
	if dir != "" {
		l.Dir = dir
		return l, dir != p.Dir
	}
	if name == "" || name == p.Name {
		return l, false
	}
	l.Package = packageID(p, name)
	return l, true
}

// member returns the name, or else the directory, of the member that a dependency can name;
// neither when it cannot be a member, as with a URL.
func member(p *project.Project, name, spec string) (pkg, dir string) {
	rest, declared := strings.CutPrefix(spec, "workspace:")
	switch {
	case strings.HasPrefix(spec, "catalog:"):
		return name, ""
	case !declared && strings.ContainsAny(spec, ":/"):
		return "", ""
	case !declared:
		return name, ""
	case strings.HasPrefix(rest, "."):
		return "", resolve(p.Dir, rest)
	}
	if at := strings.LastIndexByte(rest, '@'); at > 0 {
		return rest[:at], "" // "workspace:other@*"
	}
	if strings.Contains(rest, "/") {
		return "", resolve(p.Scope(), rest) // as yarn writes it
	}
	return name, ""
}

// fileTarget returns the path that a dependency names, or ""
// (https://docs.npmjs.com/cli/configuring-npm/package-json#local-paths).
func fileTarget(dir, spec string) string {
	for _, scheme := range []string{"file:", "link:", "portal:"} {
		if rest, ok := strings.CutPrefix(spec, scheme); ok {
			rest, _, _ = strings.Cut(strings.TrimPrefix(rest, "//"), "::") // yarn appends the dependent
			return resolve(dir, rest)
		}
	}
	if spec == "." || spec == ".." || strings.HasPrefix(spec, "./") || strings.HasPrefix(spec, "../") || filepath.IsAbs(spec) {
		return resolve(dir, spec)
	}
	return ""
}

func isArchive(path string) bool {
	return strings.HasSuffix(path, ".tgz") || strings.HasSuffix(path, ".tar.gz") || strings.HasSuffix(path, ".tar")
}

func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}
