package deno

import (
	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/specifier"
)

// ImportsIn implements adapters.SourceImporter.
func (a *Adapter) ImportsIn() []string { return specifier.Sources() }

// SourceImports implements adapters.SourceImporter: what modules import by relative paths.
func (a *Adapter) SourceImports(_ string, _ []string, file string, data []byte) []adapters.Embed {
	return specifier.Paths(file, data)
}
