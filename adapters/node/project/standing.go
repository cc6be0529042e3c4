package project

import (
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/packagejson"
	"github.com/bentobuild/bento/adapters/node/settings"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/jsonfile"
)

// Standing is the place of a package among the packages above it.
type Standing struct {
	Own   bool   // it has a lockfile or members of its own
	Works bool   // it has scripts or dependencies
	Root  string // the nearest directory above that declares members, "" for none
	By    string // the name of the file that does, one of several
	Named bool   // that directory names it
}

// Stand returns the standing of the package in f's directory. The error is that of a manifest
// above, or of its own where that decides.
func (s *Shelf) Stand(f *snapshot.Files) (Standing, error) {
	own, malformed := s.Read(f, f.Dir())
	out := Standing{Own: lockedBy(f.IsFile) != "" || otherMembers(f, f.Dir(), f.IsFile) != nil}
	if own != nil {
		out.Own, out.Works = out.Own || len(own.Workspaces) > 0, works(own)
	}
	for _, l := range s.above(f) {
		if l.err != nil {
			return out, l.err
		}
		if l.space == nil && l.others == nil {
			continue
		}
		out.Root, out.By = l.Dir, l.declares()
		rel, err := filepath.Rel(l.Dir, f.Dir())
		out.Named = l.space != nil && l.space.has(f.Dir()) || err == nil && l.others.match(filepath.ToSlash(rel))
		return out, nil
	}
	return out, malformed
}

// declares returns the name of the file that declares the members of a directory.
func (l *Level) declares() string {
	switch {
	case l.space != nil && l.space.PNPM != nil:
		return settings.PNPMFile
	case l.space != nil:
		return File
	}
	for _, name := range []string{"lerna.json", "deno.json"} {
		if l.isFile(name) {
			return name
		}
	}
	return "deno.jsonc"
}

// works reports whether a package has scripts or dependencies.
func works(m *packagejson.Manifest) bool { return len(m.Scripts) > 0 || len(m.Dependencies) > 0 }

// IsProject reports whether the package.json in f's directory describes a project. A
// malformed one does, so that bento reports it.
func (s *Shelf) IsProject(f *snapshot.Files) bool {
	m, err := s.Read(f, f.Dir())
	return err != nil || m == nil || !m.Hint || lockedBy(f.IsFile) != ""
}

// otherMembers returns the members that files of other tools declare in a directory: lerna,
// and Deno. It returns nil when none does. A malformed file declares none: its own tool
// reports it.
func otherMembers(f *snapshot.Files, dir string, isFile func(name string) bool) memberGlobs {
	read := func(name string) *jsonfile.Value {
		if !isFile(name) {
			return nil
		}
		data, err := f.Read(filepath.Join(dir, name))
		if err != nil {
			return nil
		}
		root, err := jsonfile.ParseLoose(filepath.Join(dir, name), data)
		if err != nil {
			return nil
		}
		return root
	}
	lists := []*jsonfile.Value{read("lerna.json").Get("packages")}
	for _, name := range []string{"deno.json", "deno.jsonc"} {
		of := read(name).Get("workspace")
		lists = append(lists, of, of.Get("members"))
	}
	var globs []string
	for _, v := range lists {
		for _, item := range v.Items() {
			globs = append(globs, item.Text())
		}
	}
	globs = globs[:min(len(globs), adapters.MaxMembers)]
	return slices.Clip(compileGlobs(globs))
}
