//go:build amd64 || arm64

package observe

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxPath is the longest path of the kernel in bytes, with the byte 0 at its end.
const maxPath = unix.PathMax

const pageSize = 4096 // or more: the memory at an address is readable to the end of its page

// text returns the string at an address of a process.
func (l *listener) text(pid uint32, address uint64) (string, bool) {
	n := l.memory(pid, address, l.buf)
	end := bytes.IndexByte(l.buf[:n], 0)
	if end < 0 {
		return "", false
	}
	return string(l.buf[:end]), true
}

// memory reads the memory of a process into buf, up to the first page that cannot be read.
func (l *listener) memory(pid uint32, address uint64, buf []byte) int {
	first := min(len(buf), pageSize-int(address%pageSize))
	remote := []unix.RemoteIovec{{Base: uintptr(address), Len: first}}
	if rest := len(buf) - first; rest > 0 {
		remote = append(remote, unix.RemoteIovec{Base: uintptr(address) + uintptr(first), Len: rest})
	}
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(len(buf))
	n, err := unix.ProcessVMReadv(int(pid), local, remote, 0)
	if err == unix.EPERM {
		l.notes.unseen["a program keeps its memory from being read"] = true
	}
	return max(n, 0)
}

// found is what lies at a path.
type found struct {
	path   string // without links in its directories; "" if it was noted before or leads nowhere
	mode   fs.FileMode
	absent bool
	lost   bool // its directory is missing, too
	denied bool // the limits deny the call
	identity
}

// paths resolves links as the kernel does, and remembers directories.
type paths struct {
	dirs map[string]string // from the text before the last slash to the directory without links
}

func newPaths() *paths { return &paths{dirs: make(map[string]string)} }

// forget forgets everything, since directories or links have changed.
func (p *paths) forget() {
	if len(p.dirs) > 0 {
		p.dirs = make(map[string]string)
	}
}

// maxDirs bounds the memory for directories.
const maxDirs = 1 << 16

const maxLinks = 40 // as in the kernel

// find resolves name in dir. It calls link for every link on the way, whose content decides where the path leads.
func (p *paths) find(dir, name string, keep bool, link func(string)) found {
	full := name
	if name == "" {
		full = dir
	} else if name[0] != '/' {
		full = dir + "/" + name
	}
	if devices(full) {
		return found{}
	}
	links := 0
	for {
		head, last := path.Split(strings.TrimRight(full, "/"))
		if last == "" {
			return found{path: "/", mode: fs.ModeDir}
		}
		dir := p.directory(head, link, &links)
		real := dir.path
		switch {
		case real == "":
			return found{}
		case !dir.mode.IsDir() && (last == "." || strings.Contains(full, "/..")):
			return found{path: real, absent: dir.absent, lost: true} // what it leads to depends on this directory
		case !dir.mode.IsDir():
			return found{path: path.Join(real, last), absent: true, lost: true}
		}
		switch last {
		case ".":
			return look(real)
		case "..":
			return look(path.Dir(real))
		}
		f := look(path.Join(real, last))
		if f.mode&fs.ModeSymlink == 0 || keep && !strings.HasSuffix(full, "/") {
			return f
		}
		target, err := os.Readlink(f.path)
		if links++; err != nil || links > maxLinks {
			return found{}
		}
		link(f.path)
		if full = target; target == "" || target[0] != '/' {
			full = real + "/" + target
		}
	}
}

// devices reports whether a path is in one of the kernel's own file systems, whose files are no files.
func devices(full string) bool {
	return strings.HasPrefix(full, "/proc/") || strings.HasPrefix(full, "/sys/") || strings.HasPrefix(full, "/dev/") && !strings.HasPrefix(full+"/", "/dev/shm/")
}

// throughProcess replaces the beginning of a path that leads through a directory or a file that a process uses,
// such as /proc/self/cwd or /dev/fd/3. pid is the caller.
func throughProcess(pid uint32, name string) string {
	if rest, ok := strings.CutPrefix(name, "/dev/fd/"); ok {
		name = "/proc/self/fd/" + rest
	}
	parts := strings.SplitN(name, "/", 6)
	if len(parts) < 4 || parts[1] != "proc" {
		return name
	}
	if parts[2] == "self" || parts[2] == "thread-self" {
		parts[2] = strconv.FormatUint(uint64(pid), 10)
	}
	end := 4
	if parts[3] == "fd" {
		end = min(5, len(parts))
	}
	target, err := os.Readlink(strings.Join(parts[:end], "/"))
	if err != nil || target[0] != '/' { // a pipe, for example
		return name
	}
	return target + "/" + strings.Join(parts[end:], "/")
}

// directory returns what the text head before a last name leads to: a directory, unless the path fails.
func (p *paths) directory(head string, link func(string), links *int) found {
	if real, ok := p.dirs[head]; ok {
		return found{path: real, mode: fs.ModeDir}
	}
	trimmed := strings.TrimRight(head, "/")
	if trimmed == "" {
		return found{path: "/", mode: fs.ModeDir}
	}
	f := p.find("", trimmed, false, func(at string) { *links++; link(at) })
	if *links > maxLinks {
		return found{}
	}
	if f.mode.IsDir() {
		if len(p.dirs) >= maxDirs {
			p.forget()
		}
		p.dirs[head] = f.path
	}
	return f
}

// look returns what lies at a path whose directories are no links.
func look(name string) found {
	fi, err := os.Lstat(name)
	if err != nil {
		return found{path: name, absent: true}
	}
	f := found{path: name, mode: fi.Mode()}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		f.identity = identity{inode: st.Ino, size: st.Size, changed: st.Ctim.Nano(), dir: fi.IsDir()}
	}
	return f
}
