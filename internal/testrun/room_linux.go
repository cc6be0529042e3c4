package testrun

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// memory is the directory in memory.
const memory = "/dev/shm"

const (
	leastRoom   = 2 << 30 // in bytes, of the file system
	leastMemory = 4 << 30 // in bytes, available to new programs
)

// roomy reports whether dir can contain files and programs, and there is memory for both.
func roomy(dir string) bool {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil || st.Type != unix.TMPFS_MAGIC || st.Flags&unix.ST_NOEXEC != 0 {
		return false
	}
	return st.Bavail*uint64(st.Bsize) >= leastRoom && available() >= leastMemory
}

// available returns the number of bytes of memory that the system has for new programs.
func available() (n uint64) {
	info, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(info)) {
		if _, err := fmt.Sscanf(line, "MemAvailable: %d kB", &n); err == nil {
			return n << 10
		}
	}
	return 0
}

// lock locks a directory of this user until unlock. ok is false while another process has the lock,
// and if the directory is gone.
func lock(dir string) (unlock func(), ok bool) {
	f, err := os.OpenFile(dir, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false
	}
	var own, now unix.Stat_t
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil || unix.Fstat(int(f.Fd()), &own) != nil ||
		int(own.Uid) != os.Geteuid() || unix.Lstat(dir, &now) != nil || now.Ino != own.Ino {
		f.Close()
		return nil, false
	}
	return func() { f.Close() }, true
}
