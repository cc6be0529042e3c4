package discovery

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree"
)

// judge decides whether the project that an adapter detected in a directory without dish.toml is a dish.
// No other function decides that. Without an adapter it is not a dish, whatever judge returns.
func (f *finder) judge(ctx context.Context, s *site, c *decision) adapters.NestedAnswer {
	d := c.dish
	switch {
	case s.barred.Reason != "":
		return s.barred
	case f.included(s.path), f.named[project{d.Family(), d.Path}]:
		return adapters.NestedAnswer{}
	}
	if name := testDataName(s.path); name != "" {
		return adapters.NestedAnswer{Reason: dish.TestData, Why: "it is test data, in " + name + "/, and no manifest names it"}
	}
	outer := f.outer(d)
	if outer == nil && c.insteadOf != nil {
		outer = f.outer(c.insteadOf.dish)
	}
	if d.Adapter == nil || outer == nil {
		return adapters.NestedAnswer{}
	}
	answer, err := f.answers.Nested(ctx, d.Adapter, d.Dir, outer.Dir, f.fingerprinted(d))
	if err != nil {
		return adapters.NestedAnswer{} // the other answers about it report the error
	}
	return answer
}

// outer returns the nearest dish of the same family around d, or nil.
func (f *finder) outer(d *dish.Dish) *dish.Dish {
	for dir := range above(d.Path) {
		for _, outer := range f.ws.ByPath[dir] {
			if outer.Family() == d.Family() {
				return outer
			}
		}
	}
	return nil
}

// fingerprinted reports whether a directory has one of the fingerprint files of its adapter.
func (f *finder) fingerprinted(d *dish.Dish) bool {
	if _, decides := d.Adapter.(adapters.Nester); decides {
		return true
	}
	set, err := tree.CompileSet(d.Path, d.Adapter.Manifest().FingerprintFiles)
	if err != nil {
		return false // manifests are checked, so only an unchecked glob fails
	}
	list, err := f.Tree.Select(set)
	return err == nil && len(list) > 0
}

// bar leaves out a site without dish.toml before any adapter is asked about it: a site that exclude
// matches, or one that the tools of a dish above it make.
func (f *finder) bar(s *site) {
	switch {
	case s.config != nil || s.barred.Reason != "" || f.included(s.path):
	case f.derived(s):
		s.barred = adapters.NestedAnswer{Reason: dish.Derived, Why: "the tools of the dish around it make it, and git does not track it"}
	}
}

// derived reports whether the tools of a dish above make the directory (node_modules, where git
// does not ignore it).
func (f *finder) derived(s *site) bool {
	if len(s.markers) == 0 {
		return false
	}
	for dir := range above(s.path) {
		for _, d := range f.ws.ByPath[dir] {
			if d.Adapter != nil && f.derivedIn(d).Match(s.markers[0]) && !f.Tree.Tracked(s.markers[0]) {
				return true
			}
		}
	}
	return false
}

// madeByTask reports whether tasks have made all files that make the directory a site. A clone does not have
// them, and whether a dish exists does not depend on what has run.
func (f *finder) madeByTask(s *site) bool {
	if f.Made == nil || s.hasFile || f.included(s.path) {
		return false
	}
	if f.madeFiles == nil {
		names := make(map[string]bool)
		for _, s := range f.all {
			for _, m := range s.markers {
				names[path.Base(m)] = true
			}
		}
		f.madeFiles = f.Made(names)
	}
	return len(f.madeFiles) > 0 && len(s.markers) > 0 && !slices.ContainsFunc(s.markers, func(m string) bool { return !f.madeFiles[m] || f.Tree.Tracked(m) })
}

// TestDataNames returns the patterns of names of directories for test data.
func TestDataNames() []string {
	return []string{
		"testdata", "test-data", "fixtures", "__fixtures__", "fixture", "node_modules", "vendor", "third_party",
		"template", "templates", "template-*", "archetype-resources", "*{{*",
	}
}

// testDataName returns the directory of test data that a path is or is inside, "" for none.
func testDataName(dir string) string {
	end := 0
	for name := range strings.SplitSeq(dir, "/") {
		end += len(name)
		if isTestData(name) {
			return dir[:end]
		}
		end++
	}
	return ""
}

func isTestData(name string) bool {
	name = strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, "template-"), strings.Contains(name, "{{"):
		return true
	}
	return slices.Contains(TestDataNames(), name)
}

// settle adds the decisions about a site to f.
func (f *finder) settle(s *site) {
	delete(f.ws.ByPath, s.path)
	for _, c := range s.decisions {
		if s.adopts(c) {
			f.ws.ByPath[s.path] = append(f.ws.ByPath[s.path], c.dish)
			f.decided[c.dish] = c
		}
		switch {
		case s.mayAdopt(c):
			f.name(c)
		case c.dish.Adapter != nil && s.barred.Reason == "":
			f.left[project{c.dish.Family(), s.path}] = s
		}
	}
}

// project identifies a directory by the family of its adapter.
type project struct{ family, path string }

// name notes the projects that the manifest of a dish names, as members or dependencies.
func (f *finder) name(c *decision) {
	if c.named {
		return
	}
	c.named = true
	d := c.dish
	// The members of a workspace that is test data itself are test data too. A dependency counts: the dish reads it.
	isData := testDataName(d.Path) != "" && d.Config == nil && !f.included(d.Path)
	for _, dir := range c.recipes.Members {
		if !isData {
			f.nameDir(d, dir)
		}
		if rel, ok := f.ws.Relative(dir); ok {
			d.Members = append(d.Members, f.linked(rel))
		}
	}
	for _, l := range c.links.Links {
		if l.Dir != "" && !l.Loose {
			f.nameDir(d, l.Dir)
		}
	}
}

func (f *finder) nameDir(d *dish.Dish, dir string) {
	rel, ok := f.ws.Relative(dir)
	if !ok {
		return
	}
	p := project{d.Family(), f.linked(rel)}
	f.named[p] = true
	if s := f.left[p]; s != nil {
		delete(f.left, p)
		f.again = append(f.again, s)
	}
}

// linked returns the path that a path leads to when one of its directories is a link. Dishes are
// found at paths without links.
func (f *finder) linked(rel string) string {
	if f.Clone == nil {
		return rel
	}
	for dir := range dish.Upwards(rel) {
		if e, ok := f.Tree.Lookup(dir); ok && e.Kind == tree.Link {
			if real, err := f.Clone.Resolve(rel); err == nil {
				return path.Clean(real)
			}
			return rel
		}
	}
	return rel
}

// reopen makes the sites pending that a manifest names that was read after they were decided, with
// all sites below them.
func (f *finder) reopen() {
	seen := make(map[*site]bool)
	for _, named := range f.again {
		for _, s := range f.below(named.path) {
			if !seen[s] {
				seen[s] = true
				delete(f.ws.ByPath, s.path)
				f.pending = append(f.pending, s)
			}
		}
	}
	f.again = nil
}

// below returns the sites of a directory and of those in it.
func (f *finder) below(dir string) []*site {
	from, _ := slices.BinarySearchFunc(f.all, dir, func(s *site, dir string) int { return byPlace(s.path, dir) })
	to := from
	for to < len(f.all) && (dir == "." || f.all[to].path == dir || strings.HasPrefix(f.all[to].path, dir+"/")) {
		to++
	}
	return f.all[from:to]
}

// byPlace orders paths so that a directory and those in it follow one another.
func byPlace(a, b string) int {
	if a == "." || b == "." {
		return strings.Compare(strings.TrimPrefix(a, "."), strings.TrimPrefix(b, "."))
	}
	for i := range min(len(a), len(b)) {
		switch x, y := a[i], b[i]; {
		case x == y:
		case x == '/':
			return -1
		case y == '/':
			return 1
		default:
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
}

// report adds the problems of all decisions, and the directories that were left out.
func (f *finder) report(ctx context.Context) {
	for _, s := range f.all {
		for _, c := range s.decisions { // none when cancelled
			if s.adopts(c) || c.verdict.Reason == "" && !c.passed {
				f.reportDecision(ctx, c)
			}
			if !s.adopts(c) && (c.passed || c.verdict.Reason != "" || len(c.unsure) == 0) {
				f.leaveOut(s, c)
			}
		}
	}
	f.checkIncludes()
	slices.SortFunc(f.ws.LeftOut, func(a, b dish.LeftOut) int { return strings.Compare(a.Path, b.Path) })
}

func (f *finder) reportDecision(ctx context.Context, d *decision) {
	f.add(d.problems...)
	for _, err := range d.unsure {
		f.fail(err, d.dish)
	}
	if d.failed != nil && ctx.Err() == nil {
		f.fail(d.failed, d.dish)
	}
	if list := d.warned(false); len(list) > 0 {
		f.fail(list, d.dish)
	}
}

// RuleInclude is the rule of an include that adopts nothing.
const RuleInclude = "unmatched_include"

// checkIncludes warns of each glob of [workspace] include that matches no dish.
func (f *finder) checkIncludes() {
	for _, g := range f.Config.Include {
		if strings.HasPrefix(g.Text, "!") || !doublestar.ValidatePattern(g.Text) {
			continue
		}
		if !slices.ContainsFunc(f.all, func(s *site) bool { return s.adopted() && matchesDir(g.Text, s.path) }) {
			f.add(g.Pos.Warning(RuleInclude, "include %q matches no directory with a project that an adapter recognises", g.Text).
				WithHint("name the directory of a manifest that git does not ignore, or give the directory a " + dish.File))
		}
	}
}

// leaveOut lists a candidate that is not a dish, if it has a manifest.
func (f *finder) leaveOut(s *site, c *decision) {
	verdict, a := c.verdict, c.dish.Adapter
	if c.passed {
		verdict = adapters.NestedAnswer{Reason: adapters.NoTask, Why: "it offers no lifecycle task, and another language of the directory does"}
	}
	if a == nil {
		a = f.byName(s)
	}
	if c.insteadOf != nil || a == nil && !s.hasFile {
		return // named by that, or a file that other tools have too, such as .tool-versions
	}
	out := dish.LeftOut{Path: s.path, Reason: verdict.Reason, Why: strings.ReplaceAll(verdict.Why, f.ws.Root+"/", "")}
	if a != nil {
		out.Adapter = a.Manifest().AdapterID
	}
	if out.Reason == "" {
		out.Reason, out.Why = adapters.NoProject, "its manifest describes nothing to build"
	}
	f.ws.LeftOut = append(f.ws.LeftOut, out)
}

// byName returns the adapter whose manifest is in a site, by names alone. In the first family it takes the
// last adapter, which accepts the directories that the others do not claim. It returns nil if the site has
// no manifest.
func (f *finder) byName(s *site) adapters.Adapter {
	var found adapters.Adapter
	for _, i := range s.projects {
		a := f.Registry.All()[i]
		if found == nil || a.Manifest().FamilyName() == found.Manifest().FamilyName() {
			found = a
		}
	}
	return found
}
