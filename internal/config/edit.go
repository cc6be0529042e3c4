package config

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/bentobuild/bento/diagnostics"
	"github.com/bentobuild/bento/internal/clone"
	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/tomlfile"
)

// edit changes the configuration file of a workspace, and keeps its comments and order: change returns the new
// text, nil for no change. A missing file is empty. For a link, edit replaces the target. It refuses a link that
// leads out of the workspace.
func edit(root, file string, change func(*tomlfile.File) ([]byte, error)) error {
	files := clone.At(root)
	data, err := files.Read(file, tomlfile.MaxConfig)
	var stray *clone.StrayError
	if err != nil && (errors.As(err, &stray) || !errors.Is(err, fs.ErrNotExist)) {
		return refused(RuleUnreadable, "", "%s cannot be read: %v", file, err)
	}
	f, problems := tomlfile.Parse(file, data)
	if f == nil {
		return diagnostics.AsError(problems)
	}
	text, err := change(f)
	if err != nil || text == nil {
		return err
	}
	err = files.Replace(file, text, 0o644)
	if errors.As(err, &stray) {
		return refused(clone.RuleLink, "replace the link by a file", "%s cannot be written: %v", file, stray)
	}
	return err
}

// refused returns the problem of a file that cannot be changed.
func refused(rule, hint, format string, args ...any) error {
	d := diagnostics.Pos{}.Error(rule, format, args...)
	d.Hint = hint
	return diagnostics.Problems{d}
}

// Pin writes the pin of a tool to bento.toml or a dish.toml, and creates a missing file. It returns the version
// that the file had before, "" for none.
func Pin(root, file, tool, version string) (previous string, err error) {
	return previous, edit(root, file, func(f *tomlfile.File) ([]byte, error) {
		if v := f.Lookup("toolchain", tool); v != nil {
			previous, _ = v.Text()
		}
		if previous == version {
			return nil, nil
		}
		text, err := f.Set(version, "toolchain", tool)
		if err != nil {
			return nil, refused(tomlfile.RuleWrongType, "write it by hand", "%s: %v", file, err)
		}
		return text, nil
	})
}

// AddToBento adds the paths of dishes to the file of a bento. It returns the added paths, also after an error.
func AddToBento(root, file string, paths []string) (added []string, err error) {
	for _, p := range paths {
		if err := edit(root, file, func(f *tomlfile.File) ([]byte, error) { return f.Append(p, "dishes") }); err != nil {
			return added, err
		}
		added = append(added, p)
	}
	return added, nil
}

// NewBento writes a bento with the paths of dishes, and returns its file. If bento discovers dishes in cfg only
// because there are no bentos, it sets discover in bento.toml.
func NewBento(root string, cfg *Workspace, name string, paths []string) (file string, err error) {
	file = path.Join(dish.BentosDir, name+".toml")
	if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(file))); err == nil {
		return "", refused("box_exists", "edit it, or choose another name", "%q exists already and does not hold a bento %q", file, name)
	}
	if _, err := os.Lstat(filepath.Join(root, dish.BentosDir)); err != nil && cfg.Discover {
		if err := keepDiscovery(root); err != nil {
			return "", err
		}
	}
	if _, err := clone.At(root).MkdirAll(dish.BentosDir); err != nil {
		return "", refused(clone.RuleLink, "replace the link by a directory", "%s/ cannot be made: %v", dish.BentosDir, err)
	}
	return file, edit(root, file, func(f *tomlfile.File) ([]byte, error) {
		text, err := f.Set(paths, "dishes")
		return slices.Concat([]byte("name = "+strconv.Quote(name)+"\n"), text), err
	})
}

func keepDiscovery(root string) error {
	return edit(root, dish.WorkspaceFile, func(f *tomlfile.File) ([]byte, error) {
		if f.Lookup("workspace", "discover") != nil {
			return nil, nil
		}
		text, err := f.Set(true, "workspace", "discover")
		if err != nil {
			d := diagnostics.Pos{File: dish.WorkspaceFile}.Error(diagnostics.RuleInvalid, "%v", err)
			d.Hint = "write discover = true under [workspace] first, else no dish is found beside those with dish.toml"
			return nil, diagnostics.Problems{d}
		}
		return text, nil
	})
}
