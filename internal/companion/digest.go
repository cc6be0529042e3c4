package companion

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The limits of an extension's directory.
const (
	maxEntries = 10_000
	maxBytes   = 256 << 20
)

// digestOf returns the SHA-256, in hexadecimal, of the names, the permission to execute and the content
// of all files below dir. It returns an error for a directory with more than 10,000 entries or 256
// MiB, a link that leads out of it, and any other entry whose content could change unnoticed.
func digestOf(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	d := digester{dir: real}
	all := sha256.New()
	err = filepath.WalkDir(real, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(real, path)
		if err != nil {
			return err
		}
		if d.entries++; d.entries > maxEntries {
			return fmt.Errorf("%q has more than %d files and directories", dir, maxEntries)
		}
		term, err := d.term(path, e)
		if err != nil {
			return fmt.Errorf("%q: %w", rel, err)
		}
		fmt.Fprintf(all, "%d %s %s\n", len(rel), rel, term)
		return nil
	})
	if err != nil {
		return "", err
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}

// digester reads the files of one extension.
type digester struct {
	dir     string // without links
	entries int
	bytes   int64
}

// term returns the part of the digest for one entry.
func (d *digester) term(path string, e fs.DirEntry) (string, error) {
	switch mode := e.Type(); {
	case mode.IsDir():
		return "dir", nil
	case mode&fs.ModeSymlink != 0:
		return d.link(path)
	case !mode.IsRegular():
		return "", fmt.Errorf("it is %s, expected a regular file, a directory or a link", mode)
	}
	return d.file(path)
}

// link returns the text of a link. Its target is an entry of its own.
func (d *digester) link(path string) (string, error) {
	text, err := os.Readlink(path)
	if err != nil {
		return "", err
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(d.dir, target); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("the link leads to %q, expected a target in the directory of the extension", target)
	}
	return fmt.Sprintf("link %q", text), nil
}

func (d *digester) file(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !fi.Mode().IsRegular() {
		return "", fmt.Errorf("it is %s, expected a regular file", fi.Mode().Type())
	}
	if fi.Size() > maxBytes-d.bytes {
		return "", fmt.Errorf("the extension has more than %d bytes", maxBytes)
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxBytes-d.bytes+1))
	if d.bytes += n; err != nil {
		return "", err
	}
	if d.bytes > maxBytes { // it has grown since
		return "", fmt.Errorf("the extension has more than %d bytes", maxBytes)
	}
	return fmt.Sprintf("file %t %x", fi.Mode()&0o111 != 0, h.Sum(nil)), nil
}
