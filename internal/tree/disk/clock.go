package disk

import (
	"encoding/binary"
	"os"
	"strings"
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
// later). The state remembers a file system of the second kind until the machine boots again.
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
	if c.state == nil || c.recall() {
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
	stamps := c.probeFile(f)
	c.lists = local(int(f.Fd()))
	if !c.lists || !c.exact {
		return
	}
	changes, each := listsExactly(dir)
	if c.each = each; each && fine(stamps) && fine(changes) {
		c.remember()
	}
}

// finest is less than any tick of Linux.
const finest = 900 * time.Microsecond

// fine reports whether consecutive times are too close for a clock that ticks: then the file system
// has made them different, and not the duration of the calls.
func fine(stamps []int64) bool {
	for i, s := range stamps {
		if i > 0 && (s <= stamps[i-1] || s-stamps[i-1] > int64(finest)) {
			return false
		}
	}
	return len(stamps) > 1
}

// The state file of a file system whose every change has its own time: the id of this boot of the
// machine, which a copy from elsewhere does not have, and the device.
const (
	clockFile    = "clock"
	clockVersion = 1
)

// bootID returns the id of this boot, "" if the system has none.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || len(id) > 64 {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// recall takes the results from the state.
func (c *Clock) recall() bool {
	data, err := c.state.Load(clockFile, clockVersion)
	if err != nil || len(data) <= 8 || string(data[8:]) != bootID() {
		return false
	}
	c.dev, c.exact, c.lists, c.each = binary.LittleEndian.Uint64(data), true, true, true
	return true
}

func (c *Clock) remember() {
	if id := bootID(); id != "" {
		_ = c.state.Store(clockFile, clockVersion, append(binary.LittleEndian.AppendUint64(nil, c.dev), id...))
	}
}

// listsExactly reports whether every kind of change of a directory sets a different time, and
// returns the times.
func listsExactly(dir *owndir.Temp) (changes []int64, each bool) {
	sub, err := dir.Enter("lists", true)
	if err != nil {
		return nil, false
	}
	defer sub.Close()
	raw, err := sub.Again()
	if err != nil {
		return nil, false
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
			return nil, false
		}
		fi, err := list.Stat()
		if err != nil {
			return nil, false
		}
		var e Entry
		e.fill(fi)
		if e.Ctime <= last || e.Mtime != e.Ctime {
			return nil, false
		}
		last = e.Ctime
		changes = append(changes, last)
	}
	return changes, true
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

// probeFile writes to a file several times, compares its times and returns them.
func (c *Clock) probeFile(f *os.File) (stamps []int64) {
	var e Entry
	var behind time.Duration
	for range 6 {
		if _, err := f.Write([]byte{0}); err != nil {
			return nil
		}
		fi, err := f.Stat()
		if err != nil {
			return nil
		}
		e.fill(fi)
		stamps = append(stamps, e.Ctime)
		behind = max(behind, time.Duration(time.Now().UnixNano()-e.Ctime))
	}
	c.judge(e.Dev, stamps, behind)
	return stamps
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
