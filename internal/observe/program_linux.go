//go:build amd64 || arm64

package observe

import (
	"bufio"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/bentobuild/bento/internal/action"
)

// Bounds of the kernel for the first line of a script.
const (
	maxInterpreters = 5
	maxFirstLine    = 256
)

// gitProgram is the name of git, which looks at all files of the workspace for the state of a checkout, as go build
// asks it for. What git reads is part of no key: neither the commit nor the files in .git are.
const gitProgram = "git"

// looksAtAll reports whether the caller is git, whose looks are not noted. Limits hold for git, too.
func (l *listener) looksAtAll(n *notification, c call) bool {
	if !l.gits || l.finders.seesGit || l.limits != nil || c.special == executes {
		return false
	}
	program, err := os.Readlink("/proc/" + strconv.FormatUint(uint64(n.pid), 10) + "/exe")
	return err == nil && path.Base(program) == gitProgram
}

// noteFirst notes the program that a process has executed before it got the filter.
func (l *listener) noteFirst(pid int, program string) {
	n := &notification{pid: uint32(pid)}
	l.noteProgram(n, l.named(n, cwd, program, usage{Use: action.Read, executes: true}), 0)
}

// noteProgram notes what the kernel itself reads when it executes a program, and reports whether that is denied.
func (l *listener) noteProgram(n *notification, f found, depth int) (denied bool) {
	if f.path == "" || f.absent || f.denied || depth > maxInterpreters {
		return f.denied
	}
	l.gits = l.gits || path.Base(f.path) == gitProgram
	if noNewPrivileges() && hasRights(f) {
		l.notes.unseen[f.path+" does not get the rights of its owner while it is observed"] = true
		l.notes.lacksRights = true
	}
	if !within(l.notes.root, f.path) || !f.mode.IsRegular() {
		return false
	}
	interpreter := firstLine(f.path)
	if interpreter == "" {
		return false
	}
	dir := "/"
	if interpreter[0] != '/' {
		if dir = l.dir(n, cwd); dir == "" {
			return false
		}
	}
	return l.noteProgram(n, l.use(dir, interpreter, usage{Use: action.Read, executes: true}), depth+1)
}

// firstLine returns the interpreter of a script, "" for other files.
func firstLine(name string) string {
	file, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, _ := bufio.NewReaderSize(file, maxFirstLine).ReadSlice('\n') // the file may end without one, and the kernel cuts
	line, is := strings.CutPrefix(string(text), "#!")
	if fields := strings.Fields(line); is && len(fields) > 0 {
		return fields[0]
	}
	return ""
}

// hasRights reports whether a program gets rights that its caller does not have: those of its owner, or
// capabilities of its file (capabilities(7)).
func hasRights(f found) bool {
	size, err := unix.Lgetxattr(f.path, "security.capability", nil)
	return f.mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 || err == nil && size > 0
}

// noNewPrivileges reports whether programs of other owners run without their rights: only root's filters allow them.
func noNewPrivileges() bool { return os.Geteuid() != 0 }
