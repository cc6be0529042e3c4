// Package builtin is the list of the adapters that are part of bento.
package builtin

import (
	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/adapters/deno"
	"github.com/bentobuild/bento/adapters/golang"
	"github.com/bentobuild/bento/adapters/jvm/gradle"
	"github.com/bentobuild/bento/adapters/jvm/maven"
	"github.com/bentobuild/bento/adapters/node"
	"github.com/bentobuild/bento/adapters/php"
	"github.com/bentobuild/bento/adapters/python"
	"github.com/bentobuild/bento/adapters/ruby"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// All returns the built-in adapters in the order of detection. Each sees the variables of
// o.Env that its own manifest declares, or that of an adapter with which it shares parsed
// files. No other variable can change an answer.
func All(o snapshot.Options) []adapters.Adapter {
	var all []adapters.Adapter
	for _, make := range makers() {
		var manifests []*adapters.Manifest
		for _, a := range make(snapshot.Options{AllowDownload: o.AllowDownload}) {
			manifests = append(manifests, a.Manifest())
		}
		own := o
		own.Env = o.Env.Declared(manifests...)
		all = append(all, make(own)...)
	}
	return all
}

// makers returns the constructors of the adapters; one constructor makes the adapters that
// share parsed files.
func makers() []func(snapshot.Options) []adapters.Adapter {
	return []func(snapshot.Options) []adapters.Adapter{
		one(golang.New), one(cargo.New), one(python.NewUV), one(python.New), one(ruby.New), one(php.New),
		one(maven.New), one(gradle.New), one(deno.New), node.All,
	}
}

func one[A adapters.Adapter](make func(snapshot.Options) A) func(snapshot.Options) []adapters.Adapter {
	return func(o snapshot.Options) []adapters.Adapter { return []adapters.Adapter{make(o)} }
}
