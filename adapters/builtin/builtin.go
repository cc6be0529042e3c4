// Package builtin is the list of the adapters that are part of bento.
package builtin

import (
	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/adapters/deno"
	"github.com/bentobuild/bento/adapters/golang"
	"github.com/bentobuild/bento/adapters/jvm"
	"github.com/bentobuild/bento/adapters/node"
	"github.com/bentobuild/bento/adapters/php"
	"github.com/bentobuild/bento/adapters/python"
	"github.com/bentobuild/bento/adapters/ruby"
)

// All gives the built-in adapters in the order of detection. Of o.Env each sees what its
// manifest declares, or that of an adapter which it shares with what it has read: what
// others set can change no answer.
func All(o adapters.Options) []adapters.Adapter {
	var all []adapters.Adapter
	for _, make := range makers() {
		var manifests []*adapters.Manifest
		for _, a := range make(adapters.Options{AllowDownload: o.AllowDownload}) {
			manifests = append(manifests, a.Manifest())
		}
		all = append(all, make(adapters.Options{Env: o.Env.Declared(manifests...), AllowDownload: o.AllowDownload, Clone: o.Clone})...)
	}
	return all
}

// makers returns what makes each adapter, or several that share what they read.
func makers() []func(adapters.Options) []adapters.Adapter {
	return []func(adapters.Options) []adapters.Adapter{
		one(golang.New), one(cargo.New), one(python.NewUV), one(python.New), one(ruby.New), one(php.New),
		one(jvm.NewMaven), one(jvm.NewGradle), one(deno.New), node.All,
	}
}

func one[A adapters.Adapter](make func(adapters.Options) A) func(adapters.Options) []adapters.Adapter {
	return func(o adapters.Options) []adapters.Adapter { return []adapters.Adapter{make(o)} }
}

// Environ returns the part of env that some built-in adapter may know.
func Environ(env adapters.Environ) adapters.Environ {
	var manifests []*adapters.Manifest
	for _, a := range All(adapters.Options{}) {
		manifests = append(manifests, a.Manifest())
	}
	return env.Declared(manifests...)
}
