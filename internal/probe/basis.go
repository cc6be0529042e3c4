package probe

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/stat"
)

// Basis collects everything that a toolchain's fingerprint depends on, for the ability Steerer. It
// starts no process.
type Basis struct {
	env  adapters.Environ
	b    strings.Builder
	real map[string]string // by directory, its path without links
}

// NewBasis returns an empty basis for tools found in env.
func NewBasis(env adapters.Environ) *Basis { return &Basis{env: env, real: make(map[string]string)} }

// Tool adds the executable that name means in PATH: its path, the path that its links lead
// to, and the stat of that file. It returns the first path.
func (b *Basis) Tool(name string) (path string, err error) {
	path, err = b.env.LookPath(name)
	if err != nil {
		return "", err
	}
	b.File(path)
	return path, nil
}

// File adds the path and stat of a file (of its target, if it is a link), or that it is
// missing.
func (b *Basis) File(path string) {
	real, fi, err := b.resolve(path)
	if err != nil {
		fmt.Fprintf(&b.b, "absent %q\n", path)
		return
	}
	fmt.Fprintf(&b.b, "file %q %q %s\n", path, real, stat.Text(fi))
}

// resolve follows the links of a path. It follows the links of each directory only once.
func (b *Basis) resolve(path string) (real string, fi fs.FileInfo, err error) {
	dir, name := filepath.Split(path)
	at, known := b.real[dir]
	if !known {
		if at, err = filepath.EvalSymlinks(dir); err != nil {
			return "", nil, err
		}
		b.real[dir] = at
	}
	real = filepath.Join(at, name)
	if fi, err = os.Lstat(real); err != nil || fi.Mode()&fs.ModeSymlink == 0 {
		return real, fi, err
	}
	if real, err = filepath.EvalSymlinks(real); err == nil {
		fi, err = os.Stat(real)
	}
	return real, fi, err
}

// Above adds the files called names in dir and above it, up to the root of the file system,
// as version managers look for them. Missing files add nothing, so directories without any
// have the same basis.
func (b *Basis) Above(dir string, names ...string) {
	for at := dir; ; at = filepath.Dir(at) {
		for _, name := range names {
			b.IfThere(filepath.Join(at, name))
		}
		if at == filepath.Dir(at) {
			return
		}
	}
}

// Home adds the existing files among names, which are relative to the home directory.
func (b *Basis) Home(names ...string) {
	for _, name := range names {
		b.IfThere(filepath.Join(b.env.Get("HOME"), name))
	}
}

// IfThere adds a file if it exists.
func (b *Basis) IfThere(path string) {
	if _, err := os.Stat(path); err == nil {
		b.File(path)
	}
}

// Env adds the values of variables; unset and empty differ.
func (b *Basis) Env(names ...string) {
	for _, name := range names {
		if v, ok := b.env.Lookup(name); ok {
			fmt.Fprintf(&b.b, "env %s=%q\n", name, v)
		} else {
			fmt.Fprintf(&b.b, "unset %s\n", name)
		}
	}
}

// Text adds any other text.
func (b *Basis) Text(key, value string) { fmt.Fprintf(&b.b, "%s %q\n", key, value) }

// String returns the basis collected so far.
func (b *Basis) String() string { return b.b.String() }
