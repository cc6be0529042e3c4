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

// All gives the built-in adapters in the order of detection.
func All(o adapters.Options) []adapters.Adapter {
	return append([]adapters.Adapter{
		golang.New(o),
		cargo.New(o),
		python.NewUV(o),
		python.New(o),
		ruby.New(o),
		php.New(o),
		jvm.NewMaven(o),
		jvm.NewGradle(o),
		deno.New(o),
	}, node.All(o)...)
}
