package plan

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree/glob"
)

// Included notes that the sources of a dish include files of another dish by their path.
type Included struct {
	From  *dish.Dish
	Via   string // "outputs": a task of From makes them; else they are its sources
	Where string // "file:line", relative to the root
}

const viaOutputs = "outputs"

// Included returns the files of other dishes that the sources of d include, by dish.
func (p *Plan) Included(d *dish.Dish) []Included { return p.included[d] }

// RuleIgnoredEmbed is the rule of the warning that a source includes a file that git ignores and no
// task makes.
const RuleIgnoredEmbed = "embed_ignored"

// takeIn makes the tasks of each dish depend on the tasks that make the files that its sources
// include or that dish.toml names as inputs. Included files that no task makes and that are no
// default inputs become inputs.
func (b *builder) takeIn() {
	var makers *makers
	var edges []innerEdge
	for _, d := range b.ws.Dishes {
		for i := range d.Embeds {
			if makers == nil {
				makers = newMakers(b.tasks)
				makers.own = ownFiles(b.ws)
			}
			edges = append(edges, b.take(d, &d.Embeds[i], makers)...)
		}
	}
	own, others := b.importEdges()
	edges = slices.Concat(edges, b.namedEdges(), others)
	b.dependOnMakers(slices.Concat(edges, b.carry(edges), b.generatedEdges(), own))
}

// dependOnMakers makes tasks depend on the outputs of the tasks that make files for them, except where
// that would close a cycle.
func (b *builder) dependOnMakers(edges []innerEdge) {
	for _, e := range b.acyclic(edges) {
		via := ViaOutputs
		if e.task.independent() {
			via = ViaNothing
		}
		e.task.depend(e.build, via)
	}
}

// take handles one embed of d, and returns the edges from tasks of d to the tasks that make the
// embedded files.
func (b *builder) take(d *dish.Dish, e *dish.Embed, makers *makers) (edges []innerEdge) {
	set, err := glob.Compile("", embedGlobs(e))
	if err != nil {
		return nil // the tool refuses it too
	}
	if own := makers.ownFiles(e.Path, set); len(own) > 0 {
		b.addOnDisk(d, own)
	}
	wholly, some := false, false
	for _, m := range makers.of(e.Path, set) {
		wholly, some = wholly || m.whole, true
		if m.task.Dish == d {
			if !e.Named { // the source needs them
				edges = append(edges, b.ownEdges(m.task)...)
			}
			continue
		}
		b.took(d, Included{m.task.Dish, viaOutputs, e.Pos.String()})
		for _, t := range b.byDish[d] {
			if t.takesIn() {
				edges = append(edges, innerEdge{t, m.task})
			}
		}
	}
	if wholly || e.Owner == d && !e.Ignored || e.Named && e.Ignored {
		return edges
	}
	b.addEmbed(d, e)
	if e.Ignored && !some {
		b.warnIgnored(d, e)
	}
	return edges
}

// ownEdges returns the edges from the other tasks of a dish to one of them, which makes a file that a
// source of the dish names.
func (b *builder) ownEdges(maker *Task) (edges []innerEdge) {
	for _, t := range b.byDish[maker.Dish] {
		if t != maker && t.takesIn() {
			edges = append(edges, innerEdge{t, maker})
		}
	}
	return edges
}

// takesIn reports whether t compiles the sources of its dish.
func (t *Task) takesIn() bool { return t.Lifecycle || t.DefaultInputs && t.Uncached == "" }

// addEmbed makes embedded files that no task makes inputs.
func (b *builder) addEmbed(d *dish.Dish, e *dish.Embed) {
	if e.Owner != nil && e.Owner != d {
		b.took(d, Included{From: e.Owner, Where: e.Pos.String()})
	}
	if e.Ignored {
		b.addOnDisk(d, embedGlobs(e))
		return
	}
	globs := embedGlobs(e)
	b.embedded[d] = append(b.embedded[d], globs...)
	for _, t := range b.byDish[d] {
		if t.takesIn() {
			t.Inputs = append(t.Inputs, globs...)
		}
	}
}

// addOnDisk makes files inputs that no other glob selects.
func (b *builder) addOnDisk(d *dish.Dish, globs []string) {
	for _, t := range b.byDish[d] {
		if t.takesIn() {
			t.OnDisk = append(t.OnDisk, globs...)
		}
	}
}

// warnIgnored warns, at the first line that embeds them, of files that git ignores and no task makes.
func (b *builder) warnIgnored(d *dish.Dish, e *dish.Embed) {
	first := func(o dish.Embed) bool { return o.Path == e.Path && o.Glob == e.Glob }
	if &d.Embeds[slices.IndexFunc(d.Embeds, first)] == e {
		where := at(e.Pos)
		where.Dish, where.Alike = d.Name, "take in files that git ignores and no task makes: their content is an input"
		b.problem(diagnostics.Warning, where, RuleIgnoredEmbed,
			fmt.Sprintf("it takes in %q, where git ignores files that no task makes: their content is an input", path.Join(e.Path, e.Glob)),
			"declare it as an output of the task that makes it, or let git track it")
	}
}

func (b *builder) took(d *dish.Dish, t Included) {
	same := func(old Included) bool { return old.From == t.From && old.Via == t.Via }
	if !slices.ContainsFunc(b.included[d], same) { // the first line is enough
		b.included[d] = append(b.included[d], t)
	}
}

// embedGlobs returns the globs of an embed, relative to the root. A directory that one matches is an
// input with all files below it.
func embedGlobs(e *dish.Embed) []string {
	if e.Glob == "" {
		return []string{"//" + Escape(e.Path)}
	}
	at := "//" + Escape(e.Path) + "/" + e.Glob
	if e.Path == "." {
		at = "//" + e.Glob
	}
	return []string{at, at + "/**"}
}

// makers finds the tasks that make a path.
type makers struct {
	list []maker  // by prefix
	own  []string // see ownFiles
}

// ownFiles returns the paths of the files of bento of a workspace. Their values are in the keys, so
// no other glob selects them; but a program that embeds one contains its text.
func ownFiles(ws *dish.Workspace) []string {
	list := []string{"bento.toml", "bento.plugins.lock"}
	for _, bento := range ws.Bentos {
		list = append(list, bento.Pos.File)
	}
	for _, d := range ws.Dishes {
		if d.Config != nil {
			list = append(list, path.Join(d.Path, "dish.toml"))
		}
	}
	return list
}

// ownFiles returns the globs of the files of bento that an embed at a path includes.
func (m *makers) ownFiles(at string, embed *glob.Set) (globs []string) {
	for _, own := range m.own {
		if contains(at, own) && embed.Match(own) {
			globs = append(globs, "//"+Escape(own))
		}
	}
	return globs
}

// maker is one output of a task. Its files are at prefix or below it.
type maker struct {
	prefix string
	task   *Task
	output string
	pos    diagnostics.Pos
	whole  bool // all files of the embed are outputs
}

func newMakers(tasks []*Task) *makers {
	m := &makers{}
	for _, t := range tasks {
		if t.Persistent || t.Interactive {
			continue
		}
		for _, o := range t.Outputs {
			if !strings.HasPrefix(o.Glob, "!") && (!t.script || o.Declared) {
				m.list = append(m.list, maker{prefix: dish.Prefix(t.Dish.Path, o.Glob), task: t, output: o.Glob})
			}
		}
	}
	slices.SortStableFunc(m.list, func(x, y maker) int { return strings.Compare(treeKey(x.prefix), treeKey(y.prefix)) })
	return m
}

// of returns the outputs that may be, or contain, files of an embed at a path.
func (m *makers) of(at string, embed *glob.Set) (list []maker) {
	from, _ := slices.BinarySearchFunc(m.list, treeKey(at), func(x maker, key string) int { return strings.Compare(treeKey(x.prefix), key) })
	for _, x := range m.list[from:] {
		if !contains(at, x.prefix) {
			break
		}
		list = append(list, x)
	}
	for dir := at; dir != "."; {
		dir = path.Dir(dir)
		i, _ := slices.BinarySearchFunc(m.list, treeKey(dir), func(x maker, key string) int { return strings.Compare(treeKey(x.prefix), key) })
		for ; i < len(m.list) && m.list[i].prefix == dir; i++ {
			list = append(list, m.list[i])
		}
	}
	found := list[:0]
	for _, x := range list {
		outputs, err := glob.Compile(x.task.Dish.Path, []string{x.output})
		if err == nil && outputs.Overlaps(embed) {
			x.whole = outputs.Match(at) || outputs.Match(at+"/x")
			found = append(found, x)
		}
	}
	return found
}
