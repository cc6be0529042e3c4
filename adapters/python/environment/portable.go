package environment

import "github.com/bentobuild/bento/adapters"

// Portable returns what another machine needs of a virtual environment: nothing of it has a use there.
func Portable(scope adapters.Scope) adapters.Portable {
	if scope.Nothing {
		return adapters.Portable{}
	}
	return adapters.Portable{Stays: "its virtual environment has the paths of this machine in it"}
}
