package shelf

import (
	"time"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// wholeFile was modified at the time since when what is used is whole: of records that
// were used last before it, blobs may be gone. Who prunes but a part of the shelf does
// not look for all those records, and who is killed does not come to it.
const wholeFile = "whole"

// wholeSince gives that time, zero when all is whole. It is read once: whoever prunes
// later does so under a reader, which finds out by a blob that is not there.
func (s *Shelf) wholeSince() time.Time {
	if p := s.since.Load(); p != nil {
		return *p
	}
	at := s.readWhole()
	s.since.Store(&at)
	return at
}

func (s *Shelf) readWhole() time.Time {
	var info rawfile.Info
	err := s.with(false, func(f *format) (err error) {
		info, err = f.Stat(wholeFile)
		return err
	})
	if err != nil || !info.Mode.IsRegular() || info.Modified.After(time.Now()) { // a clock was wrong
		return time.Time{}
	}
	return info.Modified
}

// setWhole says that only what was used from a time on is whole.
func (s *Shelf) setWhole(at time.Time) error {
	if now := time.Now(); at.After(now) {
		at = now
	}
	if !at.After(s.readWhole()) {
		return nil
	}
	f, err := s.create()
	if err != nil {
		return err
	}
	err = s.end(f, f.Touch(at), func(to *format, tmp *owndir.Dir) error { return tmp.Move(f.name, to.Dir, wholeFile) })
	s.since.Store(nil)
	return err
}

// forgetWhole says that of what was used before a time no record is left.
func (s *Shelf) forgetWhole(before time.Time) {
	if at := s.readWhole(); !at.IsZero() && !at.After(before) {
		_ = s.with(false, func(f *format) error { return f.Remove(wholeFile) })
		s.since.Store(nil)
	}
}
