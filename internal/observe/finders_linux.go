//go:build amd64 || arm64

package observe

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/action"
)

// maxWords bounds the arguments of a program that are read. One with more is no finder.
const maxWords = 64

// finders are the processes of a command that look for the members of a workspace.
type finders struct {
	overlook *action.Overlook  // nil for none
	seesGit  bool              // see action.Overlook
	dirs     map[uint32]string // where each works, by process
}

func newFinders(o *action.Overlook) finders {
	if o == nil {
		return finders{}
	}
	fs := finders{dirs: make(map[uint32]string), seesGit: o.SeesGit}
	if o.Runs != nil {
		fs.overlook = o
	}
	return fs
}

// noteFinder notes whether a process becomes a finder, or stays one, by executing a file. A file of the workspace is the
// project's own code, unless it is one of the programs, such as a wrapper.
func (l *listener) noteFinder(n *notification, c call, f found) {
	fs := &l.finders
	if fs.overlook == nil || f.path == "" || f.absent {
		return
	}
	file, _ := l.text(n.pid, n.args[c.operands[0].path])
	words, all := l.words(n.pid, n.args[c.operands[0].path+1])
	if was := fs.dirs[n.pid] != ""; !(all && fs.becomes(n.pid, file, words)) && was && within(l.notes.root, f.path) {
		delete(fs.dirs, n.pid)
	}
}

// becomes notes that a process is a finder, if a file that it executes with these words makes it one.
func (fs *finders) becomes(pid uint32, file string, words []string) bool {
	if fs.overlook == nil || !fs.overlook.Runs(file, words) {
		return false
	}
	fs.dirs[pid], _ = os.Readlink("/proc/" + strconv.FormatUint(uint64(pid), 10) + "/cwd")
	return true
}

// words returns the arguments of a program; all is false if there are too many, or they cannot be read.
func (l *listener) words(pid uint32, address uint64) (list []string, all bool) {
	for ; len(list) < maxWords; address += 8 {
		at := l.word(pid, address)
		if at == 0 {
			return list, len(list) > 0
		}
		word, ok := l.text(pid, at)
		if !ok {
			return nil, false
		}
		list = append(list, word)
	}
	return nil, false
}

// dirOf returns the directory in which the finder works that makes a call which changes nothing; "" for another caller, a
// thread or a process.
func (fs *finders) dirOf(caller uint32, u usage) string {
	if len(fs.dirs) == 0 || u.executes || u.Use&(action.Write|action.Remove) != 0 {
		return ""
	}
	if dir, is := fs.dirs[caller]; is {
		return dir
	}
	thread := strconv.FormatUint(uint64(caller), 10)
	for process, dir := range fs.dirs {
		if unix.Access("/proc/"+strconv.FormatUint(uint64(process), 10)+"/task/"+thread, unix.F_OK) == nil {
			return dir
		}
	}
	return ""
}

// overlooks reports whether a finder has made this use of what was found only to find the members of the workspace.
func (fs *finders) overlooks(f found, u usage) bool {
	return u.finder != "" && f.path != "" && fs.overlook.At(u.finder, action.UsedFile{Path: f.path, Use: u.Use, Absent: f.absent}, f.mode.IsDir())
}
