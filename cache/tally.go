package cache

import (
	"context"
	"encoding/binary"
	"time"
)

// tallyFile is the file of the tally: two numbers of 8 bytes each, little endian.
const tallyFile = "tally"

// tally is the approximate size of a store. It is rather too large than too small. Until the store is
// listed again, an entry stored twice is counted twice, and a removed entry is still counted.
type tally struct {
	size   int64     // in bytes, as Stats counts them
	listed time.Time // time of the last count
}

const (
	// tellSize is the most that a process adds, in bytes, before it updates the tally. The next
	// listing of the store counts what a killed process did not add to the tally.
	tellSize = 256 << 10
	// recount is the time after which a store of any size is listed again.
	recount = 24 * time.Hour
	// PruneToBounds prunes a store of more than smallStore files to 1/20 below its bound, so that it does
	// not list the store for each added result. It prunes a smaller store, which is listed fast, to
	// the bound itself.
	smallStore = 2000
	slackShare = 20
)

// PruneToBounds prunes the store to the bounds of its Options, and a large store to somewhat below them. It
// costs almost nothing unless the bytes that all processes have added pass the bound, or the last listing is
// older than recount. When another goroutine runs it, that goroutine does the work of both. Call it after
// each result and at the end of a run.
func (s *Disk) PruneToBounds(ctx context.Context) error {
	if s.bounds == (Bounds{}) {
		return nil
	}
	for first := true; first || s.added.Load() > 0; first = false {
		if !s.keeping.CompareAndSwap(false, true) {
			return nil
		}
		err := s.keepOnce(ctx)
		s.keeping.Store(false)
		if err != nil {
			return err
		}
	}
	return nil
}

// Crowded reports whether PruneToBounds should be called at once: the bytes that this process added and did not write
// to the tally are many, or pass the bound.
func (s *Disk) Crowded() bool {
	most, added, total := s.bounds.MaxSize, s.added.Load(), s.total.Load()
	return s.bounds != (Bounds{}) && added > 0 && (added >= tellSize || total == 0 || most > 0 && added+total > most)
}

func (s *Disk) keepOnce(ctx context.Context) error {
	b := s.bounds
	unlock, err := s.lockPruning(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	added := s.added.Swap(0)
	t, ok := s.readTally()
	if isNew := s.isNew(); isNew && !ok {
		t, ok = tally{listed: s.now()}, true // the processes that have added the rest count it
	}
	t.size += added
	if ok && !t.due(b, s.now()) {
		if added > 0 {
			s.noteTally(t)
		}
		s.total.Store(t.size)
		return nil
	}
	if _, err = s.prune(ctx, b, b.MaxSize-b.MaxSize/slackShare); err != nil {
		s.added.Add(added)
	}
	return err
}

// isNew reports whether this process made the store, the store has no other format, and this is the first
// call. Then other processes count everything that this process did not add itself.
func (s *Disk) isNew() bool {
	f := s.newest.Load()
	if f == nil || !f.fresh.Swap(false) {
		return false
	}
	st, err := s.stock()
	if err != nil {
		return false
	}
	defer st.close()
	return len(st.others) == 0
}

// due reports whether the store is to be listed.
func (t tally) due(b Bounds, now time.Time) bool {
	wait := recount
	if b.MaxAge > 0 {
		wait = min(wait, max(b.MaxAge/100, time.Minute))
	}
	age := now.Sub(t.listed)
	return b.MaxSize > 0 && t.size > b.MaxSize || age < -clockSkew || age > wait
}

// readTally returns the tally, if it exists.
func (s *Disk) readTally() (t tally, ok bool) {
	b, ok := s.noted(tallyFile, 16)
	if !ok || len(b) != 16 {
		return t, false
	}
	t.size = int64(binary.LittleEndian.Uint64(b))
	t.listed = time.Unix(0, int64(binary.LittleEndian.Uint64(b[8:])))
	return t, t.size >= 0
}

// noteTally writes the tally. Without a tally, also in a store without entries, PruneToBounds lists the
// store again.
func (s *Disk) noteTally(t tally) {
	s.total.Store(t.size)
	b := binary.LittleEndian.AppendUint64(nil, uint64(t.size))
	s.note(tallyFile, binary.LittleEndian.AppendUint64(b, uint64(t.listed.UnixNano())))
}
