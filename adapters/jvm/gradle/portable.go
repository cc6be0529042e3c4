package gradle

import "github.com/bentobuild/bento/adapters"

// Portable implements adapters.Porter.
func (a *Adapter) Portable(string, adapters.Scope) (adapters.Portable, error) {
	return adapters.Portable{Stays: "Gradle fetches what it needs while it builds, and no file lists that"}, nil
}
