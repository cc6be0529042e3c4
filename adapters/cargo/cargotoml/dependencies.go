package cargotoml

import (
	"cmp"
	"strings"

	"github.com/bentobuild/bento/internal/tomlfile"
)

// dependencies returns the dependencies of a package, including those of single platforms.
func dependencies(path string, root *tomlfile.Value) []Dependency {
	tables := []*tomlfile.Value{root}
	for _, platform := range children(child(root, "target")) {
		tables = append(tables, platform)
	}
	var list []Dependency
	for _, table := range tables {
		for _, kind := range []string{"dependencies", "build-dependencies", "build_dependencies", "dev-dependencies", "dev_dependencies"} {
			for name, v := range children(child(table, kind)) {
				d := dependency(path, name, v)
				d.Dev = strings.HasPrefix(kind, "dev")
				list = append(list, d)
			}
		}
	}
	return list
}

func dependency(path, name string, v *tomlfile.Value) Dependency {
	d := Dependency{Package: cmp.Or(text(child(v, "package")), name), Line: v.KeyPos().Line}
	if at := child(v, "path"); text(at) != "" {
		d.Dir, d.Line = resolve(path, text(at)), at.KeyPos().Line
	}
	if at := child(v, "workspace"); truth(at) {
		d.Inherited, d.Line = name, at.KeyPos().Line
	}
	return d
}

// patches returns the entries of [patch] and [replace] that lead to directories.
func patches(path string, root *tomlfile.Value) []Dependency {
	sources := []*tomlfile.Value{child(root, "replace")}
	for _, source := range children(child(root, "patch")) {
		sources = append(sources, source)
	}
	var list []Dependency
	for _, source := range sources {
		for name, v := range children(source) {
			if d := dependency(path, name, v); d.Dir != "" {
				d.Package, _, _ = strings.Cut(d.Package, ":") // "name:version" in [replace]
				list = append(list, d)
			}
		}
	}
	return list
}
