package deno

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/deno/denojson"
	"github.com/bentobuild/bento/adapters/deno/imports"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// Links implements adapters.Linker: imports of the sources by paths that lead out of the
// project or by names of members, directories outside in an import map, and the links of
// the root.
func (a *Adapter) Links(ctx context.Context, dir string) (adapters.LinksAnswer, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.LinksAnswer{}, err
	}
	ans := adapters.LinksAnswer{}
	for _, name := range []string{p.Name, packageName(f)} {
		if name != "" {
			ans.Provides = append(ans.Provides, packageID(p, name))
		}
	}
	if ans.Links, err = a.links(f, dir); err != nil {
		return adapters.LinksAnswer{}, err
	}
	ans.Reads = f.Reads()
	return ans, nil
}

// packageName returns the name in the package.json beside, by which the members of a workspace import it
// too; "" for none. A malformed file has none: Tasks reports it.
func packageName(f *snapshot.Files) string {
	path := f.Path("package.json")
	data, err := f.ReadIfExists(path)
	if data == nil || err != nil {
		return ""
	}
	root, err := jsonfile.Parse(path, data)
	if err != nil {
		return ""
	}
	return root.Get("name").Text()
}

// packageID returns the name of a member within its workspace.
func packageID(p *project, name string) string { return "deno:" + p.scope() + ":" + name }

// links reads the project itself: the remembered answer must note its manifests, also when
// only they change.
func (a *Adapter) links(f *snapshot.Files, dir string) ([]adapters.Link, error) {
	return a.imported.Get(f, filepath.Clean(dir), func(f *snapshot.Files) ([]adapters.Link, error) {
		p, err := a.open(f)
		if err != nil {
			return nil, err
		}
		l := &linker{project: p, files: f, byTarget: make(map[string]int), testsUsed: slices.ContainsFunc(p.Exported, imports.IsTest)}
		if l.maps, err = importMaps(f, p); err != nil {
			return nil, err
		}
		for _, at := range p.Imports {
			l.follow(place{file: p.Path, line: at.Line}, at.Value, p.dir)
		}
		for _, at := range append(p.Links, p.root.Links...) {
			l.addDir(place{file: p.root.Path, line: at.Line}, filepath.Join(p.scope(), filepath.FromSlash(at.Value)))
		}
		modules := imports.In(f, isDerived)
		for _, file := range modules.Files {
			for _, i := range imports.Of(f, file) {
				l.module(i)
			}
		}
		if p.Workspace != nil && p.Exports {
			// Settings of the root apply to the members too.
			for _, dir := range a.membersOf(f, p.Config) {
				l.addDir(place{file: p.Path, deep: true}, dir)
			}
		}
		return l.all(), nil
	})
}

// importMap is one import map, with the directory that its paths are relative to.
type importMap struct {
	dir     string
	entries []jsonfile.Entry
}

// importMaps returns the import maps of a project, its own first.
func importMaps(f *snapshot.Files, p *project) ([]importMap, error) {
	var maps []importMap
	for _, c := range []*denojson.Config{p.Config, p.root} {
		maps = append(maps, importMap{filepath.Dir(c.Path), c.Imports})
		if c.ImportMap == "" {
			continue
		}
		data, err := f.ReadIfExists(c.ImportMap)
		if err != nil || data == nil {
			continue // Deno reports it
		}
		entries, err := denojson.ParseImportMap(c.ImportMap, data)
		if err != nil {
			return nil, err
		}
		maps = append(maps, importMap{filepath.Dir(c.ImportMap), entries})
	}
	return maps, nil
}

// linker collects links, one for each target.
type linker struct {
	*project
	files    *snapshot.Files
	maps     []importMap
	links    []adapters.Link
	byTarget map[string]int
	// testsUsed reports whether other modules than tests import a test of the project.
	testsUsed bool
}

// all returns the links. Those of tests are private unless others use the tests.
func (l *linker) all() []adapters.Link {
	for i := range l.links {
		l.links[i].Private = l.links[i].Dev && !l.testsUsed
	}
	return l.links
}

// place is the position of an import.
type place struct {
	file string
	line int
	test bool
	deep bool // it uses the tests of the target
}

func (l *linker) module(i imports.Import) {
	at := place{file: i.File, line: i.Line, test: i.Test}
	if isPath(i.Specifier) {
		l.follow(at, i.Specifier, filepath.Dir(i.File))
		return
	}
	for _, m := range l.maps {
		for _, e := range m.entries {
			rest, ok := strings.CutPrefix(i.Specifier, e.Name)
			if ok && (rest == "" || strings.HasSuffix(e.Name, "/")) {
				l.follow(at, e.Value+rest, m.dir)
				return
			}
		}
	}
	l.follow(at, i.Specifier, "")
}

func isPath(specifier string) bool {
	return strings.HasPrefix(specifier, "./") || strings.HasPrefix(specifier, "../") || strings.HasPrefix(specifier, "/") || strings.HasPrefix(specifier, "file:")
}

// follow adds the target of a specifier in dir.
func (l *linker) follow(at place, specifier, dir string) {
	switch {
	case strings.HasPrefix(specifier, "./"), strings.HasPrefix(specifier, "../"):
		l.addFile(at, filepath.Join(dir, filepath.FromSlash(specifier)))
	case strings.HasPrefix(specifier, "/"):
		// Text in a module, such as a template or a test of a server, may name paths of web sites.
		if l.files.IsFile(filepath.Clean(specifier)) {
			l.addFile(at, filepath.Clean(specifier))
		}
	case strings.HasPrefix(specifier, "file://"):
		l.addFile(at, filepath.Clean(strings.TrimPrefix(specifier, "file://")))
	default:
		l.addPackage(at, specifier)
	}
}

// addPackage adds a package that may be a member: one with a name of JSR or of a package.json.
func (l *linker) addPackage(at place, specifier string) {
	name := strings.TrimPrefix(strings.TrimPrefix(specifier, "jsr:"), "/")
	scope := ""
	if strings.HasPrefix(name, "@") {
		var ok bool
		if scope, name, ok = strings.Cut(name, "/"); !ok {
			return
		}
		scope += "/"
	}
	if end := strings.IndexAny(name, "@/"); end >= 0 {
		name = name[:end]
	}
	if strings.Contains(name, ":") { // a URL, or a module of Node.js
		return
	}
	if id := scope + name; name != "" && id != l.Name {
		l.add(at, adapters.Link{Package: packageID(l.project, id)})
	}
}

// addFile adds the directory of a file outside of the project.
func (l *linker) addFile(at place, file string) {
	tests := imports.IsTest(file)
	if !adapters.Within(l.dir, file) {
		at.deep = tests
		l.addDir(at, filepath.Dir(file))
	} else if tests && !at.test {
		l.testsUsed = true
	}
}

func (l *linker) addDir(at place, dir string) {
	if dir != l.dir {
		l.add(at, adapters.Link{Dir: dir, Loose: true})
	}
}

// add adds a link. A link that is also used outside of tests is not a development link.
func (l *linker) add(at place, link adapters.Link) {
	target := link.Dir + "\x00" + link.Package
	i, known := l.byTarget[target]
	if link.Deep = at.deep || known && l.links[i].Deep; known {
		l.links[i].Deep = link.Deep
	}
	if known && (at.test || !l.links[i].Dev) {
		return
	}
	link.File, link.Line, link.Dev = at.file, at.line, at.test
	if known {
		l.links[i] = link
		return
	}
	l.byTarget[target] = len(l.links)
	l.links = append(l.links, link)
}
