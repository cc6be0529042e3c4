package cache

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// maxPath is the longest path of an output in bytes. No system accepts longer ones.
const maxPath = 4096

// RefusedError has the reason why bento neither stores nor restores an output.
type RefusedError struct {
	Path   string // relative to the workspace
	Reason string // such as "it is a socket"
}

func (e *RefusedError) Error() string { return fmt.Sprintf("output %q refused: %s", e.Path, e.Reason) }

// Refuse returns a *RefusedError.
func Refuse(path, format string, args ...any) error {
	return &RefusedError{Path: path, Reason: fmt.Sprintf(format, args...)}
}

// CheckPath returns a *RefusedError unless p may be the path of an output: clean,
// relative, below the workspace, not in bento's own directory nor in a .git.
func CheckPath(p string) error {
	if len(p) > maxPath {
		return Refuse(p[:100]+"…", "its path has more than %d bytes", maxPath)
	}
	return CheckPlace(p)
}

// CheckPlace is CheckPath for a path that a task has made. Its length is not limited to that of a path in
// a record.
func CheckPlace(p string) error {
	switch {
	case p == "" || p == ".":
		return Refuse(p, "it is the workspace itself")
	case strings.HasPrefix(p, "/"):
		return Refuse(p, "its path is absolute")
	case strings.ContainsRune(p, 0):
		return Refuse(p, "its path holds a NUL byte")
	}
	first := true
	for name := range strings.SplitSeq(p, "/") {
		switch {
		case name == "" || name == "." || name == "..":
			return Refuse(p, "its path is not clean or leaves the workspace")
		case strings.EqualFold(name, ".git"):
			return Refuse(p, "it lies in a .git directory")
		case first && strings.EqualFold(name, ".bento"):
			return Refuse(p, "it lies in bento's own directory")
		case filepath.Separator != '/' && strings.ContainsAny(name, `\:`):
			return Refuse(p, "its path holds a character that separates")
		}
		first = false
	}
	return nil
}

// CheckTarget returns a *RefusedError for a link at p that leads out of the workspace at root. It
// checks the text of the link only, not other links on the way.
func CheckTarget(root, p, target string) error {
	if target == "" || len(target) > maxPath || strings.ContainsRune(target, 0) {
		return Refuse(p, "it is a link without a usable target")
	}
	to := filepath.ToSlash(target)
	if filepath.IsAbs(target) || strings.HasPrefix(to, "/") {
		rel, err := filepath.Rel(root, target)
		if err != nil {
			return Refuse(p, "it is a link out of the workspace, to %q", target)
		}
		to = filepath.ToSlash(rel)
	} else {
		to = path.Join(path.Dir(p), to)
	}
	if to == ".." || strings.HasPrefix(to, "../") {
		return Refuse(p, "it is a link out of the workspace, to %q", target)
	}
	return nil
}

// checkOutputs returns an error for outputs that are unsorted or that cannot be outputs.
func checkOutputs(outputs []Output) error {
	for i := range outputs {
		if err := checkOutput(&outputs[i]); err != nil {
			return err
		}
		if i > 0 && outputs[i-1].Path >= outputs[i].Path {
			return Refuse(outputs[i].Path, "it is listed twice or out of order")
		}
	}
	return nil
}

// CheckOutputs returns a *RefusedError for outputs that no record may have: unsorted, of an unknown
// kind, or below an output that is no directory.
func CheckOutputs(outputs []Output) error {
	if err := checkOutputs(outputs); err != nil {
		return err
	}
	return checkNesting(outputs)
}

// checkNesting returns an error for a path below an output that is no directory. paths are clean.
func checkNesting(outputs []Output) error {
	leaves := make(map[string]bool, len(outputs))
	for i := range outputs {
		if outputs[i].Kind != Dir {
			leaves[outputs[i].Path] = true
		}
	}
	for i := range outputs {
		for dir := path.Dir(outputs[i].Path); dir != "."; dir = path.Dir(dir) {
			if leaves[dir] {
				return Refuse(outputs[i].Path, "it lies below %q, which is no directory", dir)
			}
		}
	}
	return nil
}

func checkOutput(o *Output) error {
	if err := CheckPath(o.Path); err != nil {
		return err
	}
	ok := o.Mode&^0o777 == 0 && o.Size >= 0
	switch o.Kind {
	case File:
		ok = ok && o.Target == "" && o.Digest != Digest{}
	case Link:
		ok = ok && o.Mode == 0 && o.Size == 0 && o.Target != "" && o.Digest == Digest{}
	case Dir:
		ok = ok && o.Size == 0 && o.Target == "" && o.Digest == Digest{}
	default:
		ok = false
	}
	if !ok {
		return Refuse(o.Path, "its record contradicts itself")
	}
	return nil
}
