// Package share keeps results in a directory that several machines mount. Its files have names from digests, are written beside and
// renamed, and never changed, so no one takes a lock. Any file may be removed at any time: what is missing is built again.
package share

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/internal/rawfile"
)

// The directories of a share. ac and cas have one for each first byte of a digest.
const (
	results = "ac"  // encoded ActionResults, by the digest of the action
	blobs   = "cas" // content, by its digest
	tmpDir  = "tmp" // files that are being written
)

const (
	touchAge     = 12 * time.Hour // age from which a used file is touched, so that "find -mtime" finds unused ones
	abandonedAge = 24 * time.Hour // age of files in tmp that were left by a killed process
	maxSwept     = 1000           // files of tmp that are looked at
)

// Open returns the backend of the directory at dir, an absolute path. It opens nothing yet. A missing directory is an error of every
// call: a share that is not mounted is no empty share, and bento makes none in its place.
func Open(dir string) remote.Backend { return &share{dir: dir} }

type share struct {
	dir   string
	swept sync.Once
}

// Close implements remote.Backend.
func (s *share) Close() error { return nil }

// root opens the directory.
func (s *share) root(ctx context.Context) (*rawfile.File, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	f, err := rawfile.OpenDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the directory %q of the remote cache is missing: %w", s.dir, errAbsent)
	}
	return f, faultOf(err)
}

// errAbsent takes the place of fs.ErrNotExist, which means a miss elsewhere in this package.
var errAbsent = errors.New("make or mount it")

// faultOf returns err as an error of a Backend.
func faultOf(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission) || isReadOnly(err):
		return fmt.Errorf("%w: %w", remote.ErrDenied, err)
	case isFull(err):
		return fmt.Errorf("%w: %w", remote.ErrFull, err)
	}
	return err
}

// place returns the directory of a file, relative to that of its kind, and its name there.
func place(d remote.Digest) (shard, name string) {
	digits := fmt.Sprintf("%x", d.Hash)
	return digits[:2], digits[2:]
}

// in opens the directory of a file, and makes it if asked.
func in(root *rawfile.File, kind string, d remote.Digest, make bool) (dir *rawfile.File, name string, err error) {
	shard, name := place(d)
	all, err := enter(root, kind, make)
	if err != nil {
		return nil, "", err
	}
	defer all.Close()
	dir, err = enter(all, shard, make)
	return dir, name, err
}

// enter opens a directory, never through a link. A new one has the permissions of the one above, so that all who may write to the
// share may write to it, whatever the umask of the first is.
func enter(above *rawfile.File, name string, make bool) (*rawfile.File, error) {
	dir, err := above.OpenDirAt(name)
	if !make || !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	switch err := above.MkdirAt(name, 0o777); {
	case err == nil:
		if info, err := above.Stat(); err == nil {
			_ = above.ChmodAt(name, info.Mode.Perm())
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, err
	}
	return above.OpenDirAt(name)
}

// open opens a regular file. It returns fs.ErrNotExist for anything else, and does not wait for the other end of a pipe.
func open(root *rawfile.File, kind string, d remote.Digest) (*rawfile.File, rawfile.Info, error) {
	dir, name, err := in(root, kind, d, false)
	if err != nil {
		return nil, rawfile.Info{}, err
	}
	defer dir.Close()
	f, err := dir.OpenAt(name)
	if err != nil {
		if rawfile.IsNotDir(err) || rawfile.IsSpecial(err) { // a link, or a socket
			err = fs.ErrNotExist
		}
		return nil, rawfile.Info{}, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode.IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		f.Close()
		return nil, info, err
	}
	use(dir, name, info)
	return f, info, nil
}

// use notes that a file was used.
func use(dir *rawfile.File, name string, info rawfile.Info) {
	if now := time.Now(); now.Sub(info.Modified) > touchAge && info.Links() <= 1 {
		_ = dir.TouchAt(name, now) // the user may lack the permission
	}
}

// Result implements remote.Backend.
func (s *share) Result(ctx context.Context, action remote.Digest) ([]byte, error) {
	root, err := s.root(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, info, err := open(root, results, action)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, remote.ErrMiss
	}
	if err != nil {
		return nil, faultOf(err)
	}
	defer f.Close()
	switch {
	case info.Size == 0: // after a power cut
		return nil, remote.ErrMiss
	case info.Size > remote.MaxResult:
		return nil, &remote.RefusedError{Reason: remote.OutOfBounds}
	}
	data, err := io.ReadAll(io.LimitReader(f, remote.MaxResult))
	return data, faultOf(err)
}

// PutResult implements remote.Backend.
func (s *share) PutResult(ctx context.Context, action remote.Digest, result []byte) error {
	if len(result) > remote.MaxResult {
		return remote.ErrFull
	}
	root, err := s.root(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	return faultOf(store(root, results, action, func(f io.Writer) error {
		_, err := f.Write(result)
		return err
	}))
}

// Missing implements remote.Backend.
func (s *share) Missing(ctx context.Context, digests []remote.Digest) ([]remote.Digest, error) {
	root, err := s.root(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	lacks := make([]bool, len(digests))
	const lanes = 8 // each file is one way to the server of the share, and back
	var group sync.WaitGroup
	for lane := range lanes {
		group.Go(func() {
			for i := lane; i < len(digests) && ctx.Err() == nil; i += lanes {
				lacks[i] = !has(root, digests[i])
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	var list []remote.Digest
	for i, d := range digests {
		if lacks[i] {
			list = append(list, d)
		}
	}
	return list, nil
}

// has reports whether the share has a blob, by its size. It is a use of the blob.
func has(root *rawfile.File, d remote.Digest) bool {
	dir, name, err := in(root, blobs, d, false)
	if err != nil {
		return false
	}
	defer dir.Close()
	info, err := dir.LstatAt(name)
	if err != nil || !info.Mode.IsRegular() || info.Size != d.Size {
		return false
	}
	use(dir, name, info)
	return true
}

// store writes a file beside its place and moves it there.
func store(root *rawfile.File, kind string, d remote.Digest, write func(io.Writer) error) error {
	tmp, err := enter(root, tmpDir, true)
	if err != nil {
		return err
	}
	defer tmp.Close()
	name := owndir.RandomName()
	f, err := tmp.CreateAt(name, 0o644)
	if err != nil {
		return err
	}
	err = write(f)
	if info, e := root.Stat(); err == nil && e == nil {
		_ = f.Chmod(info.Mode.Perm()&0o444 | 0o400) // all who may read the share may read it
	}
	if e := f.Close(); err == nil {
		err = e // a network may report here that its disk is full
	}
	if err == nil {
		err = moveTo(root, tmp, name, kind, d)
	}
	if err != nil {
		_ = tmp.RemoveAt(name, false)
	}
	return err
}

func moveTo(root, tmp *rawfile.File, temp, kind string, d remote.Digest) error {
	dir, name, err := in(root, kind, d, true)
	if err != nil {
		return err
	}
	defer dir.Close()
	return tmp.RenameAt(temp, dir, name)
}

// sweep removes what killed processes have left in tmp.
func sweep(root *rawfile.File) {
	tmp, err := root.OpenDirAt(tmpDir)
	if err != nil {
		return
	}
	defer tmp.Close()
	entries, _ := tmp.ReadDirTo(maxSwept)
	for _, e := range entries {
		if info, err := tmp.LstatAt(e.Name()); err == nil && info.Mode.IsRegular() && owndir.IsRandomName(e.Name()) && time.Since(info.Modified) > abandonedAge {
			_ = tmp.RemoveAt(e.Name(), false)
		}
	}
}

// removeBlob removes a damaged blob, so that another writer mends it.
func removeBlob(root *rawfile.File, d remote.Digest) {
	dir, name, err := in(root, blobs, d, false)
	if err != nil {
		return
	}
	defer dir.Close()
	_ = dir.RemoveAt(name, false)
}
