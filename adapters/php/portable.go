package php

import (
	"path/filepath"

	"github.com/bentobuild/bento/adapters"
)

// Portable implements adapters.Porter: the vendor directory, whose autoloader finds everything beside itself.
func (a *Adapter) Portable(dir string, scope adapters.Scope) (adapters.Portable, error) {
	if scope.Nothing {
		return adapters.Portable{}, nil
	}
	m, err := a.manifests.Read(a.Now().Files(dir), manifestFile)
	if err != nil {
		return adapters.Portable{}, err
	}
	if !filepath.IsLocal(m.VendorDir) {
		return adapters.Portable{Stays: "its vendor-dir " + m.VendorDir + " is outside of the project"}, nil
	}
	return adapters.Portable{Trees: []adapters.PortableTree{{Dir: filepath.Join(dir, filepath.FromSlash(m.VendorDir))}}}, nil
}
