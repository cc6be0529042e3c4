package node

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/adapters/node/tsconfig"
)

// Links gives the dependencies that may be other projects: those by path, and in
// a workspace all by name, since a member may have any.
func (a *Adapter) Links(ctx context.Context, dir string) (adapters.LinksAnswer, error) {
	f := adapters.NewFiles(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.LinksAnswer{}, err
	}
	ans := adapters.LinksAnswer{Links: tsconfig.Read(f).Links}
	inWorkspace := p.isMember() || len(p.Workspaces) > 0
	if inWorkspace && p.Name != "" {
		ans.Provides = []string{p.packageID(p.Name)}
	}
	seen := make(map[string]bool)
	for _, d := range p.Dependencies {
		l, ok := p.link(d, inWorkspace)
		if id := l.Dir + "\x00" + l.Package; ok && !seen[id] {
			seen[id] = true
			ans.Links = append(ans.Links, l)
		}
	}
	ans.Reads = f.Reads()
	return ans, nil
}

// packageID is the name under which the members of one workspace know each other.
func (p *project) packageID(name string) string { return "npm:" + p.scope() + ":" + name }

func (p *project) link(d packagejson.Dependency, inWorkspace bool) (adapters.Link, bool) {
	l := adapters.Link{File: p.Path, Line: d.Line, Dev: d.Group == packagejson.Dev}
	switch target := fileTarget(p.dir, d.Value); {
	case target != "":
		l.Dir = target
		return l, !isArchive(target) && target != p.dir
	case inWorkspace && d.Name != p.Name && isRange(d.Value):
		l.Package = p.packageID(d.Name)
		return l, true
	}
	return l, false
}

// fileTarget gives the path that a dependency names, "" when it names none
// (https://docs.npmjs.com/cli/configuring-npm/package-json#local-paths).
func fileTarget(dir, spec string) string {
	for _, scheme := range []string{"file:", "link:"} {
		if rest, ok := strings.CutPrefix(spec, scheme); ok {
			return resolve(dir, strings.TrimPrefix(rest, "//"))
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

// isRange tells of a specifier that a member can satisfy: a range or a tag, not
// an address or another package's name.
func isRange(spec string) bool {
	return !strings.ContainsAny(spec, ":/") || strings.HasPrefix(spec, "workspace:")
}

func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}
