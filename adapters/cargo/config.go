package cargo

import (
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters/cargo/cargotoml"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// configsHere returns the configuration files of the project in f's directory and above,
// nearest first.
func (a *Adapter) configsHere(f *snapshot.Files) ([]*cargotoml.Config, error) {
	var homes []string
	for dir := range f.Ancestors() {
		homes = append(homes, filepath.Join(dir, ".cargo"))
	}
	return a.configsIn(f, homes)
}

// configsBeyond returns the configuration files that cargo reads outside of the project:
// above its top, and in CARGO_HOME.
func (a *Adapter) configsBeyond(f *snapshot.Files, top string) ([]*cargotoml.Config, error) {
	var homes []string
	for dir := top; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		homes = append(homes, filepath.Join(dir, ".cargo"))
	}
	if home := a.home("CARGO_HOME", ".cargo"); !slices.Contains(homes, home) {
		homes = append(homes, home)
	}
	return a.configsIn(f, homes)
}

// configsIn reads the configuration files in .cargo directories. Of two in one directory,
// cargo takes the one without an extension.
func (a *Adapter) configsIn(f *snapshot.Files, homes []string) ([]*cargotoml.Config, error) {
	var list []*cargotoml.Config
	for _, home := range homes {
		for _, name := range []string{"config", "config.toml"} {
			path := filepath.Join(home, name)
			if !f.IsFile(path) {
				continue
			}
			c, err := a.configs.Read(f, path)
			if err != nil {
				return nil, err
			}
			list = append(list, c)
			break
		}
	}
	return list, nil
}

// home returns the directory that a variable names, else the one under HOME.
func (a *Adapter) home(variable, usual string) string {
	if dir := a.env.Get(variable); dir != "" {
		return dir
	}
	return filepath.Join(a.env.Get("HOME"), usual)
}
