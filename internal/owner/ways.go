package owner

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Ways finds out whether others could have put another file at a path. What it has
// seen of directories it keeps, so one Ways is for one look at many paths, and for one
// goroutine.
type Ways struct {
	trusted Trusted
	seen    map[string]step // by path, free of links
}

// Exposure is a component of a path that others may change.
type Exposure struct {
	Path string // the component, free of links
	Why  string // a sentence without its full stop: "anybody may write to /srv/bin"
	Mend string // the command that mends it
}

// Ways returns a new Ways that trusts the same users.
func (t Trusted) Ways() *Ways { return &Ways{trusted: t, seen: make(map[string]step)} }

// maxLinks bounds how many links a path may lead through, as the kernel does.
const maxLinks = 40

// step is what stands at a path.
type step struct {
	link string    // where it leads, "" for what is no link
	weak *Exposure // nil: nobody else may change it
}

// To looks at an absolute path as the kernel resolves it: at the file, at every
// directory on the way, and at every link with the directories on the way to it. It
// returns the first component that is writable by everybody, or by a group that is
// neither root's nor the user's primary one, or that belongs to a user who is not
// trusted; nil when there is none. Of a directory with the sticky bit, from which only
// owners take files, what stands in it counts alone. The error says that something
// cannot be looked at. Where files have no owners, nobody else may change any.
func (w *Ways) To(path string) (*Exposure, error) {
	if !hasOwners {
		return nil, nil
	}
	links := 0
	at, rest := "/", split(path)
	for {
		s, err := w.look(at)
		switch {
		case err != nil:
			return nil, err
		case s.weak != nil:
			return s.weak, nil
		case s.link != "":
			if links++; links > maxLinks {
				return nil, fmt.Errorf("%q leads through more than %d links", path, maxLinks)
			}
			rest = append(split(s.link), rest...)
			if at = filepath.Dir(at); filepath.IsAbs(s.link) {
				at = "/"
			}
			continue
		case len(rest) == 0:
			return nil, nil
		}
		if rest[0] == ".." {
			at = filepath.Dir(at) // free of links, so this is where the kernel goes
		} else {
			at = filepath.Join(at, rest[0])
		}
		rest = rest[1:]
	}
}

// split returns the components of a path. Those that lead nowhere are left out.
func split(path string) []string {
	var parts []string
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}

// look returns what stands at a path free of links above it.
func (w *Ways) look(path string) (step, error) {
	if s, ok := w.seen[path]; ok {
		return s, nil
	}
	fi, err := os.Lstat(path)
	if err != nil {
		return step{}, err
	}
	s := step{weak: w.judge(path, fi)}
	if fi.Mode()&fs.ModeSymlink != 0 {
		if s.link, err = os.Readlink(path); err != nil {
			return step{}, err
		}
	}
	w.seen[path] = s
	return s, nil
}

// judge returns how others may change what stands at path, nil when they may not.
func (w *Ways) judge(path string, fi fs.FileInfo) *Exposure {
	word := shellWord(path)
	if !w.trusted.Trusts(fi) {
		return &Exposure{path, fmt.Sprintf("%s belongs to %s", path, Name(fi)), "chown root " + word}
	}
	mode := fi.Mode()
	if mode&fs.ModeSymlink != 0 || mode.IsDir() && mode&fs.ModeSticky != 0 {
		return nil // a link has no mode; a sticky directory keeps what stands in it
	}
	if mode.Perm()&0o002 != 0 {
		return &Exposure{path, "anybody may write to " + path, "chmod o-w " + word}
	}
	if mode.Perm()&0o020 == 0 {
		return nil // also of an access control list: its mask is what is shown as the group's
	}
	if gid, ok := gidOf(fi); ok && !ownGroup(gid) {
		return &Exposure{path, fmt.Sprintf("%s may write to %s", groupName(gid), path), "chmod g-w " + word}
	}
	if who, option := w.listed(path); who != "" {
		return &Exposure{path, fmt.Sprintf("%s may write to %s by its access control list", who, path), "setfacl " + option + " " + word}
	}
	return nil
}

// ownGroup reports whether a group's members count as the user: root's group, and the
// user's primary one, which by the convention of most systems is the user's alone.
func ownGroup(gid uint32) bool { return gid == 0 || int(gid) == os.Getegid() }

// shellWord writes a path as one word of a shell.
func shellWord(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%:=,") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
