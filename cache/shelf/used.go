package shelf

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/blake3"
)

// usedFile holds a round: which records were used by the last process that stamped some.
// It is missing while a process stamps, and after one that was killed.
const usedFile = "used"

// round is what one process has used, in so far as others can see it: the records whose
// stamps are not before first and not after last. The hashes of their keys are added up, bit
// by bit and without carry, which is enough to recognize the same ones.
type round struct {
	first, last time.Time
	keys        [32]byte
}

func (r *round) holds(at time.Time) bool { return !at.Before(r.first) && !at.After(r.last) }

func (r round) same(o round) bool {
	return r.first.Equal(o.first) && r.last.Equal(o.last) && r.keys == o.keys
}

func (r *round) add(key *[32]byte) {
	sum := blake3.Sum256(key[:]) // sets of keys that are alike add up to something else
	for i := range sum {
		r.keys[i] ^= sum[i]
	}
}

// usage is what this process has used. A record of the last round keeps its stamp for as
// long as nothing else is used: among those of its round, which are the last ones of all,
// it makes no difference. Once another record is to be stamped, it does, and what was
// only noted is stamped first.
type usage struct {
	mu    sync.Mutex
	read  bool
	last  round // that of usedFile; zero when there was none
	own   round // what this process has stamped, if it has begun
	begun bool
	clock time.Time         // the latest stamp
	seen  map[[32]byte]bool // what was noted, and once it has begun, what was stamped
	noted [][32]byte        // in the order of use
}

// Use notes that a record was used, whose stamp is at.
func (s *Shelf) Use(key [32]byte, at time.Time) {
	u := s.lockUsage()
	defer u.mu.Unlock()
	switch {
	case u.seen[key] && (!u.begun || u.own.holds(at)):
	case !u.begun && u.last.holds(at):
		u.seen[key] = true
		u.noted = append(u.noted, key)
	default:
		s.touch(records, key, "", s.next(u, key))
	}
}

// Renew stamps a record as used, whatever its stamp is. In a directory that only others
// may write nothing is stamped.
func (s *Shelf) Renew(key [32]byte) { s.touch(records, key, "", s.stamp(key)) }

// stamp returns the stamp for a record that is about to get it.
func (s *Shelf) stamp(key [32]byte) time.Time {
	u := s.lockUsage()
	defer u.mu.Unlock()
	return s.next(u, key)
}

// Settle ends a round: it writes down what was used, unless that is known.
func (s *Shelf) Settle() {
	u := s.lockUsage()
	defer u.mu.Unlock()
	if !u.begun && len(u.noted) > 0 {
		var used round
		for i := range u.noted {
			used.add(&u.noted[i])
		}
		if used.keys != u.last.keys || !s.readRound().same(u.last) { // something else was used last
			s.begin(u)
		}
	}
	if u.begun {
		u.last = u.own
		if s.readRound().last.IsZero() {
			s.writeRound(u.own)
		} else { // of a process that has stamped at the same time
			s.forget(usedFile)
			u.last = round{}
		}
	}
	u.begun, u.noted = false, nil
	clear(u.seen)
}

// stampNoted stamps what was only noted, before the order of all counts.
func (s *Shelf) stampNoted() {
	u := s.lockUsage()
	defer u.mu.Unlock()
	if len(u.noted) > 0 {
		s.begin(u)
	}
}

func (s *Shelf) lockUsage() *usage {
	u := &s.usage
	u.mu.Lock()
	if !u.read {
		u.read, u.last = true, s.readRound()
		u.clock, u.seen = u.last.last, make(map[[32]byte]bool)
	}
	return u
}

// next returns the next stamp, which is for a record. It is later than all others, whatever
// the clock says.
func (s *Shelf) next(u *usage, key [32]byte) time.Time {
	s.begin(u)
	now := s.now().Round(0).Truncate(time.Microsecond) // what every system call can set
	if !now.After(u.clock) {
		now = u.clock.Add(time.Microsecond)
	}
	if u.own.first.IsZero() {
		u.own.first = now
	}
	u.clock, u.own.last = now, now
	if !u.seen[key] {
		u.seen[key] = true
		u.own.add(&key)
	}
	return now
}

// begin begins to stamp, with what was noted. The last round is not the last any more.
func (s *Shelf) begin(u *usage) {
	if u.begun {
		return
	}
	u.begun, u.own = true, round{}
	clear(u.seen)
	s.forget(usedFile)
	for _, key := range u.noted {
		s.touch(records, key, "", s.next(u, key))
	}
	u.noted = nil
}

// readRound returns the round of usedFile, zero when there is none or when its time has
// not come: then the clock was wrong, and so are the stamps.
func (s *Shelf) readRound() (r round) {
	b, ok := s.noted(usedFile, 48)
	if !ok {
		return r
	}
	r.first, r.last = timeOf(b), timeOf(b[8:])
	copy(r.keys[:], b[16:])
	if r.last.After(s.now().Add(clockSkew)) {
		return round{}
	}
	return r
}

func timeOf(b []byte) time.Time { return time.Unix(0, int64(binary.LittleEndian.Uint64(b))) }

func (s *Shelf) writeRound(r round) {
	b := binary.LittleEndian.AppendUint64(nil, uint64(r.first.UnixNano()))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.last.UnixNano()))
	s.note(usedFile, slices.Concat(b, r.keys[:]))
}
