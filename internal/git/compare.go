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

// sameBytes reports whether a file that diff-index lists has the content of the commit: then only its stat differs.
// fields are "MODE MODE ID ID STATUS", first of the commit and then of the disk, whose id diff-index leaves out.
func (r *Repo) sameBytes(ctx context.Context, path string, fields []string) (bool, error) {
	was, now, id := fields[0], fields[1], fields[2]
	if was != now || fields[4] != "M" || !strings.HasPrefix(was, "100") || strings.Trim(fields[3], "0") != "" {
		return false, nil
	}
	got, err := r.blobID(ctx, path, len(id)/2)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return err == nil && got == id, nil // an unreadable file counts as changed
}

// blobID returns the git id of the content of a regular file, unfiltered, or of a link. It follows
// no link out of the work tree and waits for no pipe.
func (r *Repo) blobID(ctx context.Context, path string, idSize int) (string, error) {
	root, err := os.OpenRoot(r.top)
	if err != nil {
		return "", err
	}
	defer root.Close()
	path = filepath.FromSlash(path)
	if target, err := root.Readlink(path); err == nil {
		return hashed(ctx, strings.NewReader(target), int64(len(target)), idSize)
	}
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
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
	return hashed(ctx, f, fi.Size(), idSize)
}

// hashed returns the id of a blob with size bytes.
func hashed(ctx context.Context, content io.Reader, size int64, idSize int) (string, error) {
	h := newHash(idSize)
	fmt.Fprintf(h, "blob %d\x00", size)
	n, err := io.Copy(h, readFunc(func(p []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return content.Read(p[:min(int64(len(p)), maxRead)])
	}))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// newHash returns the hash function for ids of a length in bytes.
func newHash(idSize int) hash.Hash {
	if idSize == sha256.Size {
		return sha256.New()
	}
	return sha1.New()
}

// maxRead is the number of bytes read between two checks of the context.
const maxRead = 1 << 20

// readFunc is an io.Reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
