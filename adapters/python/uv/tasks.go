package uv

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/devtool"
	"github.com/bentobuild/bento/adapters/python/environment"
	"github.com/bentobuild/bento/adapters/python/lockfile"
	"github.com/bentobuild/bento/adapters/python/pyproject"
	"github.com/bentobuild/bento/adapters/python/requirements"
	"github.com/bentobuild/bento/adapters/python/uvworkspace"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// Tasks implements adapters.TaskLister: build for a package, test if pytest is declared, lint if ruff or flake8 is,
// and check if mypy is. A tool may be declared in the project or in the root of its workspace.
func (a *Adapter) Tasks(ctx context.Context, dir string) (adapters.TasksAnswer, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.TasksAnswer{}, err
	}
	// The Reads of the answer must cover RequiredToolchain too.
	p.pin(f)
	ans := adapters.TasksAnswer{Aggregate: !p.own.HasProject && uvworkspace.IsWorkspace(p.own), Wraps: p.own.Wraps()}
	if p.dir == p.Dir {
		ans.Members = uvworkspace.MemberDirs(f, p.own)
	}
	ans.Tasks = p.tasks(f)
	if a.isolatesBuilds(f, p) {
		for i := range ans.Tasks {
			ans.Tasks[i].NoInstall = strings.HasPrefix(ans.Tasks[i].Run, "uv build ")
			ans.Tasks[i].Fetches = ans.Tasks[i].NoInstall // what builds the package
		}
	}
	if !ans.Aggregate {
		ans.Warnings = a.scripts.Untested(ans.Tasks, func() snapshot.Untested { return p.member().Tools.Untested(f) })
	}
	f.Whole(filepath.Join(p.Dir, lockName))
	ans.Reads = f.Reads()
	return ans, nil
}

func (p *project) tasks(f *snapshot.Files) []adapters.Task {
	m, bin, inside := p.member(), p.fromRoot(environment.Bin), ""
	if p.dir == p.Dir {
		inside = environment.Dir
	}
	covers := func(name string) bool {
		has := func(list []requirements.Requirement) bool {
			return slices.ContainsFunc(list, func(r requirements.Requirement) bool { return r.Name == name })
		}
		for _, g := range slices.Concat(m.Project.Groups, p.Root.Project.Groups) {
			if g.Name == "dev" && has(g.Requirements) {
				return true
			}
		}
		return has(m.Dependencies)
	}
	var recipes []adapters.Task
	if p.own.HasProject || !uvworkspace.IsWorkspace(p.own) {
		recipes = slices.Concat(p.build(), m.Tools.Recipes(bin, inside))
	}
	tasks := devtool.WithRunners(p.own, bin, covers, recipes)
	configs := devtool.ConfigsAbove(f)
	for i := range tasks {
		t := &tasks[i]
		t.Path = []string{bin}
		t.Env = map[string]string{"VIRTUAL_ENV": p.fromRoot(environment.Dir)}
		if p.dir != p.Dir {
			t.ExtraInputs = []string{filepath.Join(p.Dir, "pyproject.toml"), filepath.Join(p.Dir, lockName)}
		}
		if t.Name != "build" {
			t.ExtraInputs = append(t.ExtraInputs, configs...)
		}
		slices.Sort(t.ExtraInputs)
		t.ExtraInputs = slices.Compact(t.ExtraInputs)
	}
	return tasks
}

// isolatesBuilds reports whether "uv build" makes an environment of its own, as it does unless a
// setting says otherwise.
func (a *Adapter) isolatesBuilds(f *snapshot.Files, p *project) bool {
	const setting = "no-build-isolation" // or no-build-isolation-package
	paths := []string{filepath.Join(p.Dir, "pyproject.toml"), filepath.Join(p.dir, "pyproject.toml"), filepath.Join(a.config(), settings)}
	if path, ok := f.Up(settings); ok {
		paths = append(paths, path)
	}
	return a.env.Get("UV_NO_BUILD_ISOLATION") == "" && !slices.ContainsFunc(paths, func(path string) bool {
		data, err := f.Beyond().ReadIfExists(path)
		return err != nil || bytes.Contains(data, []byte(setting))
	})
}

func (p *project) build() []adapters.Task {
	if !uvworkspace.IsPackage(p.own) {
		return nil
	}
	// By default uv writes to the root of the workspace.
	t := adapters.Task{Name: "build", Run: "uv build --out-dir dist", Outputs: []string{"dist/**"}, SkipsPrivate: true}
	if p.own.UsesSetuptools() {
		t.Outputs = append(t.Outputs, pyproject.SetuptoolsOutputs()...)
	}
	return []adapters.Task{t}
}

// Links implements adapters.Linker: the members of the workspace and the directories that
// the project depends on. Requirements of only an extra or a group are development
// dependencies.
func (a *Adapter) Links(ctx context.Context, dir string) (adapters.LinksAnswer, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.LinksAnswer{}, err
	}
	ans := adapters.LinksAnswer{}
	if p.own.HasProject {
		ans.Provides = []string{p.provided(p.own.Name)}
		ans.Links = append(p.links(), p.own.Links()...)
	} else if uvworkspace.IsWorkspace(p.own) {
		ans.Links = p.links() // the groups of a root without a package
	}
	ans.Reads = f.Reads()
	return ans, nil
}

// provided returns the name of a member for others of its workspace.
func (p *project) provided(name string) string { return "uv:" + p.Dir + ":" + name }

func (p *project) links() []adapters.Link {
	l := &linker{project: p, seen: make(map[string]bool)}
	l.add(p.own.Dependencies, adapters.Link{})
	for _, e := range p.own.Extras {
		l.add(e.Requirements, adapters.Link{Dev: true}) // another project may ask for an extra
	}
	for _, g := range p.own.Groups {
		if !g.Poetry {
			// The members use the environment of the root.
			l.add(g.Requirements, adapters.Link{Dev: true, Private: true, Shared: uvworkspace.IsWorkspace(p.own)})
		}
	}
	return l.links
}

// linker collects links, each once.
type linker struct {
	project *project
	seen    map[string]bool
	links   []adapters.Link
}

// add adds links to the directories among requirements, of a kind.
func (l *linker) add(list []requirements.Requirement, link adapters.Link) {
	for _, r := range list {
		link.Dir, link.Package, link.File, link.Line = "", "", r.File, r.Line
		switch path, sibling := l.project.sourceOf(r.Name); {
		case r.Path != "":
			link.Dir = r.Path
		case sibling:
			link.Package = l.project.provided(r.Name)
		default:
			link.Dir = path
		}
		archive := requirements.Requirement{Path: link.Dir}.IsArchive()
		if id := link.Dir + link.Package; id != "" && !archive && link.Dir != l.project.dir && !l.seen[id] {
			l.seen[id] = true
			l.links = append(l.links, link)
		}
	}
}

// sourceOf returns where uv takes a package from, "" for an index. The project's setting
// wins over that of the root of its workspace.
func (p *project) sourceOf(name string) (path string, sibling bool) {
	for _, from := range []struct{ paths, siblings []requirements.Requirement }{
		{p.own.Sources, p.own.Siblings}, {p.Root.Sources, p.Root.Siblings},
	} {
		for _, r := range from.paths {
			if r.Name == name {
				return r.Path, false
			}
		}
		for _, r := range from.siblings {
			if r.Name == name {
				return "", true
			}
		}
	}
	return "", false
}

// LockDigest implements adapters.LockDigester: the part of uv.lock that the project
// resolves to. A project outside of a workspace depends on all of it.
func (a *Adapter) LockDigest(ctx context.Context, dir string) (adapters.LockAnswer, error) {
	f := a.Files(dir)
	p, err := a.open(f)
	if err != nil {
		return adapters.LockAnswer{}, err
	}
	path := filepath.Join(p.Dir, lockName)
	if !f.IsFile(path) {
		return adapters.LockAnswer{Reads: f.Reads()}, nil
	}
	ans := adapters.LockAnswer{File: path}
	if !uvworkspace.IsWorkspace(p.Root.Project) {
		ans.Reads = f.Reads()
		return ans, nil
	}
	lock, err := a.locks.Get(f, path, func(f *snapshot.Files) (*lockfile.UV, error) {
		data, err := f.Read(path)
		if err != nil {
			return nil, err
		}
		return lockfile.ParseUV(path, data)
	})
	ans.Reads = f.Reads()
	if err != nil {
		ans.Whole = lockfile.Whole(err)
		return ans, nil
	}
	rel, err := filepath.Rel(p.Dir, dir)
	if err != nil {
		return ans, err
	}
	var ok bool
	if ans.Digest, ok = lock.Digest(filepath.ToSlash(rel), p.member().FromRoot); !ok && p.own.HasProject {
		ans.Digest, ans.Whole = "", "uv.lock does not list "+p.own.Name
	}
	return ans, nil
}
