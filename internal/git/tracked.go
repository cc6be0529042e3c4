package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// maxIndex is the largest size of an index file in bytes: about ten million files.
const maxIndex = 1 << 30

// maxConfig is the largest size of a configuration file in bytes.
const maxConfig = 16 << 20

// Tracked returns ErrUnread when only git can read the index: a split or sparse one.
var ErrUnread = errors.New("only git can read the index")

// Tracked wraps ErrDamaged when the index is damaged.
var ErrDamaged = errors.New("git index")

// Tracked returns the paths that git tracks, relative to the top level, from the index file. When
// it returns ErrUnread the caller calls AskTracked. The list is empty when there is no index yet.
func (r *Repo) Tracked() (*Files, error) {
	data, err := readBounded(r.IndexFile(), maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	size, err := r.hashSize()
	if err != nil {
		return nil, err
	}
	files, err := parseIndex(data, size)
	if errors.Is(err, errForeign) {
		return nil, fmt.Errorf("%q: %w", r.IndexFile(), ErrUnread)
	}
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrDamaged, r.IndexFile(), err)
	}
	return files, nil
}

// AskTracked returns the output of git from which ParseTracked makes the result of Tracked.
func (r *Repo) AskTracked(ctx context.Context) ([]byte, error) {
	return r.run(ctx, queries{}.tracked(), nil)
}

// ParseTracked parses the output of AskTracked and keeps it: "MODE SP OBJECT SP STAGE TAB PATH NUL"
// for each file.
func ParseTracked(out []byte) (*Files, error) {
	var at []span
	for pos := 0; pos < len(out); {
		n := bytes.IndexByte(out[pos:], 0)
		if n < 0 {
			return nil, fmt.Errorf("git ls-files: no NUL at the end of %q", out[pos:])
		}
		tab := bytes.IndexByte(out[pos:pos+n], '\t')
		if tab < 0 || tab+1 == n {
			return nil, fmt.Errorf("git ls-files: no path in %q", out[pos:pos+n])
		}
		link := bytes.HasPrefix(out[pos:], []byte("160000 "))
		at = append(at, span{off: uint32(pos + tab + 1), len: uint32(n - tab - 1), link: link})
		pos += n + 1
	}
	return sorted(out, at), nil
}

// hashSize returns the size of object ids, which the index does not contain.
func (r *Repo) hashSize() (int, error) {
	config, err := readBounded(filepath.Join(r.common, "config"), maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for line := range strings.Lines(strings.ToLower(string(config))) {
		key, value, _ := strings.Cut(line, "=")
		if strings.HasSuffix(strings.TrimSpace(key), "objectformat") && strings.Trim(value, " \t\r\n\"") == "sha256" {
			return 32, nil
		}
	}
	return 20, nil
}

// partial reports whether the repository may lack objects that git would fetch on demand.
func (r *Repo) partial() bool {
	config, err := readBounded(filepath.Join(r.common, "config"), maxConfig)
	text := strings.ToLower(string(config))
	return err == nil && (strings.Contains(text, "promisor") || strings.Contains(text, "partialclone"))
}
