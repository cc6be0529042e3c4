package key

import (
	"context"
	"runtime"
	"slices"
	"strings"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/plan"
)

// key makes the key of t, or returns the dependencies that must run first.
func (e *Evaluator) key(ctx context.Context, t *plan.Task, ev *Evaluation) (pending []string, err error) {
	if err := t.Fault(); err != nil {
		return nil, err
	}
	if pending = e.pending(t); len(pending) > 0 {
		return pending, nil
	}
	ev.FindsInputs = Files{e}.FindsInputs(t)
	b := e.builders.New()
	if err := e.describe(b, t); err != nil {
		return nil, err
	}
	if err := e.addHost(b, ev); err != nil {
		return nil, err
	}
	if err := e.addToolchain(ctx, b, t, ev); err != nil {
		return nil, err
	}
	if err := e.addInputs(b, ev); err != nil {
		return nil, err
	}
	if err := e.addSources(b, t, ev); err != nil {
		return nil, err
	}
	e.addDeps(b, t)
	if err := e.addDiscovered(b, ev); err != nil {
		return nil, err
	}
	ev.Key, ev.Known, ev.ingredients = b.Key(), true, b.list
	e.noteKey(ev)
	return nil, nil
}

// describe adds the ingredients that need no I/O.
func (e *Evaluator) describe(b *builder, t *plan.Task) error {
	if t.Container == nil {
		b.Text("platform", runtime.GOOS+"/"+runtime.GOARCH)
	} else {
		b.Text("platform", "linux/"+runtime.GOARCH)
	}
	b.Text("dish", t.Dish.Path)
	b.Text("task", t.Name)
	b.Text("command", t.Run)
	b.List("argv", t.Argv)
	b.List("arguments", t.Args)
	b.Text("cwd", t.Cwd)
	b.List("path", t.Path)
	outputs := make([]string, 0, 8) // few have more
	for _, o := range t.Outputs {
		outputs = append(outputs, o.Glob)
	}
	slices.Sort(outputs)
	b.List("outputs", outputs)
	if t.ObservedOutputs {
		b.Text("observed outputs", "true")
	}
	container, err := e.containerOf(t)
	if err != nil {
		return err
	}
	b.Text("container", container)
	if t.Tool != nil {
		if err := addTool(b, t.Tool); err != nil {
			return err
		}
	}
	addEnvFiles(b, t)
	e.addEnv(b, t)
	return nil
}

// addEnvFiles adds the order of the .env files, of which a later one goes before an earlier one. Their
// content is among the inputs.
func addEnvFiles(b *builder, t *plan.Task) {
	if len(t.EnvFiles) == 0 {
		return
	}
	list := make([]string, len(t.EnvFiles))
	for i, file := range t.EnvFiles {
		if list[i] = file.Path; file.Optional {
			list[i] += " (optional)"
		}
	}
	b.List("env files", list)
}

// addTool adds the ingredients of the call of a tool, besides the files of the task: the tool, its
// function, its input and its terms.
func addTool(b *builder, use *plan.ToolUse) error {
	is, err := use.Identity()
	if err != nil {
		return diagnostics.Problems{use.Unusable("the tool %s cannot be used: %v", use.ID, err)}
	}
	b.Text(toolPrefix+use.ID, is.Digest)
	b.Text("tool function", use.Function)
	b.Text("tool input", use.Input)
	for _, term := range is.Terms {
		if term.Secret {
			b.Env(term.Name, term.Value, !term.Unset)
			continue
		}
		b.Text("tool "+term.Name, term.Value)
	}
	return nil
}

func (e *Evaluator) addEnv(b *builder, t *plan.Task) {
	if e.o.Inherit {
		b.Text("environment", "inherit")
	}
	names := make([]string, 0, len(t.SetEnv))
	for name := range t.SetEnv {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.Env("set "+name, t.SetEnv[name], true)
	}
	for _, name := range t.HashEnv {
		if strings.HasSuffix(name, "*") {
			e.addEnvLike(b, t, name)
			continue
		}
		value, set := e.o.Environ.Lookup(name)
		b.Env(name, value, set)
	}
}

// addEnvLike adds the variables that a pattern PREFIX_* matches, without those that another element names.
func (e *Evaluator) addEnvLike(b *builder, t *plan.Task, pattern string) {
	for _, kv := range e.o.Environ.Below(strings.TrimSuffix(pattern, "*")) {
		name, value, _ := strings.Cut(kv, "=")
		named := func(other string) bool {
			return other == name || other < pattern && strings.HasSuffix(other, "*") && strings.HasPrefix(name, other[:len(other)-1])
		}
		if !slices.ContainsFunc(t.HashEnv, named) {
			b.Env(name, value, true)
		}
	}
}

func (e *Evaluator) addToolchain(ctx context.Context, b *builder, t *plan.Task, ev *Evaluation) error {
	a := t.Dish.Adapter
	if a == nil || t.Tool != nil { // a tool does not run in the toolchain of the dish
		b.Text("adapter", "")
		return nil
	}
	m := a.Manifest()
	b.Text("adapter", m.AdapterID)
	b.Text("adapter identity", m.Identity)
	if options := t.Dish.Options(); options != "" {
		b.Text("adapter options", options)
	}
	for _, p := range PinsOf(e.o.Root, t.Dish) {
		b.Text("required toolchain", p.Tool+" "+p.Version)
	}
	if t.Container != nil && !t.AwaitsInstall() { // its image has the tools
		return nil
	}
	found, err := e.o.Toolchains.Fingerprint(ctx, a, t.Dish.Dir)
	if err != nil {
		return err
	}
	if t.Container != nil { // the tools of this machine make the packages that it uses
		b.Text("installed by", runtime.GOOS+"/"+runtime.GOARCH+" "+found)
		return nil
	}
	ev.Toolchain = found
	b.Text("toolchain", found)
	return nil
}

func (e *Evaluator) addInputs(b *builder, ev *Evaluation) error {
	if ev.FindsInputs {
		return e.addNames(b, ev)
	}
	if k := e.rememberedInputs(ev.Task); k != nil && !ev.loaded {
		ev.inputsDigest, ev.locks = k.Digest, k.Locks
	} else if err := e.loadInputs(ev); err != nil {
		return err
	}
	for _, l := range ev.locks {
		b.Lock(l.Path, l.Digest)
	}
	b.Files(inputsName, ev.inputsDigest)
	return nil
}

func (e *Evaluator) addDeps(b *builder, t *plan.Task) {
	deps, byID := t.Deps, func(x, y plan.Dep) int { return strings.Compare(x.Task.ID(), y.Task.ID()) }
	if !slices.IsSortedFunc(deps, byID) {
		deps = slices.SortedFunc(slices.Values(deps), byID)
	}
	for _, d := range deps {
		on := e.last(d.Task)
		switch {
		case d.Via == plan.ViaOutputs && on.made != (cache.Digest{}):
			b.Output(d.Task.ID(), e.outputsAfter(on))
		case d.Via != plan.ViaNothing: // a task without outputs has no digest of them
			b.Task(d.Task.ID(), on.Key)
		}
	}
}

// pending returns the ids of the dependencies whose results the key of t needs and that are
// not up to date yet.
func (e *Evaluator) pending(t *plan.Task) []string {
	var list []string
	for _, d := range t.Deps {
		on := e.last(d.Task)
		keyed := on != nil && on.Known
		if d.Via == plan.ViaKey && !keyed || e.needsOutputs(t, d) {
			list = append(list, d.Task.ID())
		}
	}
	return list
}

// needsOutputs reports whether the key of t needs the outputs of a dependency that must run first.
func (e *Evaluator) needsOutputs(t *plan.Task, d plan.Dep) bool {
	on := e.last(d.Task)
	return d.Via == plan.ViaOutputs && (on == nil || !on.isMade) ||
		e.reach(t).Reads(e.reach(d.Task), d.Inner) && !e.isUpToDate(d.Task)
}

func (e *Evaluator) reach(t *plan.Task) *reach {
	n := e.facts(t)
	if n.reach == nil {
		n.reach = newReach(t)
	}
	return n.reach
}

// load reads the files that the key of ev was made from, and reports whether they have the digests that
// are in the key.
func (e *Evaluator) load(ev *Evaluation) (same bool) {
	digest, names, locks, sources := ev.inputsDigest, ev.names, ev.locks, ev.sources
	same = e.loadInputs(ev) == nil && slices.Equal(ev.locks, locks)
	if ev.FindsInputs {
		same = same && slices.Equal(ev.names, names)
	} else {
		same = same && ev.inputsDigest == digest
	}
	ev.sources = nil
	for i, d := range ev.Task.Sources {
		s := e.sourcesOf(d, true)
		same = same && s.err == nil && s.digest == sources[i].digest
		ev.sources = append(ev.sources, s)
	}
	return same
}

// loadAll is load for an evaluation that may be loaded. If a digest differs, it makes the key again.
func (e *Evaluator) loadAll(ctx context.Context, ev *Evaluation) error {
	if ev.loaded || e.load(ev) {
		return nil
	}
	ev.loaded, ev.sources = true, nil
	_, err := e.key(ctx, ev.Task, ev)
	return err
}

// loadInputs reads the inputs of ev, and remembers them.
func (e *Evaluator) loadInputs(ev *Evaluation) error {
	t := ev.Task
	entries, err := e.inputsOf(t)
	if err != nil {
		return err
	}
	entries, ev.Lock, ev.locks = e.lockfiles.Take(t.Dish, t, entries)
	ev.loaded, ev.Entries, ev.Dirs = true, entries, e.tree.DirsOf(entries)
	ev.Targets, _ = LinkTargets(e.tree, entries)
	if ev.Inputs, err = e.files.Set(entries); err != nil {
		return err
	}
	ev.inputsDigest = ev.Inputs.Digest()
	if e.keepInputs(ev); ev.FindsInputs {
		return e.nameInputs(ev, entries)
	}
	return nil
}
