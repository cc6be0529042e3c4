package prune

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/tree"
)

// Stub is the content of a stub: a program that does nothing, which a library may have too.
const Stub = "fn main() {}\n"

// Copy copies files of the workspace and makes stubs in the directory out, which it makes. It keeps permissions and times:
// tools compare them. A link keeps its text; Copy leaves out and returns links that lead out of the workspace, and files
// that are neither regular files nor links. It replaces nothing.
func Copy(files *tree.Tree, list []tree.Entry, stubs []string, out string) (left []string, err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(out)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	from := clone.At(files.Root())
	for _, e := range list {
		err := root.MkdirAll(filepath.FromSlash(path.Dir(e.Path)), 0o755)
		switch {
		case err != nil:
		case e.Kind == tree.File:
			err = copyFile(from, root, e)
		case e.Kind == tree.Link && staysInside(files, e):
			err = copyLink(files, root, e)
		default:
			left = append(left, e.Path)
		}
		if err != nil {
			return left, err
		}
	}
	for _, name := range stubs {
		err := root.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755)
		if err == nil {
			err = root.WriteFile(filepath.FromSlash(name), []byte(Stub), 0o644)
		}
		if err != nil {
			return left, err
		}
	}
	return left, nil
}

func copyFile(from *clone.Clone, to *os.Root, e tree.Entry) (err error) {
	source, err := from.OpenDirect(e.Path)
	if err != nil {
		return err
	}
	defer source.Close()
	name := filepath.FromSlash(e.Path)
	target, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, e.Mode.Perm()|fs.FileMode(0o200))
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if err = errors.Join(err, target.Close()); err != nil {
		return err
	}
	at := time.Unix(0, e.Mtime)
	return to.Chtimes(name, at, at)
}

func copyLink(files *tree.Tree, to *os.Root, e tree.Entry) error {
	text, err := files.Readlink(e)
	if err != nil {
		return err
	}
	return to.Symlink(text, filepath.FromSlash(e.Path))
}

// staysInside reports whether a link is relative and leads to a path of the workspace.
func staysInside(files *tree.Tree, e tree.Entry) bool {
	text, err := files.Readlink(e)
	return err == nil && !filepath.IsAbs(text) && filepath.IsLocal(filepath.Join(filepath.FromSlash(path.Dir(e.Path)), text))
}
