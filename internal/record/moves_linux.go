package record

import (
	"encoding/binary"
	"math"
	"os"
	"path"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// maxWatches is the largest number of watches of one run: all programs of a user share a limit of the
// system.
const maxWatches = 2048

// moveSystem is one inotify descriptor. Watches stay until it is closed: the next task mostly reads
// the same directories, and a watch stays with its directory when that is moved.
type moveSystem struct {
	mu      sync.Mutex
	fd      int
	file    *os.File // of fd
	opened  bool
	broken  bool             // the system has no inotify descriptor for bento
	paths   map[string]watch // by directory: the last call that watched it
	last    map[int32]int    // by watch: the time of the last move of its directory
	lost    int              // the time of the last loss of events
	counter int              // the number of events, which is the time here
}

// watch is the watch of a path at a time.
type watch struct {
	id int32
	at int // in units of counter
}

// spanState has the watches of the directories of a span, and the time since when moves matter.
type spanState struct {
	of    *moveSystem
	since int
	dirs  map[int32]string
	order []int32
}

func (s *moveSystem) begin(root string, first, rest []string) spanState {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := spanState{of: s, dirs: make(map[int32]string, len(first)+len(rest))}
	if !s.open() {
		return p
	}
	s.drain()
	for _, dir := range first {
		s.add(&p, root, dir, maxWatches)
	}
	for _, dir := range rest {
		s.add(&p, root, dir, maxWatches/2)
	}
	s.drain()
	p.since = s.counter
	return p
}

// open opens the descriptor on its first call, and reports whether there is one. The caller holds mu.
func (s *moveSystem) open() bool {
	if !s.opened {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		s.fd, s.opened, s.broken = fd, true, err != nil
		s.paths, s.last = make(map[string]watch), make(map[int32]int)
		if err == nil {
			s.file = os.NewFile(uintptr(fd), "inotify")
		}
	}
	return !s.broken
}

func (s *moveSystem) hold() *os.File {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open() {
		return nil
	}
	return s.file
}

// add watches one directory, unless there are already most watches. The watch identifies the inode of
// the directory.
func (s *moveSystem) add(p *spanState, root, dir string, most int) {
	known, had := s.paths[dir]
	if len(s.last) >= most && !had {
		return
	}
	if !s.stays(dir) {
		const mask = unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW
		wd, err := unix.InotifyAddWatch(s.fd, filepath.Join(root, filepath.FromSlash(dir)), mask)
		if err != nil || wd > math.MaxInt32 {
			s.paths[dir] = watch{id: -1}
			return
		}
		known = watch{int32(wd), s.counter}
		s.paths[dir] = known
	}
	if _, watched := s.last[known.id]; !watched {
		s.last[known.id] = 0
	}
	if _, twice := p.dirs[known.id]; !twice {
		p.dirs[known.id] = dir
		p.order = append(p.order, known.id)
	}
}

// stays reports whether a directory still has the last watch of its path: neither it nor a directory
// around it was moved or removed since. Most tasks read the same directories, and a system call for
// each would take longer than all other steps before a command.
func (s *moveSystem) stays(dir string) bool {
	for {
		w, had := s.paths[dir]
		moved, watched := s.last[w.id]
		if !had || !watched || moved > w.at || s.lost > w.at {
			return false
		}
		if dir == "." {
			return true
		}
		dir = path.Dir(dir)
	}
}

// drain reads the events of the system. The system reports a move before the call that moved returns,
// so no event can be missing.
func (s *moveSystem) drain() {
	var buf [4096]byte
	for {
		n, err := unix.Read(s.fd, buf[:])
		if err == unix.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return
		}
		for rest := buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			s.note(int32(binary.NativeEndian.Uint32(rest)), binary.NativeEndian.Uint32(rest[4:]))
			size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(rest[12:]))
			rest = rest[min(size, len(rest)):]
		}
	}
}

// note handles one event.
func (s *moveSystem) note(wd int32, mask uint32) {
	s.counter++
	switch {
	case mask&unix.IN_Q_OVERFLOW != 0:
		s.lost = s.counter
	case mask&unix.IN_IGNORED != 0:
		delete(s.last, wd) // the directory was removed, and its watch is not used again
	default:
		s.last[wd] = s.counter
	}
}

func (p *spanState) moved() string {
	s := p.of
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken || !s.opened || len(p.order) == 0 {
		return ""
	}
	s.drain()
	for _, wd := range p.order {
		if max(s.last[wd], s.lost) > p.since {
			return p.dirs[wd]
		}
	}
	return ""
}

func (s *moveSystem) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened && !s.broken {
		s.file.Close()
	}
	s.opened, s.broken = true, true
}
