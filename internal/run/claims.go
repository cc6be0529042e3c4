package run

import (
	"fmt"
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/cache"
	"github.com/bentobuild/bento/internal/dish"
)

const claimsVersion = 1

// claims returns the directories that recorded installs of d's scope have made. Changes are saved.
func (in *installer) claims(d *dish.Dish) *adapters.Claims {
	name := "installs/" + cache.ShortSum(d.ScopeID()) + ".made"
	text, _ := in.State.Load(name, claimsVersion) // without a record nothing is removed
	c := adapters.ReadClaims(text)
	c.Keep = func(text []byte) {
		if err := in.State.Store(name, claimsVersion, text); err != nil {
			in.warn("state_unwritable", "the state of this workspace cannot be written: "+err.Error(),
				"what the install of "+d.Name+" makes must be removed by hand if it fails")
		}
	}
	c.Tracked = in.tracked
	return c
}

// tracked returns an error if git tracks, or may track, a file at or below dir, an absolute path.
func (in *installer) tracked(dir string) error {
	rel, err := filepath.Rel(in.Root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%q is outside of the workspace", dir)
	}
	rel = filepath.ToSlash(rel)
	if in.Tree != nil && in.Tree.TracksBelow(rel) {
		return fmt.Errorf("git tracks files in %q", rel)
	}
	if in.Tree == nil || in.Tree.Unsure() {
		return fmt.Errorf("bento does not know which files git tracks in %q", rel)
	}
	return nil
}
