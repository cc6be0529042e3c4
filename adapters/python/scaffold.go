package python

import (
	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/python/environment"
)

// Scaffold implements adapters.Scaffolder: a package with a test.
func (a *Adapter) Scaffold(name string) ([]adapters.ScaffoldFile, error) {
	return environment.ScaffoldFiles(name, ""), nil
}
