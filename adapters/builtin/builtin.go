// Package builtin is the list of the adapters that are part of bento.
package builtin

import (
	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/cargo"
	"github.com/bentobuild/bento/adapters/golang"
	"github.com/bentobuild/bento/adapters/node"
	"github.com/bentobuild/bento/adapters/python"
)

// All gives the built-in adapters in the order of detection, for the environment
// that bento was started with.
func All(env adapters.Environ) []adapters.Adapter {
	return []adapters.Adapter{
		golang.New(env, nil),
		cargo.New(env, nil),
		python.New(env),
		node.NewNPM(env),
	}
}
