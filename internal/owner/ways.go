package owner

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Ways finds whether other users can replace the file at a path. It caches directories, so one Ways
// serves one check of many paths, in one goroutine.
type Ways struct {
	trusted Trusted
	seen    map[string]step // by path, free of links
	groups  map[uint32]bool // by number: all members are trusted
}

// Exposure is an element of a path that other users can change.
type Exposure struct {
	Path string // the element, free of links
	Why  string // a sentence without its full stop: "everyone may write to /srv/bin"
	Fix  string // the command that prevents it
}

// Ways returns a new Ways that trusts the same users.
func (t Trusted) Ways() *Ways {
	return &Ways{trusted: t, seen: make(map[string]step), groups: make(map[uint32]bool)}
}

// maxLinks is the largest number of links on a path, as in the kernel.
const maxLinks = 40

// step is the file at a path.
type step struct {
	link string    // target; "" for no link
	weak *Exposure // nil: no other user can change it
}

// To follows an absolute path as the kernel does: it checks the file, every directory on the way, and every link with
// the directories on its way. It returns the first element that an untrusted user owns, that every user may write, or
// that an untrusted group may write; nil when there is none. A group is untrusted if it may have an untrusted member,
// except root's and the user's primary group. In a directory with the sticky bit, where only owners remove files, it
// checks only the entry itself. It returns an error when an element cannot be read. Where files have no owners it
// returns nil.
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
			at = filepath.Dir(at) // free of links, so the kernel continues there too
		} else {
			at = filepath.Join(at, rest[0])
		}
		rest = rest[1:]
	}
}

// split returns the elements of a path without empty ones and ".".
func split(path string) []string {
	var parts []string
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if part != "" && part != "." {
			parts = append(parts, part)
		}
	}
	return parts
}

// look returns the file at a path whose parents are free of links.
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

// judge returns the way in which other users can change path, nil if they cannot.
func (w *Ways) judge(path string, fi fs.FileInfo) *Exposure {
	word := ShellWord(path)
	if !w.trusted.Trusts(fi) {
		return &Exposure{path, fmt.Sprintf("%s belongs to %s", path, Name(fi)), "chown root " + word}
	}
	mode := fi.Mode()
	if mode&fs.ModeSymlink != 0 || mode.IsDir() && mode&fs.ModeSticky != 0 {
		return nil // a link has no mode; a sticky directory protects its entries
	}
	if mode.Perm()&0o002 != 0 {
		return &Exposure{path, "everyone may write to " + path, "chmod o-w " + word}
	}
	if mode.Perm()&0o020 == 0 {
		return nil // true with an access control list, too: the group bits show its mask
	}
	if gid, ok := gidOf(fi); ok && !w.ownGroup(gid) {
		return &Exposure{path, fmt.Sprintf("%s may write to %s", groupName(gid), path), "chmod g-w " + word}
	}
	if user, option := w.listed(path); user != "" {
		return &Exposure{path, fmt.Sprintf("%s may write to %s by its access control list", user, path), "setfacl " + option + " " + word}
	}
	return nil
}

// ownGroup reports whether a group is trusted: root's, the user's primary one, which contains only
// the user by the convention of most systems, and one whose members are all trusted. It looks up
// the members only of a group that may write.
func (w *Ways) ownGroup(gid uint32) bool {
	if gid == 0 || int(gid) == os.Getegid() {
		return true
	}
	own, known := w.groups[gid]
	if !known {
		own = w.trusted.harmless("/etc", "/run", gid)
		w.groups[gid] = own
	}
	return own
}

// ShellWord returns a path quoted as one word of a shell.
func ShellWord(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%:=,") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
