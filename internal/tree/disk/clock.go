package disk

import (
	"os"
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/state"
)

// Clock reports whether the times of a file identify its content.
//
// File systems stamp a write with a clock that ticks, every few milliseconds or every two seconds,
// and possibly on another machine. A file that is written, read and written again within one tick has
// the same times after the second write. So the content is known only if the last change was at least
// a tick before the read, or if the file system advances its clock after every stat (Linux 6.13 and
// later). It takes a millisecond to find out.
type Clock struct {
	state *state.Dir
	once  sync.Once

	dev   uint64        // the file system of the results
	exact bool          // a write after a stat always gets a new time
	lists bool          // a change of a directory's entries always sets a new time
	each  bool          // each such change sets a different time
	slack time.Duration // least age of a change
}

// NewClock returns a Clock that tests the file system of dir on first use. A nil state does no
// test, and the Clock assumes the coarsest clock.
func NewClock(dir *state.Dir) *Clock { return &Clock{state: dir} }

// FixedClock returns a Clock with fixed results: whether each write on the file system dev has its
// own time, and otherwise the smallest age of a reliable time.
func FixedClock(dev uint64, exact bool, slack time.Duration) *Clock {
	c := &Clock{dev: dev, exact: exact, lists: true, each: exact, slack: slack}
	c.once.Do(func() {})
	return c
}

// Slack for an unknown file system: the coarsest clock, that of FAT.
const (
	coarseTick = 2 * time.Second
	fineTick   = 20 * time.Millisecond // Linux has at most ten
	someSkew   = 500 * time.Millisecond
)

// Settled reports whether any change after looked, in nanoseconds since 1970, has given the file
// other times than those of e.
func (c *Clock) Settled(e *Entry, looked int64) bool {
	c.once.Do(c.probe)
	if e.Dev != c.dev || c.dev == 0 {
		return e.LongAgo(looked)
	}
	return c.exact || e.changed() < looked-int64(c.slack)
}

// LongAgo is Settled for an unknown file system.
func (e *Entry) LongAgo(looked int64) bool { return e.changed() < looked-int64(coarseTick+someSkew) }

// changed returns the time of the last change of e.
func (e *Entry) changed() int64 {
	if e.Ctime == 0 {
		return e.Mtime
	}
	return e.Ctime
}

// Lists is Settled for a directory, whose times change when an entry is added or removed.
func (c *Clock) Lists(s Stamp, looked int64) bool {
	c.once.Do(c.probe)
	return c.lists && c.dev != 0 && s.Dev == c.dev && (c.each || s.Ctime < looked-int64(c.slack))
}

// probe tests how files and directories get their times.
func (c *Clock) probe() {
	c.dev, c.exact, c.lists, c.each, c.slack = 0, false, false, false, 0
	if c.state == nil {
		return
	}
	dir, err := c.state.Temp() // other processes remove it if this one is killed
	if err != nil {
		return
	}
	defer dir.Remove()
	raw, err := dir.Create("clock", 0o666)
	if err != nil {
		return
	}
	f := raw.Std()
	defer f.Close()
	c.probeFile(f)
	c.lists = local(int(f.Fd()))
	c.each = c.lists && c.exact && listsExactly(dir)
}

// listsExactly reports whether every kind of change of a directory sets a different time.
func listsExactly(dir *owndir.Temp) bool {
	sub, err := dir.Enter("lists", true)
	if err != nil {
		return false
	}
	defer sub.Close()
	raw, err := sub.Again()
	if err != nil {
		return false
	}
	list := raw.Std()
	defer list.Close()
	last := int64(0)
	for _, change := range []func() error{
		func() error { return create(sub, "1") },
		func() error { return sub.Move("1", sub, "2") },
		func() error { return sub.Remove("2") },
		func() error { return makeDir(sub, "1") },
		func() error { return sub.RemoveEmpty("1") },
	} {
		if err := change(); err != nil {
			return false
		}
		fi, err := list.Stat()
		if err != nil {
			return false
		}
		var e Entry
		e.fill(fi)
		if e.Ctime <= last || e.Mtime != e.Ctime {
			return false
		}
		last = e.Ctime
	}
	return true
}

func create(dir *owndir.Dir, name string) error {
	f, err := dir.Create(name, 0o666)
	if err != nil {
		return err
	}
	return f.Close()
}

func makeDir(dir *owndir.Dir, name string) error {
	sub, err := dir.Enter(name, true)
	if err != nil {
		return err
	}
	sub.Close()
	return nil
}

// probeFile writes to a file several times and compares its times.
func (c *Clock) probeFile(f *os.File) {
	var e Entry
	var stamps []int64
	var behind time.Duration
	for range 6 {
		if _, err := f.Write([]byte{0}); err != nil {
			return
		}
		fi, err := f.Stat()
		if err != nil {
			return
		}
		e.fill(fi)
		stamps = append(stamps, e.Ctime)
		behind = max(behind, time.Duration(time.Now().UnixNano()-e.Ctime))
	}
	c.judge(e.Dev, stamps, behind)
}

// judge derives the results from the times of consecutive writes, and from how far they were behind
// the system's clock.
func (c *Clock) judge(dev uint64, stamps []int64, behind time.Duration) {
	c.dev, c.exact = dev, true
	tick := coarseTick
	for i, s := range stamps {
		if i > 0 && s <= stamps[i-1] {
			c.exact = false
		}
		if time.Duration(s)%time.Second != 0 {
			tick = fineTick
		}
	}
	c.slack = tick + max(behind, 0)
}
