package discovery

import (
	"cmp"
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery/answers"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tree"
)

// maxAsking is the largest number of directories that adapters are asked about at once. It is
// independent of the number of CPUs, since calls of an adapter that takes one call at a time wait.
const maxAsking = 16

// adopt decides about all sites from the top down: the dish above a directory decides which directories
// below it may be dishes. A left-out directory is decided again, with those below it, if a manifest that
// is read later names it.
func (f *finder) adopt(ctx context.Context) {
	f.remember()
	defer f.looking.Go(func() { f.saver = f.answers.Look() })
	for len(f.pending) > 0 && ctx.Err() == nil {
		for len(f.pending) > 0 && ctx.Err() == nil {
			f.decideWave(ctx, f.nextWave())
		}
		f.reopen()
	}
	f.report(ctx)
	f.add(f.faults.Warnings()...)
	f.ws.Failed = f.faults.ByID()
}

// save saves what this invocation has found. The look at the files that the answers depend on has ended:
// later, something else may change them.
func (f *finder) save() {
	f.looking.Wait()
	write := func() {
		f.saver.Store()
		_ = f.Saved.Save() // after an error, the next invocation asks again
	}
	if f.Later == nil {
		write()
	} else {
		f.Later(write)
	}
}

// decideWave decides about sites that are not inside one another.
func (f *finder) decideWave(ctx context.Context, wave []*site) {
	var queue callQueue
	var g errgroup.Group
	g.SetLimit(maxAsking)
	for _, s := range wave {
		if f.quick(s) {
			f.decide(ctx, s, nil)
			continue
		}
		place := queue.Join(f.asks(s))
		g.Go(func() error {
			defer place.LeaveAll()
			f.decide(ctx, s, place)
			return nil
		})
	}
	_ = g.Wait() // the functions return no errors
	for _, s := range wave {
		f.settle(s)
	}
}

// asks returns the adapters to ask about a site. A nil adapter means no language.
func (f *finder) asks(s *site) []adapters.Adapter {
	var asked []adapters.Adapter
	for _, l := range s.languages() {
		asked = append(asked, f.Registry.ByID(l.Text))
	}
	if len(asked) > 0 {
		return asked
	}
	for _, i := range s.ask {
		asked = append(asked, f.Registry.All()[i])
	}
	return asked
}

// remember opens the saved answers of adapters, if at least one adapter is to be asked.
func (f *finder) remember() {
	if f.Basis != nil && slices.ContainsFunc(f.pending, func(s *site) bool { return !f.quick(s) }) {
		f.answers = answers.Open(answers.Options{
			Saved: f.Saved, Tree: f.Tree, Source: snapshot.Options{Clone: f.Clone, Snapshot: f.Snapshot}.Source(),
			Basis: f.Basis(), Adapters: f.Registry.All(), Marks: f.marks,
		})
	}
}

// quick reports whether a site can be decided without asking an adapter.
func (f *finder) quick(s *site) bool {
	if s.barred.Reason != "" {
		return true
	}
	languages := s.languages()
	if len(languages) == 0 {
		return len(s.ask) == 0
	}
	return !slices.ContainsFunc(languages, func(l dish.Text) bool {
		a := f.Registry.ByID(l.Text)
		return a != nil && !f.answers.Knows(a, f.dir(s))
	})
}

// dir returns the absolute path of a site.
func (f *finder) dir(s *site) string { return filepath.Join(f.ws.Root, filepath.FromSlash(s.path)) }

// nextWave returns the sites below no other pending site.
func (f *finder) nextWave() []*site {
	waiting := make(map[string]bool, len(f.pending))
	for _, s := range f.pending {
		waiting[s.path] = true
	}
	var wave, later []*site
	for _, s := range f.pending {
		below := false
		for dir := range above(s.path) {
			below = below || waiting[dir]
		}
		if below {
			later = append(later, s)
			continue
		}
		f.bar(s)
		wave = append(wave, s)
	}
	f.pending = later
	return wave
}

// derivedIn returns the paths that the tools of a dish make.
func (f *finder) derivedIn(d *dish.Dish) *tree.Set {
	set, known := f.derivedOf[d]
	if !known {
		var err error
		if set, err = tree.CompileSet(d.Path, d.Adapter.Manifest().DerivedPaths); err != nil {
			set = new(tree.Set) // manifests are checked, so only an unchecked glob fails
		}
		f.derivedOf[d] = set
	}
	return set
}

// decide finds the adapters of a site, judges the site, and asks the adapters of its dishes everything,
// each plugin in its turn. It runs concurrently with other decisions and changes only s.
func (f *finder) decide(ctx context.Context, s *site, place *queuePlace) {
	if s.decisions == nil {
		s.decisions = f.detected(ctx, s, place)
	}
	if s.config == nil {
		f.judgeAll(ctx, s, place)
	}
	for _, c := range s.decisions {
		f.askAll(ctx, s, c, place)
	}
	s.pick()
}

// judgeAll judges the candidates of a site. Where the workspace of one does not name the directory,
// the other families of its group may have it: a package of pnpm that Deno's workspace leaves out.
func (f *finder) judgeAll(ctx context.Context, s *site, place *queuePlace) {
	for i := 0; i < len(s.decisions); i++ {
		c := s.decisions[i]
		c.verdict = f.judge(ctx, s, c)
		isInstead := func(o *decision) bool { return o.insteadOf == c }
		switch {
		case c.verdict.Reason != adapters.NotAMember:
			s.decisions = slices.DeleteFunc(s.decisions, isInstead)
		case c.insteadOf == nil && !slices.ContainsFunc(s.decisions, isInstead):
			if o := f.instead(ctx, s, c, place); o != nil {
				s.decisions = slices.Insert(s.decisions, i+1, o)
			}
		}
	}
}

// instead returns the candidate of another family of the group of c, or nil.
func (f *finder) instead(ctx context.Context, s *site, c *decision, place *queuePlace) *decision {
	m := c.dish.Adapter.Manifest()
	for _, a := range f.asks(s) {
		other := a.Manifest()
		if other.GroupName() != m.GroupName() || other.FamilyName() == m.FamilyName() {
			continue
		}
		place.Wait(a)
		if yes, err := f.answers.Detect(ctx, a, f.dir(s)); yes && err == nil && !s.has(a) {
			o := f.candidate(s, a)
			o.insteadOf = c
			return o
		}
		place.Leave(a)
	}
	return nil
}

// has reports whether a candidate has the adapter.
func (s *site) has(a adapters.Adapter) bool {
	return slices.ContainsFunc(s.decisions, func(c *decision) bool { return c.dish.Adapter == a })
}

// askAll asks the adapter of a dish everything, once.
func (f *finder) askAll(ctx context.Context, s *site, c *decision, place *queuePlace) {
	d := c.dish
	if !s.mayAdopt(c) || c.answered {
		return
	}
	c.answered = true
	if d.Adapter != nil {
		place.Wait(d.Adapter)
		c.failed = c.ask(ctx, f.ws.Root, f.answers)
		d.Failure = c.failed
	} else if d.Failure == nil && len(c.unsure) > 0 {
		d.Failure = c.unsure[0]
	}
}

// detected returns the dishes that a site may be, with their adapters: one at least, in the order
// of the registry or of dish.toml.
func (f *finder) detected(ctx context.Context, s *site, place *queuePlace) []*decision {
	if languages := s.languages(); len(languages) > 0 {
		var list []*decision
		for _, l := range languages {
			c := f.candidate(s, nil)
			place.Wait(f.Registry.ByID(l.Text))
			c.dish.Adapter, c.problems = f.byLanguage(ctx, l)
			if len(c.problems) > 0 {
				c.dish.Failure = diagnostics.Problems(c.problems)
			}
			list = append(list, c)
		}
		return list
	}
	if s.barred.Reason != "" {
		c := f.candidate(s, f.byName(s))
		c.verdict = s.barred
		return []*decision{c}
	}
	return f.detect(ctx, s, place)
}

// candidate returns a dish that a site may be.
func (f *finder) candidate(s *site, a adapters.Adapter) *decision {
	d := &dish.Dish{Path: s.path, Dir: f.dir(s), Config: s.config, Toolchain: f.Config.Toolchain, Container: f.Config.Defaults.Container, Adapter: a}
	if s.config != nil {
		d.Toolchain = s.config.Toolchain
		d.Container = cmp.Or(s.config.Container, d.Container)
	}
	return &decision{dish: d}
}

// detect asks the adapters in the order of the registry. Of each group it takes the first that detects the
// directory.
func (f *finder) detect(ctx context.Context, s *site, place *queuePlace) []*decision {
	var list []*decision
	var unsure []error
	for _, a := range f.asks(s) {
		if slices.ContainsFunc(list, func(c *decision) bool { return f.takes(s, c.dish.Adapter, a) }) {
			continue
		}
		place.Wait(a)
		yes, err := f.answers.Detect(ctx, a, f.dir(s))
		switch {
		case err != nil && ctx.Err() == nil:
			unsure = append(unsure, err)
		case yes && (len(list) == 0 || f.fingerprinted(&dish.Dish{Path: s.path, Adapter: a})):
			list = append(list, f.candidate(s, a))
		default:
			place.Leave(a)
		}
	}
	if len(list) == 0 {
		list = append(list, f.candidate(s, nil))
	}
	list[0].unsure = unsure
	return list
}

// takes reports whether a directory with the adapter taken is no longer one of other.
func (f *finder) takes(s *site, taken, other adapters.Adapter) bool {
	x, y := taken.Manifest(), other.Manifest()
	return x.GroupName() == y.GroupName() && (x.FamilyName() == y.FamilyName() || !f.locked(s, x) || !f.locked(s, y))
}

// locked reports whether a site has a lockfile of an adapter.
func (f *finder) locked(s *site, m *adapters.Manifest) bool {
	return slices.ContainsFunc(m.Locks, func(name string) bool {
		e, ok := f.Tree.Lookup(path.Join(s.path, name))
		return ok && e.Kind == tree.File
	})
}

// RuleAdapter is the rule of adapter errors without a specific rule.
const RuleAdapter = "adapter_error"

// fail reports the error of an adapter. It reports an error in the user's files at its place, and a
// failing plugin once for all its dishes.
func (f *finder) fail(err error, d *dish.Dish) {
	var failure *adapters.Failure
	var list diagnostics.Problems
	switch {
	case errors.As(err, &list):
		for _, p := range list {
			p.File = f.inWorkspace(p.File)
			f.add(p)
		}
	case errors.As(err, &failure):
		f.faults.Add(failure, d.Path, placeOf(d))
	default:
		f.add(placeOf(d).Error(RuleAdapter, "%v", err))
	}
}

// ask fills the fields of the dish from the adapter or from the saved answers m.
func (c *decision) ask(ctx context.Context, root string, m *answers.Cache) error {
	d := c.dish
	a, err := m.Ask(ctx, d.Adapter, d.Dir)
	c.recipes, c.links = a.Tasks, a.Links
	d.Tasks, d.Notes, d.Aggregate = a.Tasks.Tasks, a.Tasks.Notes, a.Tasks.Aggregate
	d.Scope, d.Lock, d.Open, d.Closed = a.Scope, a.Lock, a.Links.Open, a.Links.Closed
	if len(a.Links.Provides) > 0 {
		name := a.Links.Provides[0]
		d.Package = name[strings.LastIndexByte(name, ':')+1:]
	}
	if len(a.Links.Names) > 0 {
		d.ImportPath = a.Links.Names[0]
	}
	var bad error
	if d.Pin, bad = pinOf(d, root, a.Pin, a.PinError); bad != nil {
		return bad
	}
	return err
}
