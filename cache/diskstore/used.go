package diskstore

import (
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/blake3"
)

// usedFile contains the round of the last process that set the last use of records. It is missing
// while such a process runs, and after one was killed.
const usedFile = "used"

// round identifies the records that one process used: those with a last use from first to last.
// keys is the sum of the hashes of their keys, bit by bit without carry, which suffices to
// recognize the same records.
type round struct {
	first, last time.Time
	keys        [32]byte
}

func (r *round) holds(at time.Time) bool { return !at.Before(r.first) && !at.After(r.last) }

func (r round) same(o round) bool {
	return r.first.Equal(o.first) && r.last.Equal(o.last) && r.keys == o.keys
}

func (r *round) add(key *[32]byte) {
	sum := blake3.Sum256(key[:]) // the hash keeps similar sets of keys from having the same sum
	for i := range sum {
		r.keys[i] ^= sum[i]
	}
}

// usage is the use of records by this process. A record of the last round keeps its last use as
// long as only records of that round are used: they are the most recent ones anyway. Once another
// record is used, usage first sets the last use of all records noted before.
type usage struct {
	mu    sync.Mutex
	read  bool
	last  round // round in usedFile; zero when there was none
	own   round // round of this process, once it has set a last use
	begun bool
	clock time.Time         // the latest last use
	seen  map[[32]byte]bool // noted records, and those whose last use was set
	noted [][32]byte        // in the order of use
}

// Use counts as use of a record. at is its last use.
func (s *Store) Use(key [32]byte, at time.Time) {
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

// Renew sets the last use of a record, whatever it is. It does nothing in a directory that the user
// cannot write.
func (s *Store) Renew(key [32]byte) { s.touch(records, key, "", s.stamp(key)) }

// stamp returns the new last use of a record.
func (s *Store) stamp(key [32]byte) time.Time {
	u := s.lockUsage()
	defer u.mu.Unlock()
	return s.next(u, key)
}

// Settle ends a round: it writes usedFile unless that has the same round already.
func (s *Store) Settle() {
	u := s.lockUsage()
	defer u.mu.Unlock()
	if !u.begun && len(u.noted) > 0 {
		var used round
		for i := range u.noted {
			used.add(&u.noted[i])
		}
		if used.keys != u.last.keys || !s.readRound().same(u.last) { // another process used other records last
			s.begin(u)
		}
	}
	if u.begun {
		u.last = u.own
		if s.readRound().last.IsZero() {
			s.writeRound(u.own)
		} else { // another process wrote usedFile meanwhile
			s.forget(usedFile)
			u.last = round{}
		}
	}
	u.begun, u.noted = false, nil
	clear(u.seen)
}

// StampUses sets the last use of noted records, before a caller sorts records by last use, or
// stores one.
func (s *Store) StampUses() {
	u := s.lockUsage()
	defer u.mu.Unlock()
	if len(u.noted) > 0 {
		s.begin(u)
	}
}

func (s *Store) lockUsage() *usage {
	u := &s.usage
	u.mu.Lock()
	if !u.read {
		u.read, u.last = true, s.readRound()
		u.clock, u.seen = u.last.last, make(map[[32]byte]bool)
	}
	return u
}

// next returns the next last use for a record. It is later than all others, whatever the clock
// says.
func (s *Store) next(u *usage, key [32]byte) time.Time {
	s.begin(u)
	now := s.now().Round(0).Truncate(time.Microsecond) // the precision of every system call
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

// begin starts a new round with the noted records, and removes usedFile.
func (s *Store) begin(u *usage) {
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

// readRound returns the round in usedFile. It returns zero when there is none or when its time lies
// in the future: then the clock was wrong, and the last uses are too.
func (s *Store) readRound() (r round) {
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

func (s *Store) writeRound(r round) {
	b := binary.LittleEndian.AppendUint64(nil, uint64(r.first.UnixNano()))
	b = binary.LittleEndian.AppendUint64(b, uint64(r.last.UnixNano()))
	s.note(usedFile, slices.Concat(b, r.keys[:]))
}
