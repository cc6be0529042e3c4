package run

import (
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/internal/dish"
)

// InstallSettings is what the configuration says of installs.
type InstallSettings struct {
	PassEnv []string            // NAME or PREFIX_*: variables that all installs see
	OfDish  map[string][]string // the same for the installs of single dishes, by their paths
	Inputs  map[string][]string // globs of the files that the scripts of a dish read, by its path
	// Observe says which installs are observed: a change of a file that one has read needs another. "": none.
	Observe dish.Observe
}

// SettingsOfInstalls returns the settings of the installs of dishes, which all see the variables pass.
func SettingsOfInstalls(pass []string, dishes []*dish.Dish) InstallSettings {
	s := InstallSettings{PassEnv: pass, OfDish: make(map[string][]string), Inputs: make(map[string][]string)}
	for _, d := range dishes {
		if d.Config == nil {
			continue
		}
		if names := d.Config.Install.PassEnv; len(names) > 0 {
			s.OfDish[d.Path] = names
		}
		for _, g := range d.Config.Install.Inputs {
			s.Inputs[d.Path] = append(s.Inputs[d.Path], g.Text)
		}
	}
	return s
}

// passEnv returns the variables that the configuration passes to the install of d: those of every dish
// below the directory that is installed as one.
func (s *InstallSettings) passEnv(root string, d *dish.Dish) []string {
	names := slices.Clone(s.PassEnv)
	for path, of := range s.OfDish {
		rel, err := filepath.Rel(d.ScopeDir(), filepath.Join(root, filepath.FromSlash(path)))
		if path == d.Path || err == nil && filepath.IsLocal(rel) {
			names = append(names, of...)
		}
	}
	return names
}
