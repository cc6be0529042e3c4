package remoteexec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/cache/remote"
	"github.com/bentobuild/bento/cache/remote/reapi"
	"github.com/bentobuild/bento/internal/action"
)

// writer writes outputs into the workspace, behind no link that leads out of it.
type writer struct {
	root *os.Root
	done []string
}

// write fetches the outputs and writes them. After an error of the server it removes them.
func (c *Cluster) write(ctx context.Context, client *reapi.Client, m *made) error {
	root, err := os.OpenRoot(c.o.Root)
	if err != nil {
		return &action.OutputError{Err: err}
	}
	defer root.Close()
	w := &writer{root: root}
	if err := w.writeAll(ctx, c, client, m); err != nil {
		w.undo()
		return err
	}
	return nil
}

func (w *writer) writeAll(ctx context.Context, c *Cluster, client *reapi.Client, m *made) error {
	for _, dir := range slices.Sorted(slices.Values(m.dirs)) {
		if err := w.root.MkdirAll(filepath.FromSlash(dir), 0o777); err != nil {
			return &action.OutputError{Err: err}
		}
	}
	paths := make(map[remote.Digest][]string) // of the files with a content
	var wants []remote.Want
	for _, p := range slices.Sorted(maps.Keys(m.files)) {
		d := m.files[p].Digest
		if paths[d] == nil {
			wants = append(wants, remote.Want{Digest: d})
		}
		paths[d] = append(paths[d], p)
	}
	err := client.Fetch(ctx, wants, func(want remote.Want, r io.Reader) error {
		list := paths[want.Digest]
		if r == nil {
			return fmt.Errorf("%s: the server lacks the output %q", c, list[0])
		}
		if err := w.file(list[0], m.files[list[0]], r); err != nil {
			return err
		}
		for _, p := range list[1:] {
			if err := w.copy(list[0], p, m.files[p]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(m.links)) {
		if err := w.link(p, m.links[p]); err != nil {
			return &action.OutputError{Err: err}
		}
	}
	return nil
}

// sourceError is the error of what a file is read from.
type sourceError struct{ error }

// Unwrap returns the cause.
func (e sourceError) Unwrap() error { return e.error }

type sourceReader struct{ io.Reader }

func (r sourceReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = sourceError{err}
	}
	return n, err
}

// file writes a file. Its mode is that of the worker, if the server says it, and else that of a new file here.
func (w *writer) file(p string, f reapi.File, from io.Reader) error {
	perm := fs.FileMode(0o666)
	if f.Exec || f.Mode&0o100 != 0 {
		perm = 0o777
	}
	to, err := w.create(p, perm)
	if err != nil {
		return &action.OutputError{Err: err}
	}
	_, err = io.Copy(to, sourceReader{from})
	if err == nil && f.Mode != 0 {
		err = to.Chmod(fs.FileMode(f.Mode))
	}
	if cerr := to.Close(); err == nil {
		err = cerr
	}
	if source := (sourceError{}); err == nil || errors.As(err, &source) {
		return err
	}
	return &action.OutputError{Err: err}
}

// create makes a new file in place of an old one, whose content others may share.
func (w *writer) create(p string, perm fs.FileMode) (*os.File, error) {
	if err := w.free(p); err != nil {
		return nil, err
	}
	return w.root.OpenFile(filepath.FromSlash(p), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
}

// free makes room for an output, and the directories around it.
func (w *writer) free(p string) error {
	name := filepath.FromSlash(p)
	if err := w.root.MkdirAll(filepath.FromSlash(path.Dir(p)), 0o777); err != nil {
		return err
	}
	if err := w.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w.done = append(w.done, p)
	return nil
}

func (w *writer) copy(from, p string, f reapi.File) error {
	r, err := w.root.Open(filepath.FromSlash(from))
	if err != nil {
		return &action.OutputError{Err: err}
	}
	defer r.Close()
	return w.file(p, f, r)
}

func (w *writer) link(p, target string) error {
	if err := w.free(p); err != nil {
		return err
	}
	return w.root.Symlink(target, filepath.FromSlash(p))
}

// undo removes what was written.
func (w *writer) undo() {
	for _, p := range w.done {
		_ = w.root.Remove(filepath.FromSlash(p)) // the next attempt removes outputs, too
	}
}
