package disk

import (
	"os"
	"sync"
	"time"

	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/state"
)

// Clock tells whether the times of a file can be relied on.
//
// File systems stamp a write with a clock that ticks, every few milliseconds or
// every two seconds, and possibly on another machine. A file that is written, read
// and written again within one tick has the same times after the second write. So
// what was read counts as known only if the last change was a tick or more before,
// or if the file system ticks whenever somebody has looked (Linux 6.13 and later).
type Clock struct {
	state *state.Dir
	once  sync.Once

	dev   uint64        // the file system that the rest was found out of
	exact bool          // each write that follows a look has a time of its own
	lists bool          // a change of what a directory holds gives it a new time
	each  bool          // each of them gives it a time of its own
	slack time.Duration // how much older than now a change must be
}

// NewClock gives a Clock that tries out the file system of dir, when it is first
// asked. Nil is none, so that what is said is careful.
func NewClock(dir *state.Dir) *Clock { return &Clock{state: dir} }

// FixedClock gives a Clock that knows what NewClock's would have to try out: whether
// each write on the file system dev has a time of its own, and else how long after a
// change its time can be relied on.
func FixedClock(dev uint64, exact bool, slack time.Duration) *Clock {
	c := &Clock{dev: dev, exact: exact, lists: true, each: exact, slack: slack}
	c.once.Do(func() {})
	return c
}

// Slack where nothing is known: the coarsest tick there is, that of FAT.
const (
	coarseTick = 2 * time.Second
	fineTick   = 20 * time.Millisecond // ten is the longest that Linux has
	someSkew   = 500 * time.Millisecond
)

// Settled tells whether a change after looked, in nanoseconds since 1970, is sure
// to have given the file other times than those of e, which somebody looked at.
func (c *Clock) Settled(e *Entry, looked int64) bool {
	c.once.Do(c.probe)
	if e.Dev != c.dev || c.dev == 0 {
		return e.LongAgo(looked)
	}
	return c.exact || e.changed() < looked-int64(c.slack)
}

// LongAgo is Settled where nothing is known of the file system.
func (e *Entry) LongAgo(looked int64) bool { return e.changed() < looked-int64(coarseTick+someSkew) }

// changed is when e was, as far as it can tell.
func (e *Entry) changed() int64 {
	if e.Ctime == 0 {
		return e.Mtime
	}
	return e.Ctime
}

// Lists is Settled for the times of a directory, which tell when a name comes into
// it or leaves it.
func (c *Clock) Lists(s Stamp, looked int64) bool {
	c.once.Do(c.probe)
	return c.lists && c.dev != 0 && s.Dev == c.dev && (c.each || s.Ctime < looked-int64(c.slack))
}

// probe tries out how files and directories get their times.
func (c *Clock) probe() {
	c.dev, c.exact, c.lists, c.each, c.slack = 0, false, false, false, 0
	if c.state == nil {
		return
	}
	dir, err := c.state.Temp() // which others clean up when this process is killed
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

// listsExactly tells whether each of the ways to change a directory gives it a time
// of its own.
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

// probeFile writes to a file some times in a row and looks at its times.
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

// judge draws the conclusions from the times that writes in a row had, and from
// how far they were behind the system's clock.
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
