package git

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// sameBytes reports whether a file that diff-index lists has the content of the commit
// after all, and only another stat. fields are "MODE MODE ID ID STATUS": what the
// commit has, and what is on disk, of which diff-index leaves the id to the caller.
func (r *Repo) sameBytes(ctx context.Context, path string, fields []string) (bool, error) {
	was, now, id := fields[0], fields[1], fields[2]
	if was != now || fields[4] != "M" || !strings.HasPrefix(was, "100") || strings.Trim(fields[3], "0") != "" {
		return false, nil
	}
	got, err := r.blobID(ctx, path, len(id)/2)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return err == nil && got == id, nil // what cannot be read counts as changed
}

// blobID returns the id that git has for the content of a regular file as it is. No
// link leads it out of the work tree, and no pipe makes it wait.
func (r *Repo) blobID(ctx context.Context, path string, idSize int) (string, error) {
	root, err := os.OpenRoot(r.top)
	if err != nil {
		return "", err
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.FromSlash(path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !fi.Mode().IsRegular() {
		return "", fmt.Errorf("%q: not a regular file", path)
	}
	h := newHash(idSize)
	fmt.Fprintf(h, "blob %d\x00", fi.Size())
	n, err := io.Copy(h, readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return f.Read(p[:min(int64(len(p)), maxRead)])
	}))
	if err == nil && n != fi.Size() {
		err = io.ErrUnexpectedEOF
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// newHash returns the hash of ids of some bytes.
func newHash(idSize int) hash.Hash {
	if idSize == sha256.Size {
		return sha256.New()
	}
	return sha1.New()
}

// maxRead bounds in bytes what is read before the context is looked at again.
const maxRead = 1 << 20

// readFunc is a reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
