// Package jvm holds the adapters "maven" and "gradle".
package jvm

import (
	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/jvm/gradle"
	"github.com/bentobuild/bento/adapters/jvm/maven"
)

// NewMaven returns the adapter "maven".
func NewMaven(o adapters.Options) adapters.Adapter { return maven.New(o) }

// NewGradle returns the adapter "gradle".
func NewGradle(o adapters.Options) adapters.Adapter { return gradle.New(o) }
