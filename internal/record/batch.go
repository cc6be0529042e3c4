package record

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/key"
	"github.com/bentobuild/bento/internal/parallel"
	"github.com/bentobuild/bento/internal/plan"
	"github.com/bentobuild/bento/internal/tree"
)

// flushTime is the longest time that a result waits to be stored while other tasks run.
const flushTime = 10 * time.Second

// Batch holds results until it has checked that nothing in their keys that is outside of their dishes
// was written meanwhile. It checks many results together: one check for each would take longer than
// most tasks. It is for one goroutine.
type Batch struct {
	eval    *key.Evaluator
	files   key.Files
	rec     *Recorder
	waiting []waiting
	last    time.Time // when results were stored last
}

type waiting struct {
	x       *Execution
	ev      *key.Evaluation
	stored  func()
	refused func()
	packed  error // the error of storing its pack
	bad     bool
}

// NewBatch returns an empty Batch.
func NewBatch(e *key.Evaluator, r *Recorder) *Batch {
	return &Batch{eval: e, files: key.FilesOf(e), rec: r, last: time.Now()}
}

// Add adds the result of x, which is stored under the key of ev. Store calls stored after it has
// stored the result. Check calls refused if something that the result may depend on has changed.
func (b *Batch) Add(x *Execution, ev *key.Evaluation, stored, refused func()) {
	b.waiting = append(b.waiting, waiting{x: x, ev: ev, stored: stored, refused: refused})
}

// Due reports whether results have waited for flushTime.
func (b *Batch) Due() bool { return len(b.waiting) > 0 && time.Since(b.last) > flushTime }

// Check finds the waiting results that Store must not store. In parallel it stores the provenance of
// their keys.
func (b *Batch) Check(ctx context.Context) {
	if len(b.waiting) == 0 {
		return
	}
	b.files.Read()
	packed := b.startPacks()
	b.recheck(ctx)
	b.recheckOutputs()
	packed()
	for i := range b.waiting {
		if w := &b.waiting[i]; w.bad {
			w.refused()
		}
	}
}

// Store stores the results that Check has not refused.
func (b *Batch) Store() {
	b.storeRecords()
	for i := range b.waiting {
		if w := &b.waiting[i]; !w.bad {
			w.x.stored(b.files.StorePathSet(w.ev))
			w.stored()
		}
	}
	b.waiting = nil
	b.last = time.Now()
}

// recheck finds the results for which, while the task ran, a source of another dish was written, or
// an input outside of the dish.
func (b *Batch) recheck(ctx context.Context) {
	then := b.sources()
	outside := b.outside(then)
	if len(then)+len(outside) == 0 {
		return
	}
	dishes := make([]*dish.Dish, 0, len(then))
	for _, s := range then {
		dishes = append(dishes, s.Dish)
	}
	dishes = slices.Compact(dishes)
	b.eval.NoteWritten(ctx, key.Written{Dishes: dishes, Paths: outside})
	now := make(map[*dish.Dish]key.DishSources, len(dishes))
	for _, d := range dishes {
		now[d] = b.files.Carried(d)
	}
	written, seen := make(map[sourcesID][]difference), make(map[tree.DirStamp]bool)
	for _, s := range then {
		all := append(b.rec.differences(s.Files, now[s.Dish].Files), b.rec.differences(s.Targets, now[s.Dish].Targets)...)
		if all = append(all, b.swapped(s.Dirs, now[s.Dish], seen)...); len(all) > 0 {
			written[sourcesIDOf(s)] = all
		}
	}
	b.refuse(written)
}

// swapped returns the directories of dirs that were replaced, or moved away and put back. now has the
// stamps of directories inside its dish, which was just refreshed. seen caches the findings: dishes
// share the directories around them.
func (b *Batch) swapped(dirs []tree.DirStamp, now key.DishSources, seen map[tree.DirStamp]bool) (list []difference) {
	if len(seen) == 0 && !b.rec.Tree.IsThere() {
		return []difference{{path: "."}}
	}
	for i, d := range dirs {
		is, known := seen[d]
		switch {
		case known:
		case i < len(now.Dirs) && now.Dirs[i].Path == d.Path && key.Inside(d.Path, now.Dish.Path):
			is = d.SwappedBy(now.Dirs[i].Stamp)
			seen[d] = is
		default:
			is = b.rec.Tree.Swapped(d)
			seen[d] = is
		}
		if is {
			list = append(list, difference{path: d.Path, equal: true})
		}
	}
	return list
}

// recheckOutputs finds the results for which an output of another task, or a file beside such
// outputs, was touched while the task ran.
func (b *Batch) recheckOutputs() {
	seen, held := make(map[*plan.Task][]difference), make(map[*listing]bool)
	for i := range b.waiting {
		w := &b.waiting[i]
		if w.bad {
			continue
		}
		discovered := difference{path: b.files.DiscoveredChanged(w.ev, w.x.discovered)}
		if d := cmp.Or(w.x.outputChanged(seen), w.x.sharedChanged(held), discovered); d.path != "" {
			w.bad = true
			w.x.warnChanged(d)
		}
	}
}

// outside returns the paths outside of dishes that inputs name or links lead to.
func (b *Batch) outside(sources []key.DishSources) []string {
	var dirs []string
	for i := range b.waiting { // no copy: a pack may be stored just now
		dirs = append(dirs, b.files.Outside(b.waiting[i].ev)...)
	}
	for _, s := range sources {
		_, at := key.LinkTargets(b.rec.Tree, s.Files)
		dirs = append(dirs, at...)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// sourcesID identifies a list of sources. A dish that was refreshed between two keys has several.
type sourcesID struct {
	dish  *dish.Dish
	first *tree.Entry
	size  int
}

func sourcesIDOf(s key.DishSources) sourcesID {
	p := sourcesID{dish: s.Dish, size: len(s.Files)}
	if p.size > 0 {
		p.first = &s.Files[0]
	}
	return p
}

// sources returns the sources in the keys of all results, by dish.
func (b *Batch) sources() []key.DishSources {
	var list []key.DishSources
	seen, had := make(key.Seen), make(map[sourcesID]bool)
	for i := range b.waiting { // no copy, as above
		b.waiting[i].ev.EachSources(seen, func(s key.DishSources) {
			if p := sourcesIDOf(s); !had[p] {
				had[p] = true
				list = append(list, s)
			}
		})
	}
	slices.SortStableFunc(list, func(x, y key.DishSources) int { return strings.Compare(x.Dish.Path, y.Dish.Path) })
	return list
}

// differences returns the files that are in only one of two lists, or that were touched in between.
func (r *Recorder) differences(then, now []tree.Entry) (list []difference) {
	if len(then) > 0 && len(now) > 0 && &then[0] == &now[0] && len(then) == len(now) {
		return nil
	}
	for len(then) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(then) > 0 && then[0].Path < now[0].Path:
			list = append(list, difference{path: then[0].Path})
			then = then[1:]
		case len(then) == 0 || then[0].Path > now[0].Path:
			list = append(list, difference{path: now[0].Path})
			now = now[1:]
		default:
			if !now[0].Same(&then[0]) {
				if equal := r.holds(then[0], now[0]); !equal || r.touched(then[0], now[0]) {
					list = append(list, difference{path: then[0].Path, equal: equal})
				}
			}
			then, now = then[1:], now[1:]
		}
	}
	return list
}

// refuse marks and reports the results that are not stored. written are the sources that have
// changed.
func (b *Batch) refuse(written map[sourcesID][]difference) {
	for i := range b.waiting {
		w := &b.waiting[i]
		found := difference{path: b.files.Differ(w.ev)}
		if len(written) > 0 {
			w.ev.EachSources(make(key.Seen), func(s key.DishSources) {
				found = cmp.Or(found, w.x.first(written[sourcesIDOf(s)]))
			})
		}
		if len(b.files.Outside(w.ev)) > 0 {
			found = cmp.Or(found, b.outsideChanged(w))
		}
		if w.bad = found.path != ""; w.bad {
			w.x.warnChanged(found)
		}
	}
}

// outsideChanged returns the first touched input that is outside of the task's dish or that a link
// leads to; its path is empty if none was touched.
func (b *Batch) outsideChanged(w *waiting) difference {
	now, err := b.files.InputsNow(w.ev)
	if err != nil {
		return difference{}
	}
	targets, _ := key.LinkTargets(b.rec.Tree, now)
	return cmp.Or(w.x.first(b.rec.differences(w.ev.Entries, now)), w.x.first(b.rec.differences(w.ev.Targets, targets)))
}

// first returns the first of some differences that the task does not declare.
func (x *Execution) first(list []difference) difference {
	for _, d := range list {
		if !d.equal || !x.mayRewrite(d.path) {
			return d
		}
	}
	return difference{}
}

// packSize is the size in bytes at which a pack is full. It is small because bento reads a whole pack
// to explain one key.
const packSize = 1 << 20

// startPacks starts to store the provenance of the keys in packs, in parallel. A pack has the sources
// of a dish once for many keys. A pack that no record refers to in the end is an unused blob like any
// other. wait waits for all packs.
func (b *Batch) startPacks() (wait func()) {
	var group sync.WaitGroup
	group.Go(func() {
		var pack key.Pack
		first := 0
		for i := range b.waiting {
			w := &b.waiting[i]
			w.x.record.Ingredients = w.ev.Pack(&pack)
			if pack.Size() >= packSize || i == len(b.waiting)-1 {
				full, in := pack, b.waiting[first:i+1]
				group.Go(func() { b.storePack(&full, in) })
				pack, first = key.Pack{}, i+1
			}
		}
	})
	return group.Wait
}

// storePack stores a pack, and sets it in the records that refer to it.
func (b *Batch) storePack(pack *key.Pack, in []waiting) {
	data := cache.Hash(pack.Encode())
	err := b.rec.Store.Add(data.Sum(), data)
	for i := range in {
		in[i].x.record.Pack, in[i].packed = data.Sum(), err
	}
}

// storeRecords stores the records, several at a time.
func (b *Batch) storeRecords() {
	var good []*waiting
	for i := range b.waiting {
		if w := &b.waiting[i]; !w.bad {
			good = append(good, w)
		}
	}
	parallel.Map(good, func() *Batch { return b }, func(b *Batch, w *waiting) (none struct{}) {
		w.bad = !w.x.stored(w.packed) || !w.x.stored(b.rec.Store.Record(w.ev.Key, w.x.record))
		return none
	})
}

// stored reports whether err is nil, and warns of it otherwise, except of a miss: then another
// bento has removed a blob meanwhile.
func (x *Execution) stored(err error) bool {
	if err != nil && !errors.Is(err, cache.ErrMiss) {
		x.warnStore(err)
	}
	return err == nil
}
