// Package archive reads the files of a package from a tar, a zip or a directory into memory. A
// package comes from anyone: its names, kinds of files, number and sizes are checked before a byte
// reaches the disk.
package archive

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxSize is the largest size of an archive, and of the files of a package, in bytes: a module of 50
// MiB with its manifest. MaxBundle is that of a zip and of a program's bundle.
const (
	MaxSize   = 51 << 20
	MaxBundle = 32 << 20
)

// Limits bound a package. Zero values are the defaults.
type Limits struct {
	Packed   int64 // bytes of an archive: MaxSize, of a zip MaxBundle
	Expanded int64 // bytes of all files: the same
	Entries  int   // files and directories: 4096
}

// or returns the limits with size and 4096 entries as defaults.
func (l Limits) or(size int64) Limits {
	return Limits{Packed: cmp.Or(l.Packed, size), Expanded: cmp.Or(l.Expanded, size), Entries: cmp.Or(l.Entries, 4096)}
}

// File is a regular file of a package.
type File struct {
	Name string // relative, with "/"
	Data []byte
	Exec bool
}

// maxName is the largest length of a name in bytes, maxElement that of one element of it.
const (
	maxName    = 1000
	maxElement = 255
)

// contents are the files of a package that were read so far.
type contents struct {
	limits  Limits
	files   []File
	size    int64
	entries int
	names   map[string]string // by folded name: the name, of files and of directories
	dirs    map[string]bool
}

func newContents(l Limits) *contents {
	return &contents{limits: l, names: make(map[string]string), dirs: make(map[string]bool)}
}

// enter checks the name of an entry and returns it without a leading "./"; "" is the root.
func (c *contents) enter(name string, dir bool) (string, error) {
	if c.entries++; c.entries > c.limits.Entries {
		return "", fmt.Errorf("more than %d entries", c.limits.Entries)
	}
	clean := strings.TrimPrefix(name, "./")
	if dir {
		clean = strings.TrimSuffix(clean, "/")
		if clean == "" || clean == "." {
			return "", nil
		}
	}
	if err := checkName(clean); err != nil {
		return "", fmt.Errorf("entry %.200q: %w", name, err)
	}
	if err := c.place(clean, dir); err != nil {
		return "", fmt.Errorf("entry %.200q: %w", name, err)
	}
	return clean, nil
}

// checkName refuses a name that is not the same file below the root of the package on every system.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("an empty name")
	case len(name) > maxName:
		return fmt.Errorf("a name of %d bytes, expected at most %d", len(name), maxName)
	case !utf8.ValidString(name):
		return fmt.Errorf("the name is not UTF-8")
	case strings.HasPrefix(name, "/"):
		return fmt.Errorf("an absolute name, expected one below the root of the package")
	case strings.ContainsAny(name, `\:`):
		return fmt.Errorf(`the name contains "\" or ":"`)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("the name contains a character that is not printable")
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "" || part == "." || part == "..":
			return fmt.Errorf("the name has the element %q, expected one below the root of the package", part)
		case len(part) > maxElement:
			return fmt.Errorf("an element of %d bytes, expected at most %d", len(part), maxElement)
		case strings.TrimRight(part, " .") != part:
			return fmt.Errorf("the element %q ends with a dot or a space", part)
		case strings.HasPrefix(strings.ToLower(part), ".bento-"):
			return fmt.Errorf("%q is reserved for bento", part)
		}
	}
	return nil
}

// place notes a name and the directories above it. Names that some systems do not tell apart are
// refused.
func (c *contents) place(name string, dir bool) error {
	for above := path.Dir(name); above != "."; above = path.Dir(above) {
		if err := c.note(above, true); err != nil {
			return err
		}
	}
	if !dir && c.names[strings.ToLower(name)] == name {
		return fmt.Errorf("the name occurs twice")
	}
	return c.note(name, dir)
}

func (c *contents) note(name string, dir bool) error {
	key := strings.ToLower(name)
	known, ok := c.names[key]
	switch {
	case !ok:
		c.names[key], c.dirs[key] = name, dir
	case known != name:
		return fmt.Errorf("the name differs from %.200q only in case", known)
	case c.dirs[key] != dir:
		return fmt.Errorf("%.200q is both a file and a directory", name)
	}
	return nil
}

// add adds a file whose name enter has returned.
func (c *contents) add(f File) { c.files = append(c.files, f) }

// room returns how many bytes further files may have.
func (c *contents) room() int64 { return c.limits.Expanded - c.size }

// grow adds the bytes of a file to the total.
func (c *contents) grow(n int64) error {
	if c.size += n; c.size > c.limits.Expanded || n < 0 {
		return fmt.Errorf("the files have more than %d bytes", c.limits.Expanded)
	}
	return nil
}

// done returns the files, sorted by name.
func (c *contents) done() []File {
	slices.SortFunc(c.files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return c.files
}

// Rooted returns the files below the directory that has one of the manifests: the root, or the only
// directory in it. It returns nil if both have none.
func Rooted(files []File, manifests ...string) []File {
	if hasAny(files, manifests) {
		return files
	}
	top := ""
	for _, f := range files {
		dir, _, below := strings.Cut(f.Name, "/")
		if !below {
			continue // files beside the directory, such as a README
		}
		if top != "" && top != dir {
			return nil
		}
		top = dir
	}
	var list []File
	for _, f := range files {
		if rest, ok := strings.CutPrefix(f.Name, top+"/"); ok && top != "" {
			f.Name = rest
			list = append(list, f)
		}
	}
	if !hasAny(list, manifests) {
		return nil
	}
	return list
}

func hasAny(files []File, names []string) bool {
	return slices.ContainsFunc(files, func(f File) bool { return slices.Contains(names, f.Name) })
}
