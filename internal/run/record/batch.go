package record

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/discovery"
	"github.com/bentobuild/bento/internal/fingerprint"
	"github.com/bentobuild/bento/internal/run/evaluate"
	"github.com/bentobuild/bento/internal/run/territory"
	"github.com/bentobuild/bento/internal/tree"
	"github.com/bentobuild/bento/internal/tree/crew"
)

// flushTime is how long a result waits at most to be stored while others still run.
const flushTime = 10 * time.Second

// Batch holds results until it is sure that nothing was written meanwhile of what
// their keys say of other dishes. That is looked at for many of them together: for
// each alone it would take longer than most tasks do. It is for one goroutine.
type Batch struct {
	eval    *evaluate.Evaluator
	rec     *Recorder
	waiting []waiting
	last    time.Time // of the last flush
}

type waiting struct {
	x      *Execution
	ev     *evaluate.Result
	stored func()
	bad    bool
}

// NewBatch gives an empty Batch.
func NewBatch(e *evaluate.Evaluator, r *Recorder) *Batch {
	return &Batch{eval: e, rec: r, last: time.Now()}
}

// Add adds the result of x, to be stored under the key of ev; stored is called when
// it is.
func (b *Batch) Add(x *Execution, ev *evaluate.Result, stored func()) {
	b.waiting = append(b.waiting, waiting{x: x, ev: ev, stored: stored})
}

// Due tells whether what waits should wait no longer.
func (b *Batch) Due() bool { return len(b.waiting) > 0 && time.Since(b.last) > flushTime }

// Flush stores what waits. It tells whether it has found sources that are others
// than before.
func (b *Batch) Flush(ctx context.Context) (changed bool) {
	if len(b.waiting) == 0 {
		return false
	}
	changed = b.recheck(ctx)
	b.storeAll()
	for i := range b.waiting {
		if w := &b.waiting[i]; !w.bad {
			w.stored()
		}
	}
	b.waiting = nil
	b.last = time.Now()
	return changed
}

// recheck finds those results of which a source of another dish, or an input that
// is named by its place in the workspace, was written while the task ran.
func (b *Batch) recheck(ctx context.Context) (changed bool) {
	then := b.sources()
	outside := b.outside(then)
	if len(then)+len(outside) == 0 {
		return false
	}
	dishes := make([]*discovery.Dish, 0, len(then))
	for _, s := range then {
		dishes = append(dishes, s.Dish)
	}
	list, changed := b.eval.LookAgain(ctx, slices.Compact(dishes), outside)
	now := make(map[*discovery.Dish]evaluate.Sources, len(list))
	for _, s := range list {
		now[s.Dish] = s
	}
	written := make(map[place]string)
	for _, s := range then {
		if p := cmp.Or(b.rec.differs(s.Files, now[s.Dish].Files), b.rec.differs(s.Behind, now[s.Dish].Behind)); p != "" {
			written[placeOf(s)] = p
		}
	}
	b.refuse(written)
	return changed
}

// outside lists the places outside of dishes that inputs name, and that links lead to.
func (b *Batch) outside(sources []evaluate.Sources) []string {
	var dirs []string
	for _, w := range b.waiting {
		dirs = append(dirs, b.eval.Outside(w.ev)...)
	}
	for _, s := range sources {
		_, at := territory.Behind(b.rec.Tree, s.Files)
		dirs = append(dirs, at...)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// place tells lists of sources apart: of one dish there are several when it was
// looked at between two keys.
type place struct {
	dish  *discovery.Dish
	first *tree.Entry
	size  int
}

func placeOf(s evaluate.Sources) place {
	p := place{dish: s.Dish, size: len(s.Files)}
	if p.size > 0 {
		p.first = &s.Files[0]
	}
	return p
}

// sources lists what the keys of all results speak of, by dish.
func (b *Batch) sources() []evaluate.Sources {
	var list []evaluate.Sources
	seen, had := make(evaluate.Seen), make(map[place]bool)
	for _, w := range b.waiting {
		w.ev.EachSources(seen, func(s evaluate.Sources) {
			if p := placeOf(s); !had[p] {
				had[p] = true
				list = append(list, s)
			}
		})
	}
	slices.SortStableFunc(list, func(x, y evaluate.Sources) int { return strings.Compare(x.Dish.Path, y.Dish.Path) })
	return list
}

// differs names a file that is in one of two lists alone, or that was written in
// between; "" when there is none.
func (r *Recorder) differs(then, now []tree.Entry) string {
	if len(then) > 0 && len(now) > 0 && &then[0] == &now[0] && len(then) == len(now) {
		return ""
	}
	for i := range then {
		switch {
		case i >= len(now) || then[i].Path < now[i].Path:
			return then[i].Path
		case then[i].Path > now[i].Path:
			return now[i].Path
		case !r.stillIs(then[i], now[i]):
			return then[i].Path
		}
	}
	if len(now) > len(then) {
		return now[len(then)].Path
	}
	return ""
}

// refuse says which results are not stored, and why. written are the sources that
// are not any more what they were.
func (b *Batch) refuse(written map[place]string) {
	for i := range b.waiting {
		w := &b.waiting[i]
		found := ""
		if len(written) > 0 {
			w.ev.EachSources(make(evaluate.Seen), func(s evaluate.Sources) {
				if p := written[placeOf(s)]; found == "" {
					found = p
				}
			})
		}
		if found == "" && len(b.eval.Outside(w.ev)) > 0 {
			if now, err := b.eval.InputsNow(w.ev); err == nil {
				behind, _ := territory.Behind(b.rec.Tree, now)
				found = cmp.Or(b.rec.differs(w.ev.Entries, now), b.rec.differs(w.ev.Behind, behind))
			}
		}
		if w.bad = found != ""; w.bad {
			w.x.sayChanged(found)
		}
	}
}

// packSize is the size from which on a pack takes no more, in bytes: who explains one
// key reads all of it.
const packSize = 1 << 20

// storeAll stores how the keys were made, and behind it the records: dishes that many
// keys speak of are stored once, and all in few files, several at a time.
func (b *Batch) storeAll() {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	var pack fingerprint.Pack
	var in []*waiting
	store := func() {
		p, list := pack, in
		group.Go(func() error {
			b.storePack(&p, list)
			return nil
		})
		pack, in = fingerprint.Pack{}, nil
	}
	for i := range b.waiting {
		w := &b.waiting[i]
		if w.bad {
			continue
		}
		w.x.record.Ingredients = w.ev.Pack(&pack)
		if in = append(in, w); pack.Size() >= packSize {
			store()
		}
	}
	if len(in) > 0 {
		store()
	}
	_ = group.Wait() // every result knows of its own error
}

// storePack stores a pack and the records that speak of it.
func (b *Batch) storePack(pack *fingerprint.Pack, in []*waiting) {
	data := pack.Encode()
	d := cache.Sum(data)
	err := b.rec.Store.Add(d, bytes.NewReader(data))
	crew.Map(in, func() *Batch { return b }, func(b *Batch, w *waiting) (none struct{}) {
		w.x.record.Recording = d
		if w.bad = !w.x.stored(err); !w.bad {
			w.bad = !w.x.stored(b.rec.Store.Record(w.ev.Key, w.x.record))
		}
		return none
	})
}

// stored tells whether something was stored without an error, which is said. Of what
// another bento has removed meanwhile nothing is stored.
func (x *Execution) stored(err error) bool {
	if err != nil && !errors.Is(err, cache.ErrMiss) {
		x.warnStore(err)
	}
	return err == nil
}
