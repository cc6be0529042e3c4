package wasm

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/bentobuild/bento/internal/rawfile"
)

// place is the entry that a name leads to: base in the open directory dir. It may be missing.
type place struct {
	dir  *rawfile.File
	base string
	at   string // from the root of the jail, without links
	jail *jail
}

// enter opens the directory name in dir, and leads to it.
func (p *place) enter(name, at string) error {
	if name == "." {
		return nil
	}
	next, err := p.dir.OpenDirAt(name)
	if err != nil {
		return err
	}
	p.close()
	p.dir, p.base, p.at = next, ".", at
	return nil
}

// close closes the directory. It may be called twice.
func (p *place) close() {
	if p.dir != p.jail.root {
		p.dir.Close()
	}
	p.dir = p.jail.root
}

// resolve follows a name below the root, with follow also a link at its end. It returns fs.ErrNotExist for
// hidden names. The caller closes the place.
func (j *jail) resolve(name string, follow bool) (*place, error) {
	if len(name) > maxName || strings.ContainsRune(name, 0) {
		return nil, sys.ENAMETOOLONG
	}
	p := &place{dir: j.root, base: ".", at: ".", jail: j}
	todo := p.leap(strings.Split(strings.TrimSuffix(name, "/"), "/"))
	if err := p.walk(todo, follow); err != nil {
		p.close()
		return nil, err
	}
	j.observed.at(p.at)
	return p, nil
}

// leap enters the directory of a name in one step, where the system can and no link is on the way. It
// returns the elements that are left.
func (p *place) leap(todo []string) []string {
	last := len(todo) - 1
	parent := strings.Join(todo[:last], "/")
	if last == 0 || !fs.ValidPath(parent) || !p.jail.write && slices.ContainsFunc(todo, isHidden) {
		return todo
	}
	dir, err := p.dir.OpenDirBelow(parent)
	if err != nil {
		return todo
	}
	p.dir, p.at = dir, parent
	return todo[last:]
}

// walk follows the elements of a name.
func (p *place) walk(todo []string, follow bool) error {
	for links := 0; len(todo) > 0; {
		one := todo[0]
		todo = todo[1:]
		if one == "" || one == "." {
			continue
		}
		if one == ".." {
			if err := p.leave(); err != nil {
				return err
			}
			continue
		}
		if !p.jail.write && isHidden(one) {
			return fs.ErrNotExist
		}
		next := path.Join(p.at, one)
		var info rawfile.Info
		err := p.enter(p.base, p.at)
		if err == nil && len(todo) == 0 && !follow {
			p.base, p.at = one, next
			return nil
		}
		if err == nil {
			info, err = p.dir.LstatAt(one)
		}
		if errors.Is(err, fs.ErrNotExist) && len(todo) == 0 {
			p.base, p.at = one, next
			return nil
		}
		if err != nil {
			p.jail.observed.at(next)
			return err
		}
		if !info.IsLink() {
			p.base, p.at = one, next
			continue
		}
		p.jail.observed.at(next)
		target, err := p.dir.ReadlinkAt(one)
		if links++; err != nil || links > maxLinks || path.IsAbs(target) {
			return sys.EPERM
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return nil
}

// leave goes to the parent of the entry. It enters the parent again from the root, because an open
// directory may have been moved, and ".." with it.
func (p *place) leave() error {
	if p.at == "." {
		return sys.EPERM
	}
	parent := path.Dir(p.at)
	p.close()
	p.base, p.at = ".", "."
	for one := range strings.SplitSeq(parent, "/") {
		if err := p.enter(one, path.Join(p.at, one)); err != nil {
			return err
		}
	}
	return nil
}

// open opens a regular file or a directory. It never blocks: a named pipe is refused.
func (p *place) open(flag int, perm fs.FileMode) (f *rawfile.File, info rawfile.Info, err error) {
	f, err = p.dir.OpenFileAt(p.base, flag, perm)
	if err != nil {
		return nil, info, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode.IsRegular() && !info.IsDir() {
		err = sys.EPERM
	}
	if err != nil {
		f.Close()
		return nil, info, err
	}
	return f, info, nil
}
