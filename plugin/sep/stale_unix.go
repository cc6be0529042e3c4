//go:build unix

package sep

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// holdDir locks a directory as long as this process lives, or the file is open.
func holdDir(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// staleAge is how old a directory without a holder is at least: a new one has none yet.
const staleAge = time.Minute

// removeStale removes the directories of sockets that processes of this user have left in parent since
// they were killed. It looks at no more than 1,000 names.
func removeStale(parent string) {
	f, err := os.OpenFile(parent, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	names, _ := f.Readdirnames(1000)
	for _, name := range names {
		if !strings.HasPrefix(name, dirPrefix) {
			continue
		}
		dir := filepath.Join(parent, name)
		var st unix.Stat_t
		if unix.Lstat(dir, &st) != nil || int(st.Uid) != os.Geteuid() || time.Since(time.Unix(st.Mtim.Unix())) < staleAge {
			continue
		}
		if held, err := holdDir(dir); err == nil {
			_ = os.Remove(filepath.Join(dir, socketName))
			_ = os.Remove(dir) // fails if the directory has other files
			held.Close()
		}
	}
}
