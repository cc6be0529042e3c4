package node

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/specifier"
)

// compiledFiles are the files of an included directory that the compiler of TypeScript reads.
const compiledFiles = "*.{ts,tsx,mts,cts,js,jsx,mjs,cjs,json}"

// ImportsIn implements adapters.SourceImporter.
func (a *Adapter) ImportsIn() []string { return append(specifier.Sources(), compilerFiles...) }

// SourceImports implements adapters.SourceImporter: what modules import by relative paths, and what a
// configuration of the compiler includes.
func (a *Adapter) SourceImports(dir string, _ []string, file string, data []byte) []adapters.Embed {
	name := filepath.Base(file)
	switch {
	case slices.Contains(compilerFiles, name):
		return included(file, data)
	case filepath.Ext(name) == ".json":
		return nil
	}
	return specifier.Paths(file, data)
}

// included returns the files and the files directly in directories that include and files name. A
// directory around them is no reason to wait for what is made somewhere in it.
func included(file string, data []byte) (list []adapters.Embed) {
	root, err := jsonfile.ParseLoose(file, data)
	if err != nil {
		return nil // the compiler reports it
	}
	for _, v := range slices.Concat(root.Get("include").Items(), root.Get("files").Items()) {
		to := beforeStar(strings.ReplaceAll(v.Text(), "${configDir}", "."))
		at := filepath.Join(filepath.Dir(file), filepath.FromSlash(to))
		if to == "" || filepath.IsAbs(to) || strings.ContainsAny(to, "$\x00") || at == filepath.Dir(file) {
			continue
		}
		e := adapters.Embed{Path: at, Glob: compiledFiles, File: file, Line: v.Line()}
		if slices.Contains([]string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"}, filepath.Ext(at)) && !strings.HasSuffix(to, "/") {
			e.Path, e.Glob = filepath.Dir(at), specifier.Quote(filepath.Base(at))
		}
		list = append(list, e)
	}
	return list
}
