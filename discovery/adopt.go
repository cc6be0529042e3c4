package discovery

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/discovery/answers"
	"github.com/bentobuild/bento/internal/tree"
)

// maxAsking is the largest number of directories that adapters are asked about at once. It is
// independent of the number of CPUs, since calls of an adapter that takes one call at a time wait.
const maxAsking = 16

// adopt decides about all sites from the top down: the dish above a directory decides which
// directories below it may be dishes. A directory that was left out is decided again, with those
// below it, when a manifest turns out to name it.
func (f *finder) adopt(ctx context.Context) {
	f.remember()
	defer func() { f.answers.Save() }()
	for len(f.pending) > 0 && ctx.Err() == nil {
		for len(f.pending) > 0 && ctx.Err() == nil {
			f.decideWave(ctx, f.nextWave())
		}
		f.reopen()
	}
	f.report(ctx)
	f.add(f.faults.Warnings()...)
}

// decideWave decides about sites of which none lies below another.
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

// asks returns the adapters to ask about a site. nil stands for no language.
func (f *finder) asks(s *site) []adapters.Adapter {
	if s.config != nil && s.config.Language.Text != "" {
		return []adapters.Adapter{f.Registry.ByID(s.config.Language.Text)}
	}
	asked := make([]adapters.Adapter, len(s.ask))
	for n, i := range s.ask {
		asked[n] = f.Registry.All()[i]
	}
	return asked
}

// remember opens the saved answers of adapters, if at least one adapter is to be asked.
func (f *finder) remember() {
	if f.Basis != nil && slices.ContainsFunc(f.pending, func(s *site) bool { return !f.quick(s) }) {
		f.answers = answers.Open(answers.Options{
			State: f.State, Tree: f.Tree, Clone: f.Clone, Basis: f.Basis(), Adapters: f.Registry.All(), Marks: f.marks,
		})
	}
}

// quick reports whether a site can be decided without asking an adapter.
func (f *finder) quick(s *site) bool {
	if s.barred.Reason != "" {
		return true
	}
	if s.config == nil || s.config.Language.Text == "" {
		return len(s.ask) == 0
	}
	a := f.Registry.ByID(s.config.Language.Text)
	return a == nil || f.answers.Knows(a, f.dir(s))
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
func (f *finder) derivedIn(d *Dish) *tree.Set {
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

// decision is the result of asking adapters about one site, once, and of judging the answers.
type decision struct {
	dish     *Dish
	verdict  adapters.NestedAnswer // of judge
	answered bool                  // the adapter of the dish was asked everything
	problems []diagnostics.Diagnostic
	unsure   []error // from adapters that failed to detect
	failed   error   // from its adapter
}

// adopted reports whether the site is a dish.
func (s *site) adopted() bool {
	d := s.decision
	return d != nil && (s.config != nil || d.dish.Adapter != nil && d.verdict.Reason == "")
}

// decide finds the adapter of a site, judges, and asks the adapter of a dish everything, each
// plugin in its turn. It runs concurrently with other decisions and changes only s.
func (f *finder) decide(ctx context.Context, s *site, place *queuePlace) {
	if s.decision == nil {
		s.decision = f.detected(ctx, s, place)
	}
	out := s.decision
	d := out.dish
	if s.config == nil {
		out.verdict = f.judge(ctx, s, d)
	}
	if !s.adopted() || out.answered {
		return
	}
	out.answered = true
	if d.Adapter != nil {
		place.Wait(d.Adapter)
		out.failed = d.ask(ctx, f.ws.Root, f.answers)
		if out.failed == nil && d.Aggregate && len(d.Tasks) == 0 && len(d.SeenAlso) > 0 {
			f.giveWay(ctx, d)
		}
		d.Failure = out.failed
	} else if d.Failure == nil && len(out.unsure) > 0 {
		d.Failure = out.unsure[0]
	}
}

// detected returns the dish that a site may be, with its adapter.
func (f *finder) detected(ctx context.Context, s *site, place *queuePlace) *decision {
	d := &Dish{Path: s.path, Dir: f.dir(s), Config: s.config, Toolchain: f.Config.Toolchain}
	out := &decision{dish: d}
	switch {
	case s.config != nil && s.config.Language.Text != "":
		d.Toolchain = s.config.Toolchain
		place.Wait(f.Registry.ByID(s.config.Language.Text))
		d.Adapter, out.problems = f.byLanguage(ctx, s.config.Language)
		if len(out.problems) > 0 {
			d.Failure = diagnostics.Problems(out.problems)
		}
		return out
	case s.config != nil:
		d.Toolchain = s.config.Toolchain
	case s.barred.Reason != "":
		d.Adapter, out.verdict = f.byName(s), s.barred
		return out
	}
	f.detect(ctx, s, out, place)
	return out
}

// giveWay hands a directory to the next adapter that detected it and has tasks there, when the
// first found only the root of a workspace without tasks (go.work beside package.json).
func (f *finder) giveWay(ctx context.Context, d *Dish) {
	other := *d
	other.Adapter = f.Registry.ByID(d.SeenAlso[0])
	if other.ask(ctx, f.ws.Root, f.answers) == nil && len(other.Tasks) > 0 {
		other.SeenAlso = append([]string{d.Adapter.Manifest().AdapterID}, d.SeenAlso[1:]...)
		*d = other
	}
}

// detect asks the adapters in the order of the registry. The first that detects the directory
// counts; later ones of another family are only listed.
func (f *finder) detect(ctx context.Context, s *site, out *decision, place *queuePlace) {
	for _, a := range f.asks(s) {
		if a.Manifest().FamilyName() == out.dish.family() {
			continue
		}
		place.Wait(a)
		yes, err := f.answers.Detect(ctx, a, out.dish.Dir)
		switch {
		case err != nil && ctx.Err() == nil:
			out.unsure = append(out.unsure, err)
		case yes && out.dish.Adapter == nil:
			out.dish.Adapter = a
		case yes:
			out.dish.SeenAlso = append(out.dish.SeenAlso, a.Manifest().AdapterID)
		default:
			place.Leave(a)
		}
	}
}

// RuleAdapter is the rule of adapter errors that have no rule of their own.
const RuleAdapter = "adapter_error"

// fail reports the error of an adapter: an error in the user's files at its place, a failing plugin
// once for all its dishes.
func (f *finder) fail(err error, d *Dish) {
	var failure *adapters.Failure
	var list diagnostics.Problems
	switch {
	case errors.As(err, &list):
		for _, p := range list {
			p.File = f.inWorkspace(p.File)
			f.add(p)
		}
	case errors.As(err, &failure):
		f.faults.Add(failure, d.Path, d.place())
	default:
		f.add(d.place().Error(RuleAdapter, "%v", err))
	}
}

// ask fills the fields of the dish from the adapter or from the saved answers m.
func (d *Dish) ask(ctx context.Context, root string, m *answers.Cache) error {
	a, err := m.Ask(ctx, d.Adapter, d.Dir)
	d.Tasks, d.Notes, d.Aggregate, d.warnings = a.Tasks.Tasks, a.Tasks.Notes, a.Tasks.Aggregate, a.Tasks.Warnings
	d.members = a.Tasks.Members
	d.answered, d.Scope, d.Lock = a.Links, a.Scope, a.Lock
	var bad error
	if d.Pin, bad = d.pin(root, a.Pin, a.PinError); bad != nil {
		return bad
	}
	return err
}
