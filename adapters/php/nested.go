package php

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// insideRule is Manifest.Inside.
const insideRule = "it has a lockfile of its own, or a `name` that the package around it does not list under `replace`"

// Nested implements adapters.Nester: a package that is locked on its own, or has a name and is no
// part of the package in outer.
func (a *Adapter) Nested(_ context.Context, dir, outer string) (adapters.NestedAnswer, error) {
	return snapshot.JudgeNested(a.Files(dir), func(f *snapshot.Files) (adapters.NestedAnswer, error) { return a.nested(f, outer) })
}

func (a *Adapter) nested(f *snapshot.Files, outer string) (answer adapters.NestedAnswer, err error) {
	m, err := a.manifests.Read(f, manifestFile)
	if err != nil || f.IsFile(lockFile) {
		return answer, err
	}
	if m.Name == "" {
		answer.Reason, answer.Why = adapters.NoLockfile, "it has neither a lockfile of its own nor a name"
		return answer, nil
	}
	around, err := a.manifests.Read(f, filepath.Join(outer, manifestFile))
	if err != nil {
		return answer, err
	}
	if slices.ContainsFunc(around.Replaces, func(name string) bool { return strings.EqualFold(name, m.Name) }) {
		answer.Reason, answer.Why = adapters.PartOf, around.Path+" lists "+m.Name+" under replace"
	}
	return answer, nil
}
