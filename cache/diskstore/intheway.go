package diskstore

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// InTheWay returns the paths of directories at the place of an entry. Such an entry can be neither stored
// nor removed. Since bento makes none, InTheWay removes only the empty ones.
func (s *Store) InTheWay(ctx context.Context) ([]string, error) {
	var paths []string
	err := s.with(false, func(now *format) error {
		st := stock{all: []*format{now}, current: now}
		for kind := range kinds {
			for i, there := range st.parts(kind) {
				if !there {
					continue
				}
				found, err := now.inTheWay(kind, byte(i))
				if err = errors.Join(err, context.Cause(ctx)); err != nil {
					return err
				}
				paths = append(paths, found...)
			}
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return paths, err
}

// inTheWay is InTheWay for one shard.
func (f *format) inTheWay(kind int, shard byte) (paths []string, err error) {
	dir, done, err := f.shard(kind, shard, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer done()
	entries, err := dir.Names()
	for _, e := range entries {
		if _, ok := parse(filepath.Base(dir.Path()) + strings.TrimSuffix(e.Name(), compressed)); !ok || !e.IsDir() {
			continue
		}
		if dir.RemoveEmpty(e.Name()) != nil {
			paths = append(paths, filepath.Join(dir.Path(), e.Name()))
		}
	}
	slices.Sort(paths)
	return paths, err
}

// older returns the formats older than the current one.
func (st *stock) older() (list []*format) {
	for _, f := range st.others {
		if numberOf(filepath.Base(f.Path())) < numberOf(formatDir) {
			list = append(list, f)
		}
	}
	return list
}
