package python

import (
	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/environment"
)

// Portable implements adapters.Porter.
func (a *Adapter) Portable(_ string, scope adapters.Scope) (adapters.Portable, error) {
	return environment.Portable(scope), nil
}
