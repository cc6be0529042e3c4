package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/owndir"
	"github.com/bentobuild/bento/plugin/bundle/manifest"
)

// Remove removes a version of a package, or with the version "" all of them. It returns the removed
// versions. It removes also damaged ones.
func (s *Store) Remove(ctx context.Context, id, version string) ([]string, error) {
	var removed []string
	if !manifest.ValidID(id) {
		return nil, s.missing(id, version, nil)
	}
	err := s.change(ctx, false, func(root *owndir.Dir) error {
		there, err := versionsAt(root, id)
		if err != nil {
			return err
		}
		for _, v := range there {
			if version != "" && v != version {
				continue
			}
			if err := discard(root, id, v); err != nil {
				return err
			}
			removed = append(removed, v)
		}
		if len(removed) == 0 {
			return s.missing(id, version, there)
		}
		return forget(root, id, removed)
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = s.missing(id, version, nil)
	}
	return removed, err
}

func (s *Store) missing(id, version string, there []string) error {
	name := id
	if version != "" {
		name += " " + version
	}
	if len(there) == 0 {
		return diagnostics.Refuse(RuleNotFound, s.command()+" list names the installed packages", "the package %s is not installed", name)
	}
	return diagnostics.Refuse(RuleNotFound, "", "the package %s is not installed, found %s", name, diagnostics.Few(there))
}

// versionsAt lists the versions of an id, also damaged ones, sorted from the highest on.
func versionsAt(root *owndir.Dir, id string) ([]string, error) {
	dir, err := root.Enter(id, false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.Names()
	var list []string
	for _, e := range entries {
		if e.IsDir() && manifest.ValidVersion(e.Name()) {
			list = append(list, e.Name())
		}
	}
	slices.SortFunc(list, func(a, b string) int { return manifest.Compare(b, a) })
	return list, err
}

// discard moves a package out of its place in one step, then removes it.
func discard(root *owndir.Dir, id, version string) error {
	temps, err := root.Enter(tempName, true)
	if err != nil {
		return err
	}
	defer temps.Close()
	temp, err := temps.Temp()
	if err != nil {
		return err
	}
	defer temp.Remove()
	versions, err := root.Enter(id, false)
	if err != nil {
		return err
	}
	defer versions.Close()
	return versions.Move(version, temp.Dir, "package")
}

// forget updates the state file after a removal. If the active version was removed, the highest remaining
// version becomes the active one.
func forget(root *owndir.Dir, id string, removed []string) error {
	there, err := versionsAt(root, id)
	if err != nil {
		return err
	}
	list, _ := readState(root)
	e, known := list[id]
	switch {
	case len(there) == 0:
		_ = root.RemoveEmpty(id)
		if !known {
			return nil
		}
		delete(list, id)
	case !known || !slices.Contains(removed, e.Version):
		return nil
	default:
		e.Version = there[0]
		list[id] = e
	}
	return writeState(root, list)
}

// Rollback makes the next lower installed version of a package the active one. It returns the
// versions before and after.
func (s *Store) Rollback(ctx context.Context, id string) (from, to string, err error) {
	err = s.update(ctx, id, func(found []Found, e *entry) error {
		i := slices.IndexFunc(found, func(f Found) bool { return f.Active })
		from = found[i].Version
		if i+1 == len(found) {
			return diagnostics.Refuse(RuleNotFound, "install an older version with "+s.command()+" add", "the package %s has no version below the active one, found %s", id, versionsOf(found))
		}
		to = found[i+1].Version
		e.Version, e.Source = to, found[i+1].Source
		return nil
	})
	return from, to, err
}

// Enable enables or disables a package with all its versions.
func (s *Store) Enable(ctx context.Context, id string, on bool) error {
	return s.update(ctx, id, func(_ []Found, e *entry) error {
		e.Enabled = on
		return nil
	})
}

// update changes the entry of an installed package in the state file.
func (s *Store) update(ctx context.Context, id string, set func([]Found, *entry) error) error {
	if !manifest.ValidID(id) {
		return s.missing(id, "", nil)
	}
	err := s.change(ctx, false, func(root *owndir.Dir) error {
		found, problems := Global(s.Dir).discover(id)
		if len(found[id]) == 0 {
			if len(problems) > 0 {
				return fmt.Errorf("the package %s is damaged: %s", id, problems[0].Message)
			}
			return s.missing(id, "", nil)
		}
		list, _ := readState(root)
		if list == nil {
			list = states{}
		}
		e, known := list[id]
		if i := slices.IndexFunc(found[id], func(f Found) bool { return f.Active }); !known {
			e = entry{Version: found[id][i].Version, Enabled: true, Source: found[id][i].Source}
		}
		if err := set(found[id], &e); err != nil {
			return err
		}
		list[id] = e
		return writeState(root, list)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return s.missing(id, "", nil)
	}
	return err
}
