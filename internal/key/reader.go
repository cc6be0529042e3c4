package key

import (
	"context"
	"errors"
	"fmt"

	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/tree"
)

// fileReader reads the files of a workspace. Warn receives a warning for each link that leads out of
// it and for each special file.
type fileReader struct {
	Tree *tree.Tree
	Warn func(diagnostics.Diagnostic)
}

// Set returns the digests of entries. For an unreadable file the error is a diagnostics.Problems.
func (c *fileReader) Set(entries []tree.Entry) (fileSet, error) {
	readFiles(c.Tree.Index(), entries)
	set := make(fileSet, 0, len(entries))
	for _, entry := range entries {
		if c.isSpecial(entry) {
			continue
		}
		f, err := c.file(entry)
		if err != nil {
			return nil, err
		}
		set = append(set, f)
	}
	return set, nil
}

// isSpecial reports whether entry is a special file, and warns of it. A special file is no input: git
// does not track it, and the socket of a running server must not stop a build.
func (c *fileReader) isSpecial(entry tree.Entry) bool {
	if entry.Kind != tree.Special {
		return false
	}
	c.Warn(diagnostics.Diagnostic{
		File: entry.Path, Severity: diagnostics.Warning, Rule: tree.RuleSpecial, Source: diagnostics.Source,
		Message: "it is a FIFO, a socket or a device: it is no input",
		Hint:    "have git ignore it, or take it out of the inputs with \"!//" + entry.Path + "\"",
	})
	return true
}

func (c *fileReader) file(entry tree.Entry) (File, error) {
	f := File{Path: entry.Path}
	switch entry.Kind {
	case tree.File:
		sum, err := c.Tree.Index().Sum(entry)
		if err != nil {
			return f, unreadable(entry.Path, err)
		}
		f.Exec, f.Sum = Executable(entry.Mode), cache.Digest(sum)
		return f, nil
	case tree.Link:
		target, err := c.Tree.Readlink(entry)
		if err != nil {
			return f, unreadable(entry.Path, err)
		}
		f.Target = target
		f.Sum, err = c.digestOfTarget(entry, target)
		return f, err
	}
	return f, unreadable(entry.Path, fmt.Errorf("it is no regular file, directory or symbolic link"))
}

func unreadable(p string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err // not the file's fault
	}
	return diagnostics.Problems{{
		File: p, Severity: diagnostics.Error, Rule: "unreadable_input", Source: diagnostics.Source,
		Message: "an input cannot be read: " + err.Error(),
		Hint:    "make it readable, or take it out of the inputs with \"!//" + p + "\"",
	}}
}

// digestOfTarget returns the digest of the target of a link inside the workspace: a file, or the
// files of a directory. It does not read a target outside of the workspace.
func (c *fileReader) digestOfTarget(link tree.Entry, target string) (cache.Digest, error) {
	p, ok, err := follow(c.Tree, link)
	switch {
	case err != nil:
		return cache.Digest{}, unreadable(link.Path, err)
	case !ok:
		c.Warn(diagnostics.Pos{}.Warning("link_outside", "%q is an input that leads out of the workspace to %q: what is there does not count", link.Path, target).
			WithHint("copy it, or name what decides about it in the task's env"))
		return cache.Digest{}, nil
	case p == "" || Inside(link.Path, p):
		return cache.Digest{}, nil // a loop: its files are inputs by their own paths
	}
	entry, ok := c.Tree.Lookup(p)
	if !ok {
		return c.digestOfDir(p)
	}
	if c.isSpecial(entry) {
		return cache.Digest{}, nil
	}
	f, err := c.file(entry)
	if !f.Exec || err != nil {
		return f.Sum, err
	}
	return fileSet{{Exec: true, Sum: f.Sum}}.Digest(), nil
}

// digestOfDir returns the digest of the files below a directory. It does not follow links among them,
// but includes their text, so that a loop ends.
func (c *fileReader) digestOfDir(dir string) (cache.Digest, error) {
	var set fileSet
	for _, entry := range c.Tree.Under(dir) {
		f := File{Path: entry.Path}
		if c.isSpecial(entry) {
			continue
		} else if entry.Kind == tree.Link {
			target, err := c.Tree.Readlink(entry)
			if err != nil {
				return cache.Digest{}, unreadable(entry.Path, err)
			}
			f.Target = target
		} else if file, err := c.file(entry); err == nil {
			f = file
		} else {
			return cache.Digest{}, err
		}
		set = append(set, f)
	}
	if len(set) == 0 {
		return cache.Digest{}, nil
	}
	return set.Digest(), nil
}
