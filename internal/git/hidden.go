package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// hidden is a tracked file whose changes git ignores, after git update-index --assume-unchanged or
// --skip-worktree.
type hidden struct {
	span
	mode    uint32
	id      []byte // id in the index
	skipped bool   // the file may be missing
}

const modeSymlink = 0o120000

// changedHidden returns the hidden files that differ from the index. A file that equals the index
// only after a filter counts as changed.
func (r *Repo) changedHidden(ctx context.Context, tracked *Files) (paths []string, err error) {
	if tracked == nil {
		return nil, nil
	}
	list, text := tracked.hidden, tracked.text
	if tracked.asked {
		if text, err = r.run(ctx, queries{}.hidden(), nil); err == nil {
			list, err = parseHidden(text)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, h := range list {
		path := string(text[h.off : h.off+h.len])
		same, err := r.isAsIndexed(ctx, path, h)
		if err != nil {
			return nil, err
		}
		if !same {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// isAsIndexed reports whether a file equals the index. A file left out of a sparse work tree does.
func (r *Repo) isAsIndexed(ctx context.Context, path string, h hidden) (bool, error) {
	fi, err := os.Lstat(filepath.Join(r.top, filepath.FromSlash(path)))
	if err != nil {
		return h.skipped && errors.Is(err, fs.ErrNotExist), nil
	}
	if isLink := fi.Mode().Type() == fs.ModeSymlink; isLink != (h.mode&modeMask == modeSymlink) {
		return false, nil
	}
	got, err := r.blobID(ctx, path, len(h.id))
	return err == nil && got == hex.EncodeToString(h.id), ctx.Err() // an unreadable file counts as changed
}

// parseHidden parses the output of git ls-files -s -v -z, "TAG SP MODE SP ID SP STAGE TAB PATH NUL"
// for each file. The tag "S" means skip-worktree, a lower-case tag assume-unchanged.
func parseHidden(out []byte) (list []hidden, err error) {
	for pos := 0; pos < len(out); {
		line, _, ok := bytes.Cut(out[pos:], []byte{0})
		about, path, there := bytes.Cut(line, []byte{'\t'})
		fields := strings.Fields(string(about))
		if !ok || !there || len(fields) != 4 || len(path) == 0 {
			return nil, fmt.Errorf("git ls-files: %q: required a tag, a mode, an id, a stage and a path", line)
		}
		mode, err := strconv.ParseUint(fields[1], 8, 32)
		if err != nil {
			return nil, fmt.Errorf("git ls-files: %q: no mode", line)
		}
		id, err := hex.DecodeString(fields[2])
		if err != nil {
			return nil, fmt.Errorf("git ls-files: %q: no id", line)
		}
		skipped := strings.EqualFold(fields[0], "S")
		if (skipped || fields[0] == strings.ToLower(fields[0])) && mode&modeMask != modeLink {
			at := span{off: uint32(pos + len(line) - len(path)), len: uint32(len(path))}
			list = append(list, hidden{span: at, mode: uint32(mode), id: id, skipped: skipped})
		}
		pos += len(line) + 1
	}
	return list, nil
}
