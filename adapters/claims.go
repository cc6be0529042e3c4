package adapters

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// maxClaims is how many directories the installs of one scope may claim.
const maxClaims = 100_000

// Claims are the directories that recorded installs of one scope have made, finished or not. An install
// may remove these and nothing else: other directories of the same name are the user's. A nil *Claims
// holds none, and every install may then make directories but remove none.
type Claims struct {
	made map[string]uint64 // absolute path → inode number, 0 while the directory is not made
	// Keep saves the text of the claims before a directory is made. It may be nil.
	Keep func(text []byte)
	// Tracked returns an error that names a file which git tracks, or may track, at or below the
	// directory dir, an absolute path, and nil if there is none. It may be nil: git tracks nothing.
	Tracked func(dir string) error
}

// ReadClaims returns the claims of a text that Keep has saved. Lines that are no claims are left out.
func ReadClaims(text []byte) *Claims {
	c := &Claims{made: make(map[string]uint64)}
	for line := range strings.Lines(string(text)) {
		number, path, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if inode, err := strconv.ParseUint(number, 10, 64); ok && err == nil && path != "" && len(c.made) < maxClaims {
			c.made[path] = inode
		}
	}
	return c
}

// Begin claims those of dirs, absolute paths, that do not exist: the install is about to make them.
func (c *Claims) Begin(dirs []string) {
	if c == nil {
		return
	}
	c.settle()
	for _, dir := range dirs {
		if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) && !strings.Contains(dir, "\n") && len(c.made) < maxClaims {
			c.put(dir, 0)
		}
	}
	c.save()
}

// End notes which of the claimed directories exist after an install. A directory that the user makes
// later in place of one of them is not claimed.
func (c *Claims) End() {
	if c == nil {
		return
	}
	for dir := range c.made {
		if inode := inodeOf(dir); inode != 0 {
			c.made[dir] = inode
		}
	}
	c.settle()
	c.save()
}

// Owns reports whether a recorded install has made the directory dir.
func (c *Claims) Owns(dir string) bool {
	if c == nil {
		return false
	}
	claimed, ok := c.made[dir]
	inode := inodeOf(dir)
	return ok && inode != 0 && (claimed == 0 || claimed == inode)
}

// Remove removes dir, with everything in it, if a recorded install has made it. It removes nothing
// and returns an error if git tracks a file in it.
func (c *Claims) Remove(dir string) error {
	if !c.Owns(dir) {
		return nil
	}
	return c.RemoveMarked(dir)
}

// RemoveMarked is Remove for a directory with a mark of bento's own that proves that an install has
// made it.
func (c *Claims) RemoveMarked(dir string) error {
	if err := c.Tracks(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if c != nil {
		delete(c.made, dir)
	}
	return nil
}

// Tracks returns the error of Tracked for a directory that exists.
func (c *Claims) Tracks(dir string) error {
	if c == nil || c.Tracked == nil {
		return nil
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return c.Tracked(dir)
}

// settle drops the claims of directories that are missing, or have been replaced since.
func (c *Claims) settle() {
	for dir, claimed := range c.made {
		if inode := inodeOf(dir); inode == 0 || claimed != 0 && claimed != inode {
			delete(c.made, dir)
		}
	}
}

func (c *Claims) put(dir string, inode uint64) {
	if c.made == nil {
		c.made = make(map[string]uint64)
	}
	c.made[dir] = inode
}

func (c *Claims) save() {
	if c.Keep == nil {
		return
	}
	lines := make([]string, 0, len(c.made))
	for dir, inode := range c.made {
		lines = append(lines, strconv.FormatUint(inode, 10)+" "+dir+"\n")
	}
	slices.Sort(lines)
	c.Keep([]byte(strings.Join(lines, "")))
}

// inodeOf returns the inode number of a directory, 0 for anything else.
func inodeOf(dir string) uint64 {
	fi, err := os.Lstat(dir)
	if err != nil || !fi.IsDir() {
		return 0
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(st.Ino)
}

// Within reports whether path is dir or lies below it. Both are absolute, or both are relative.
func Within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
