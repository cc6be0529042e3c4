package ainb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bentobuild/bento/plugin/wire"
)

const (
	readPaths = "read_paths"
	writeData = "write_plugin_data"
	sessions  = "read_sessions"

	// maxFile is the largest file that is read or written. In base64 it fits a frame.
	maxFile    = 12 << 20
	maxEntries = 20_000 // of one directory
)

// place is a directory below which a capability allows files.
type place struct {
	capability string
	dir        string // absolute, clean, not yet resolved
	granted    bool
}

// places returns the directories that capabilities grant, for reading or writing: first those of the
// contract in a fixed order, then read_paths.
func (x *extension) places(write bool) (list []place) {
	o := &x.h.o
	dirs := map[string]string{
		sessions: ".agents-in-a-box/sessions", "read_claude_logs": ".claude/projects", "read_codex_logs": ".codex/sessions",
	}
	if write {
		dirs = map[string]string{writeData: ".agents-in-a-box/plugins/" + x.name}
	}
	for _, capability := range slices.Sorted(maps.Keys(dirs)) {
		if dir := filepath.Join(o.Home, dirs[capability]); filepath.IsAbs(dir) {
			list = append(list, place{capability, dir, x.granted[capability].Granted()})
		}
	}
	if write {
		return list
	}
	for _, prefix := range x.granted[readPaths].Only {
		if dir := x.h.expand(prefix); filepath.IsAbs(dir) && x.declares(dir) {
			list = append(list, place{readPaths, filepath.Clean(dir), true})
		}
	}
	return list
}

// declares reports whether the manifest requests to read a directory. The user may grant a part of it, and
// a link in that part gives no access beyond the manifest.
func (x *extension) declares(dir string) bool {
	return slices.ContainsFunc(x.e.Manifest.Capabilities[readPaths].Only, func(prefix string) bool {
		_, inside := within(resolve(x.h.expand(prefix)), resolve(dir))
		return inside
	})
}

// within returns a path relative to a directory, both resolved, and reports whether the path is inside it.
func within(dir, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// expand replaces a "~" at the beginning and "${VAR}" in a path of a grant. Only the host does so.
func (h *Host) expand(path string) string {
	for {
		before, rest, begun := strings.Cut(path, "${")
		name, after, ended := strings.Cut(rest, "}")
		if !begun || !ended {
			break
		}
		path = before + strings.ReplaceAll(h.o.Getenv(name), "${", "") + after
	}
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = h.o.Home + path[1:]
	}
	return path
}

// resolve returns a path without links and dots: the real path of its deepest existing ancestor, then the
// missing rest.
func resolve(path string) string {
	path = filepath.Clean(path)
	for dir, tail := path, ""; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, tail)
		}
		parent, name := filepath.Split(dir)
		if parent = filepath.Clean(parent); parent == dir {
			return path
		}
		dir, tail = parent, filepath.Join(name, tail)
	}
}

// below is an allowed path: a granted directory without links, and the rest of the path.
type below struct{ capability, dir, rel string }

// allowed returns the place of a path, or the refusal. The caller opens the directory, and the rest
// through it, so that no change since leads out of it.
func (x *extension) allowed(method, path string, write bool) (at below, refused *wire.RPCError) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return at, refusal(wire.CodeInvalidParams, "params.path is %.200q, required an absolute path", path)
	}
	nearest, target := sessions, resolve(path)
	switch {
	case write:
		nearest = writeData
	case x.e.Manifest.Capabilities[readPaths].Granted():
		nearest = readPaths
	}
	for _, p := range x.places(write) {
		root := resolve(p.dir)
		rel, ok := within(root, target)
		if !ok {
			continue
		}
		if p.granted {
			x.audit(method, p.capability, "granted", true)
			return below{p.capability, root, rel}, nil
		}
		nearest = p.capability
	}
	x.audit(method, nearest, "the path is in no granted directory", false)
	return at, denied(nearest)
}

// pathOf returns the path of a request.
func pathOf(raw json.RawMessage) (string, *wire.RPCError) {
	p, refused := params[struct {
		Path *string `json:"path"`
	}](raw)
	if refused != nil {
		return "", refused
	}
	return must("path", p.Path)
}

// open opens an allowed file or directory. A link that leads out is refused, even if it was made a moment
// ago.
func (s *session) open(method, what, path string) (*os.File, *wire.RPCError) {
	at, refused := s.x.allowed(method, path, false)
	if refused != nil {
		return nil, refused
	}
	root, err := os.OpenRoot(at.dir)
	if at.rel == "." && err != nil { // a grant may name one file
		root, at.rel, err = openParent(at.dir)
	}
	if err != nil {
		return nil, refusal(wire.CodeInvalidParams, "%s %s: %v", what, path, plainCause(err))
	}
	defer root.Close()
	f, err := root.OpenFile(at.rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case err != nil && strings.Contains(err.Error(), "escapes"): // os has no value for it
		s.x.audit(method, at.capability, "a link leads out of the granted directory", false)
		return nil, denied(at.capability)
	case err != nil:
		return nil, refusal(wire.CodeInvalidParams, "%s %s: %v", what, path, plainCause(err))
	}
	return f, nil
}

// openParent opens the directory of a file.
func openParent(file string) (*os.Root, string, error) {
	root, err := os.OpenRoot(filepath.Dir(file))
	return root, filepath.Base(file), err
}

// plainCause returns the cause of an error without the path, which the message has.
func plainCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// entry is one entry of a directory.
type entry struct {
	Name  string `json:"name"`
	IsDir bool   `json:"is_dir"`
	Size  int64  `json:"size"`
}

// readDir answers host/fs/read_dir.
func (s *session) readDir(ctx context.Context, method string, raw json.RawMessage) (any, *wire.RPCError) {
	path, refused := pathOf(raw)
	if refused != nil {
		return nil, refused
	}
	f, refused := s.open(method, "read_dir", path)
	if refused != nil {
		return nil, refused
	}
	defer f.Close()
	list := []entry{}
	for ctx.Err() == nil {
		some, err := f.ReadDir(512)
		for _, e := range some {
			one := entry{Name: e.Name(), IsDir: e.IsDir()}
			if info, err := e.Info(); err == nil && !one.IsDir {
				one.Size = info.Size()
			}
			list = append(list, one)
		}
		if err == io.EOF {
			break
		}
		if err == nil && len(list) > maxEntries {
			err = fmt.Errorf("more than %d entries", maxEntries)
		}
		if err != nil {
			return nil, refusal(wire.CodeInvalidParams, "read_dir %s: %v", path, plainCause(err))
		}
	}
	return map[string]any{"entries": list}, nil
}

// readFile answers host/fs/read_file.
func (s *session) readFile(_ context.Context, method string, raw json.RawMessage) (any, *wire.RPCError) {
	path, refused := pathOf(raw)
	if refused != nil {
		return nil, refused
	}
	f, refused := s.open(method, "read", path)
	if refused != nil {
		return nil, refused
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	}
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	if err != nil {
		return nil, refusal(wire.CodeInvalidParams, "read %s: %v", path, plainCause(err))
	}
	return map[string]Bytes{"bytes": some(data)}, nil
}

// writeFile answers host/fs/write_file, an addition to the contract: it replaces a file below the
// directory of the extension's own data, and makes the directories above it.
func (s *session) writeFile(_ context.Context, method string, raw json.RawMessage) (any, *wire.RPCError) {
	path, refused := pathOf(raw)
	if refused != nil {
		return nil, refused
	}
	p, refused := params[struct {
		Bytes json.RawMessage `json:"bytes"`
	}](raw)
	if refused != nil {
		return nil, refused
	}
	data, refused := bytesOf("bytes", p.Bytes)
	switch {
	case refused != nil:
		return nil, refused
	case data == nil:
		return nil, refusal(wire.CodeInvalidParams, "params.bytes is missing, required as base64")
	}
	at, refused := s.x.allowed(method, path, true)
	if refused != nil {
		return nil, refused
	}
	if err := replace(at.dir, at.rel, data); err != nil {
		return nil, refusal(wire.CodeInvalidParams, "write %s: %v", path, plainCause(err))
	}
	return struct{}{}, nil
}

// replace writes a file under another name, then renames it.
func replace(dir, rel string, data []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(rel), 0o700); err != nil {
		return err
	}
	temp := rel + ".new"
	if err := root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, rel)
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}
