package cache

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sync"
	"time"
)

// usedFile contains the last use of records that were used after their modification time: usedMagic, then
// for each record the key and the time in 8 bytes (little endian), the latest last. All records that one
// process used have the same time. Without the file the records are ordered by modification time, which a
// use renews if it is hours old.
const (
	usedFile  = "used"
	usedMagic = "bentou\x00\x02"
	usedSize  = 40 // bytes of a use
)

// A usedFile with more than manyUses, and more than twice the uses of the process that writes it, is cut
// to half. The modification times of the records get the cut uses. A usedFile never has more than maxUses.
const (
	manyUses = 16 << 10
	maxUses  = 1 << 18
)

// use is the last use of a record.
type use struct {
	key [32]byte
	at  int64 // in nanoseconds since 1970
}

func (u *use) compare(o *use) int {
	return cmp.Or(cmp.Compare(u.at, o.at), bytes.Compare(u.key[:], o.key[:]))
}

// usage is the use of records by this process.
type usage struct {
	mu   sync.Mutex
	keys [][32]byte // some perhaps twice
}

// Use notes a use of a record.
func (s *Disk) Use(key Key) {
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	s.usage.keys = append(s.usage.keys, key)
}

// renew sets the modification time of a record, which is a use of it. It does nothing in a directory that
// the user cannot write.
func (s *Disk) renew(key [32]byte) { s.touch(records, key, "", s.stamp(key)) }

// stamp notes a use of a record and returns its new modification time.
func (s *Disk) stamp(key [32]byte) time.Time {
	s.Use(key)
	return s.now()
}

// Settle writes the uses of this process and forgets them. Call it at the end of a run. The lookups of a
// killed process are not written.
func (s *Disk) Settle() {
	s.WriteUses()
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	s.usage.keys = nil
}

// WriteUses writes the uses of this process, as later than those of all others, unless usedFile already
// has the same records as the latest. If two processes write at the same time, one may lose its uses. That
// affects only the order of eviction: other processes that prune the store evict the used records last.
func (s *Disk) WriteUses() {
	s.usage.mu.Lock()
	own := slices.Clone(s.usage.keys)
	s.usage.mu.Unlock()
	if len(own) == 0 {
		return
	}
	slices.SortFunc(own, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	own = slices.Compact(own)
	all, now := s.readUses(), s.now().UnixNano()
	if len(all) > 0 {
		now = max(now, all[len(all)-1].at+1)
	}
	if slices.EqualFunc(latest(all), own, func(u use, key [32]byte) bool { return u.key == key }) {
		return
	}
	s.writeUses(s.cut(merge(all, own, now), 2*len(own)))
}

// latest returns the uses with the latest time; all is sorted.
func latest(all []use) []use {
	i := len(all)
	for i > 0 && all[i-1].at == all[len(all)-1].at {
		i--
	}
	return all[i:]
}

// merge replaces the uses of sorted keys by later ones.
func merge(all []use, keys [][32]byte, at int64) []use {
	all = slices.DeleteFunc(all, func(u use) bool {
		_, found := slices.BinarySearchFunc(keys, u.key, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
		return found
	})
	for _, key := range keys {
		all = append(all, use{key, at})
	}
	return all
}

// cut returns the later half of too many uses. The modification times of the other records get
// their uses.
func (s *Disk) cut(all []use, most int) []use {
	most = min(max(most, manyUses), maxUses)
	if len(all) <= most {
		return all
	}
	kept := all[len(all)-most/2:]
	for _, u := range all[:len(all)-len(kept)] {
		at := time.Unix(0, u.at)
		if modified, ok := s.recordModified(u.key); ok && modified.Before(at) {
			s.touch(records, u.key, "", at)
		}
	}
	return kept
}

// readUses returns the sorted uses in usedFile. It ignores times in the future, which a wrong clock has
// written.
func (s *Disk) readUses() []use {
	b, _ := s.noted(usedFile, len(usedMagic)+usedSize*maxUses)
	b, ok := bytes.CutPrefix(b, []byte(usedMagic))
	if !ok {
		return nil
	}
	future := s.now().Add(clockSkew).UnixNano()
	all := make([]use, 0, len(b)/usedSize)
	for ; len(b) >= usedSize; b = b[usedSize:] {
		if u := (use{[32]byte(b), int64(binary.LittleEndian.Uint64(b[32:]))}); u.at <= future {
			all = append(all, u)
		}
	}
	if compare := func(a, b use) int { return a.compare(&b) }; !slices.IsSortedFunc(all, compare) {
		slices.SortFunc(all, compare)
	}
	return all
}

func (s *Disk) writeUses(all []use) {
	b := append(make([]byte, 0, len(usedMagic)+usedSize*len(all)), usedMagic...)
	for i := range all {
		b = append(b, all[i].key[:]...)
		b = binary.LittleEndian.AppendUint64(b, uint64(all[i].at))
	}
	s.note(usedFile, b)
}

// lastUses returns the last uses in usedFile by key.
func (s *Disk) lastUses() map[[32]byte]time.Time {
	uses := make(map[[32]byte]time.Time)
	for _, u := range s.readUses() {
		uses[u.key] = time.Unix(0, u.at)
	}
	return uses
}
