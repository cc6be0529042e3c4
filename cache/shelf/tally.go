package shelf

import (
	"context"
	"encoding/binary"
	"time"
)

// tallyFile holds a tally: both numbers in 8 bytes, little endian.
const tallyFile = "tally"

// tally is about how many bytes a shelf holds. It is rather too large than too small:
// what is stored again counts twice, what is dropped still counts, until the shelf is
// listed again.
type tally struct {
	size   int64     // in bytes, as Stats counts them
	listed time.Time // when it was counted
}

const (
	// tellSize is how much a process adds at most, in bytes, before it tells others. What
	// a process that is killed has not told is known when the shelf is listed again.
	tellSize = 256 << 10
	// recount is when a shelf is listed again although its size does not require it.
	recount = 24 * time.Hour
	// A shelf of more than smallShelf files that has grown too large is brought to 1/20
	// below its bound, so that it is not listed again for each result that is added. A
	// smaller one, which is listed in a moment, loses nothing that fits.
	smallShelf = 2000
	slackShare = 20
)

// Keep keeps the shelf within b. It costs next to nothing unless enough was added since
// to pass the bound, or nobody has counted for long. When another goroutine is at it, that
// one goes on until nothing is left to do.
func (s *Shelf) Keep(ctx context.Context, b Bounds, needs Needs) error {
	if b == (Bounds{}) {
		return nil
	}
	for first := true; first || s.added.Load() > 0; first = false {
		if !s.keeping.CompareAndSwap(false, true) {
			return nil
		}
		err := s.keepOnce(ctx, b, needs)
		s.keeping.Store(false)
		if err != nil {
			return err
		}
	}
	return nil
}

// Crowded reports whether Keep is worth a call: what this process has added and not told
// others is much, or passes the bound as far as this process knows.
func (s *Shelf) Crowded(b Bounds) bool {
	added, total := s.added.Load(), s.total.Load()
	return added > 0 && (added >= tellSize || total == 0 || b.MaxSize > 0 && added+total > b.MaxSize)
}

func (s *Shelf) keepOnce(ctx context.Context, b Bounds, needs Needs) error {
	unlock, err := s.lockPruning(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	added := s.added.Swap(0)
	t, ok := s.readTally()
	t.size += added
	if ok && !t.due(b, s.now()) {
		if added > 0 {
			s.noteTally(t)
		}
		s.total.Store(t.size)
		return nil
	}
	if _, err = s.prune(ctx, b, b.MaxSize-b.MaxSize/slackShare, needs); err != nil {
		s.added.Add(added)
	}
	return err
}

// due reports whether the shelf is to be listed.
func (t tally) due(b Bounds, now time.Time) bool {
	wait := recount
	if b.MaxAge > 0 {
		wait = min(wait, max(b.MaxAge/100, time.Minute))
	}
	age := now.Sub(t.listed)
	return b.MaxSize > 0 && t.size > b.MaxSize || age < -clockSkew || age > wait
}

// readTally returns the tally, if there is one.
func (s *Shelf) readTally() (t tally, ok bool) {
	b, ok := s.noted(tallyFile, 16)
	if !ok {
		return t, false
	}
	t.size = int64(binary.LittleEndian.Uint64(b))
	t.listed = time.Unix(0, int64(binary.LittleEndian.Uint64(b[8:])))
	return t, t.size >= 0
}

// noteTally writes the tally down. Where that fails, also because nothing was ever added,
// the shelf is listed again.
func (s *Shelf) noteTally(t tally) {
	s.total.Store(t.size)
	b := binary.LittleEndian.AppendUint64(nil, uint64(t.size))
	s.note(tallyFile, binary.LittleEndian.AppendUint64(b, uint64(t.listed.UnixNano())))
}
