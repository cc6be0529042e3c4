package key

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/pack"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/state"
	"github.com/bentobuild/bento/internal/tree"
)

// Discovered is a discovered input: a path that an observed execution of a task used although no input of the
// task covers it. What it holds now is part of the key.
type Discovered struct {
	Path string // relative to the workspace
	Use  Use
}

// Use is what a task used of a discovered input.
type Use byte

// The uses. They are part of recorded data: never renumber them.
const (
	UseContent  Use = 1 // the content of the file, the target of the link, or that there is none
	UseNames    Use = 2 // the names in the directory that git does not ignore, without outputs
	UsePresence Use = 3 // what is there: nothing, a directory, a file, a program
)

// Bounds of discovered inputs. An execution with more is not stored.
const (
	MaxDiscovered = 4096
	MaxFound      = 1 << 16 // of a task with observed inputs
	maxNames      = 100_000 // of one directory; the digest of more is that of their number
	maxPathSets   = 8       // of one key

	maxPathSetsSize = 16 << 20 // in bytes
)

// addDiscovered adds what the discovered inputs of ev's task hold now: those of ev.Discovered, or, if that is nil, those of
// the last run. A task without any has the same key as one that was never observed.
func (e *Evaluator) addDiscovered(b *builder, ev *Evaluation) error {
	if ev.Discovered == nil {
		ev.Discovered = e.history.Of(ev.Task).Discovered
	}
	ev.weak, ev.held, ev.heldEntries = cache.Key{}, nil, nil
	if len(ev.Discovered) == 0 {
		return nil
	}
	ev.weak = b.sum()
	for _, d := range ev.Discovered {
		f, entry, err := e.seen(ev.look, ev.Task, d)
		if err != nil {
			return err
		}
		ev.held, ev.heldEntries = append(ev.held, f), append(ev.heldEntries, entry)
	}
	name := discoveredName
	if ev.FindsInputs {
		name = readName
	}
	b.Files(name, ev.held.Digest())
	return nil
}

// Names of the ingredients with the inputs and the discovered inputs.
const (
	inputsName     = "inputs"
	discoveredName = "discovered inputs"
)

// look is what discovered inputs hold at one time of the clock. The tasks that Evaluator.Each evaluates share it, since
// many of them use the same ones.
type look struct {
	at   int // clock.now
	held map[Discovered]heldInput
}

type heldInput struct {
	file  File
	entry tree.Entry
}

// seen is holds for a task that Each evaluates, which looks at each discovered input once; l is nil for another one, for
// which it may have changed since. Tasks may use other parts of a lockfile.
func (e *Evaluator) seen(l *look, t *plan.Task, d Discovered) (File, tree.Entry, error) {
	if l == nil || e.lockfiles.have(t.Dish, d.Path) {
		return e.holds(t, d)
	}
	if l.held == nil || l.at != e.clock.now {
		l.at, l.held = e.clock.now, make(map[Discovered]heldInput)
	}
	if h, ok := l.held[d]; ok {
		return h.file, h.entry, nil
	}
	f, entry, err := e.holds(t, d)
	if err == nil {
		l.held[d] = heldInput{f, entry}
	}
	return f, entry, err
}

// holds returns what a discovered input holds now, as a file of a fileSet. Another use has another path there.
func (e *Evaluator) holds(t *plan.Task, d Discovered) (File, tree.Entry, error) {
	f := File{Path: d.Path}
	entry, err := e.tree.Stat(d.Path)
	entry.Path = d.Path
	switch {
	case err != nil && d.Use == UseNames && e.tree.Ignored(d.Path, true): // as without the names that git ignores
		f.Sum = cache.Sum(nil)
	case err != nil:
		f.Sum = sumMissing()
	case d.Use == UsePresence:
		f.Sum = cache.Sum(fmt.Appendf(nil, "present %d %t", entry.Kind, entry.Kind == tree.File && Executable(entry.Mode)))
		entry = tree.Entry{Path: d.Path, Kind: entry.Kind}
	case d.Use == UseNames && entry.Kind == tree.Dir:
		f.Sum = cache.Sum([]byte(strings.Join(e.names(t, d.Path), "\x00")))
		entry = tree.Entry{Path: d.Path, Kind: tree.Dir} // its times change with files that do not count
	case entry.Kind == tree.Link:
		f.Target, err = e.tree.Readlink(entry)
		return f, entry, err
	case entry.Kind == tree.File:
		if part, ok := e.lockfiles.part(t, entry); ok {
			f.Sum = cache.Sum([]byte("part " + part))
			return f, entry, nil
		}
		f.Exec = Executable(entry.Mode)
		f.Sum, err = e.tree.Index().Sum(entry)
		return f, entry, err
	default:
		f.Sum = cache.Sum([]byte("another kind of file"))
	}
	return f, entry, nil
}

func sumMissing() cache.Digest { return cache.Sum([]byte("missing")) }

// IsMissing reports whether f is a discovered input that does not exist.
func (f *File) IsMissing() bool { return f.Sum == sumMissing() && f.Target == "" }

// names returns the names in a directory, sorted, without what git ignores and what tasks make.
func (e *Evaluator) names(t *plan.Task, dir string) []string {
	list, err := os.ReadDir(filepath.Join(e.o.Root, filepath.FromSlash(dir)))
	if err != nil || len(list) > maxNames {
		return []string{"\x00", strings.Repeat("x", min(len(list), maxNames))}
	}
	var names []string
	for _, entry := range list {
		p := path.Join(dir, entry.Name())
		if entry.Name() == ".git" || Inside(p, state.Name) || e.tree.Ignored(p, entry.IsDir()) && !e.tree.MayTrack(p) || e.makesBelow(p) {
			continue
		}
		names = append(names, entry.Name())
	}
	return names
}

// makesBelow reports whether a task makes p, or files in it, where git tracks none.
func (e *Evaluator) makesBelow(p string) bool {
	own := e.ownerOf(p)
	if own == nil || e.tree.MayTrack(p) || e.tree.TracksBelow(p) {
		return false
	}
	return own.IsOutput(p) || slices.ContainsFunc(own.Outputs, func(o string) bool { return Inside(o, p) })
}

func (e *Evaluator) ownerOf(p string) *ownership {
	if d := e.plan.Workspace.Owner(p); d != nil {
		return e.ownerships[d]
	}
	return nil
}

// Maker returns the task whose outputs cover p, nil for none, and whether a tool of the dish, such as an install,
// makes p instead.
func (f Files) Maker(p string) (maker *plan.Task, derived bool) {
	own := f.e.ownerOf(p)
	if own == nil {
		return nil, false
	}
	if t := f.finder(own, p); t != nil || !own.IsOutput(p) {
		return t, false
	}
	for _, t := range own.Tasks {
		if set, err := tree.CompileSet(t.Dish.Path, outputGlobs(t)); err == nil && set.Match(p) {
			return t, false
		}
	}
	return nil, true
}

// finder returns the task of a dish that was observed to make p, nil for none.
func (f Files) finder(own *ownership, p string) *plan.Task {
	for _, t := range own.Tasks {
		if t.FindsOutputs() && f.e.history.Of(t).Made(p) {
			return t
		}
	}
	return nil
}

// Excludes reports whether a negated glob of the inputs of t excludes p.
func (f Files) Excludes(t *plan.Task, p string) bool {
	globs, err := f.e.globs(t)
	return err == nil && globs.Negates(p)
}

// Covers reports whether a new or removed file p changes the key of t: an input of t matches it, or it is in a dish
// whose sources are in the key; git does not ignore it, and no task makes it.
func (f Files) Covers(t *plan.Task, p string) bool {
	if f.e.tree.Ignored(p, false) {
		return false
	}
	own := f.e.ownerOf(p)
	if own == nil || own.IsOutput(p) {
		return false
	}
	globs, err := f.e.globs(t)
	if err != nil || globs.Negates(p) {
		return false
	}
	if globs.All.Match(p) && globs.Admits(f.e.tree, f.e.ownerships[t.Dish], p) {
		return true
	}
	if t.DefaultInputs && f.e.ownerships[t.Dish].Counts(p) != nil {
		return true
	}
	return slices.ContainsFunc(f.Linked(t), func(d *dish.Dish) bool { return d.Path == own.Dish.Path })
}

// weakKey returns the key without discovered inputs.
func (ev *Evaluation) weakKey() cache.Key {
	if len(ev.Discovered) == 0 {
		return ev.Key
	}
	return ev.weak
}

// A list of path sets is stored under a key of its own, which is derived from the weak key: the discovered
// inputs of executions with this weak key, newest first. With a path set and what it holds, the key of a result
// can be made where the task was never executed.
const pathSetsMagic = "bento path sets 1\n"

func pathSetsKey(weak cache.Key) cache.Key {
	return cache.Key(cache.Sum(slices.Concat([]byte(pathSetsMagic), weak[:])))
}

func encodePathSets(sets [][]Discovered) []byte {
	var w pack.Writer
	w.Raw([]byte(pathSetsMagic))
	w.Uint(uint64(len(sets)))
	for _, set := range sets {
		writeDiscovered(&w, set)
	}
	return w.Payload()
}

func decodePathSets(blob []byte) (sets [][]Discovered, err error) {
	r, err := open(blob, pathSetsMagic)
	if err != nil {
		return nil, err
	}
	for range r.Count(1) {
		sets = append(sets, readDiscovered(r))
	}
	return sets, r.End()
}

func writeDiscovered(w *pack.Writer, set []Discovered) {
	w.Uint(uint64(len(set)))
	for _, d := range set {
		w.String(d.Path)
		w.Byte(byte(d.Use))
	}
}

func readDiscovered(r *pack.Reader) (set []Discovered) {
	for range r.Count(2) {
		set = append(set, Discovered{Path: r.String(), Use: Use(r.Byte())})
	}
	return set
}

// valid reports whether a set of a record names only paths of the workspace: any user who can write to the cache
// can make one.
func valid(set []Discovered) bool {
	return len(set) <= MaxFound && !slices.ContainsFunc(set, func(d Discovered) bool {
		return cache.CheckPath(d.Path) != nil || d.Use < UseContent || d.Use > UsePresence
	})
}

// pathSets returns the path sets of a weak key, nil for none.
func (e *Evaluator) pathSets(weak cache.Key) [][]Discovered {
	record, err := e.o.Store.Lookup(pathSetsKey(weak))
	if err != nil {
		return nil
	}
	f, err := record.With(e.o.Store).Open(record.Log)
	if err != nil {
		return nil
	}
	defer f.Close()
	blob, err := io.ReadAll(io.LimitReader(f, maxPathSetsSize))
	if err != nil {
		return nil
	}
	sets, err := decodePathSets(blob)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(sets, func(set []Discovered) bool { return !valid(set) })
}

// Others returns the keys, without that of ev itself, under which a result for ev may be found elsewhere: with the
// discovered inputs of other executions.
func (ev *Evaluation) Others() []cache.Key { return ev.others }

// PathSetsKey returns the key of the path sets for ev, which may be found elsewhere, too.
func (ev *Evaluation) PathSetsKey() cache.Key { return pathSetsKey(ev.weakKey()) }

// PathSets returns the path sets for ev that the store has.
func (f Files) PathSets(ev *Evaluation) [][]Discovered { return f.e.pathSets(ev.weakKey()) }

// AddPathSets adds path sets for ev, which the store had before others replaced them, to those that it has now.
func (f Files) AddPathSets(ev *Evaluation, before [][]Discovered) error {
	sets := f.e.pathSets(ev.weakKey())
	missing := slices.DeleteFunc(slices.Clone(before), func(set []Discovered) bool {
		return slices.ContainsFunc(sets, func(s []Discovered) bool { return slices.Equal(s, set) })
	})
	if len(missing) == 0 {
		return nil
	}
	sets = append(missing, sets...)
	return f.storePathSets(ev.weakKey(), sets[:min(len(sets), maxPathSets)])
}

// StorePathSet adds the discovered inputs of ev to the path sets of its weak key. Its result was stored.
func (f Files) StorePathSet(ev *Evaluation) error {
	if len(ev.Discovered) == 0 {
		return nil
	}
	sets := f.e.pathSets(ev.weak)
	if len(sets) > 0 && slices.Equal(sets[0], ev.Discovered) {
		return nil
	}
	sets = slices.DeleteFunc(sets, func(set []Discovered) bool { return slices.Equal(set, ev.Discovered) })
	return f.storePathSets(ev.weak, append([][]Discovered{ev.Discovered}, sets[:min(len(sets), maxPathSets-1)]...))
}

func (f Files) storePathSets(weak cache.Key, sets [][]Discovered) error {
	encoded := encodePathSets(sets)
	for ; len(encoded) > maxPathSetsSize && len(sets) > 1; encoded = encodePathSets(sets) {
		sets = sets[:len(sets)-1]
	}
	blob := cache.Hash(encoded)
	record := &cache.Record{Created: time.Now(), Log: blob.Sum(), LogSize: int64(blob.Len())}
	if err := record.With(f.e.o.Store).Add(record.Log, blob); err != nil {
		return err
	}
	return f.e.o.Store.Record(pathSetsKey(weak), record)
}

// lookupSets looks up the results of executions with the weak key of ev whose discovered inputs were others. ev
// becomes the evaluation of the first that is a hit. known reports whether there are any.
func (e *Evaluator) lookupSets(ctx context.Context, ev *Evaluation) (hit, known bool) {
	sets := e.pathSets(ev.weakKey())
	for _, set := range sets {
		if slices.Equal(set, ev.Discovered) {
			continue
		}
		other := *ev
		other.Discovered, other.ingredients = set, nil
		if pending, err := e.key(ctx, ev.Task, &other); err != nil || len(pending) > 0 {
			continue
		}
		record, err := e.recorded(&other)
		if err != nil {
			ev.others = append(ev.others, other.Key)
			continue
		}
		*ev = other
		ev.Status, ev.Record, ev.Outputs = Hit, record, record.Outputs
		e.setMade(ev, outputsDigest(record.Outputs))
		return true, true
	}
	return false, len(sets) > 0
}

// DiscoveredChanged returns the first discovered input of ev that is not as it was when the key was made, "" for none.
// It looks only at those that counts reports.
func (f Files) DiscoveredChanged(ev *Evaluation, counts func(Discovered) bool) string {
	for i, d := range ev.Discovered {
		if !counts(d) {
			continue
		}
		was := ev.heldEntries[i]
		held, now, err := f.e.holds(ev.Task, d)
		if err != nil || held != ev.held[i] || was.Kind == tree.File && d.Use == UseContent && !now.Same(&was) {
			return d.Path
		}
	}
	return ""
}

// Basis returns the digest of what decides which files a task uses, as far as it is no file: the command, the
// environment, the toolchain. It is zero for a hit whose ingredients were dropped.
func (ev *Evaluation) Basis() cache.Digest {
	var w pack.Writer
	for _, in := range ev.ingredients {
		if !in.Kind.isDigest() {
			w.String(in.Name)
			w.String(in.Value)
		}
	}
	if len(ev.ingredients) == 0 {
		return cache.Digest{}
	}
	return cache.Sum(w.Payload())
}
