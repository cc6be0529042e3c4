package main

import (
	"context"
	"os"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// rulesOff is a bento whose languages have no rules for files that nothing declares: what sources include and import,
// configuration in directories above, what an install copies. Observation alone finds these files.
func rulesOff() { os.Exit(bentoWith(withoutRules)) }

func withoutRules(o snapshot.Options) (list []adapters.Adapter) {
	for _, a := range builtin.All(o) {
		m := *a.Manifest()
		m.EmbedsIn = nil
		list = append(list, ruleless{a, &m})
	}
	return list
}

// ruleless is an adapter without such rules: it is no Embedder, no Importer, no SourceImporter.
type ruleless struct {
	adapters.Adapter
	manifest *adapters.Manifest
}

func (r ruleless) Manifest() *adapters.Manifest { return r.manifest }

func (r ruleless) Tasks(ctx context.Context, dir string) (adapters.TasksAnswer, error) {
	answer, err := adapters.Tasks(ctx, r.Adapter, dir)
	answer.Tasks = slices.Clone(answer.Tasks)
	for i := range answer.Tasks {
		answer.Tasks[i].ExtraInputs = nil
	}
	return answer, err
}

func (r ruleless) Links(ctx context.Context, dir string) (adapters.LinksAnswer, error) {
	answer, err := adapters.Links(ctx, r.Adapter, dir)
	answer.Links = slices.DeleteFunc(slices.Clone(answer.Links), func(l adapters.Link) bool { return l.Loose })
	return answer, err
}

func (r ruleless) InstallScope(ctx context.Context, dir string) (adapters.Scope, error) {
	scope, err := adapters.InstallScope(ctx, r.Adapter, dir)
	scope.Copied = nil
	return scope, err
}

// The abilities below are those of the adapter.

func (r ruleless) LockDigest(ctx context.Context, dir string) (adapters.LockAnswer, error) {
	return adapters.LockDigest(ctx, r.Adapter, dir)
}

func (r ruleless) ToolchainBasis(ctx context.Context, dir string) (string, error) {
	return r.Adapter.(adapters.Steerer).ToolchainBasis(ctx, dir)
}

func (r ruleless) CheckPin(want adapters.Toolchain, fingerprint string) adapters.Verdict {
	return adapters.CheckPin(r.Adapter, want, fingerprint)
}

func (r ruleless) Nested(ctx context.Context, dir, outer string) (adapters.NestedAnswer, error) {
	return r.Adapter.(adapters.Nester).Nested(ctx, dir, outer)
}

func (r ruleless) IsStamped(name string) bool {
	s, ok := r.Adapter.(adapters.Stamper)
	return ok && s.IsStamped(name)
}

func (r ruleless) StampEnv(env adapters.Environ, digest string) map[string]string {
	return r.Adapter.(adapters.Stamper).StampEnv(env, digest)
}

func (r ruleless) Add(ctx context.Context, req adapters.AddRequest, log adapters.LogFunc) error {
	return adapters.Add(ctx, r.Adapter, req, log)
}

func (r ruleless) Scaffold(name string) ([]adapters.ScaffoldFile, error) {
	return adapters.Scaffold(r.Adapter, name)
}

func (r ruleless) ToolchainAtRun(ctx context.Context, req adapters.RunRequest) (string, error) {
	return adapters.ToolchainAtRun(ctx, r.Adapter, req)
}
