package builtin_test

import (
	"slices"
	"testing"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/builtin"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/sampling"
)

// What an adapter remembers of a project follows the project's files, as it has to in a
// bento that watches.
func TestAnswersFollowTheFiles(t *testing.T) {
	all := func() []adapters.Adapter { return builtin.All(snapshot.Options{Env: adaptertest.Env()}) }
	for _, a := range sampling.Short(t, 4, all()) {
		id := a.Manifest().AdapterID
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			root := adaptertest.Fixture(t, id)
			again := func() adapters.Adapter {
				return all()[slices.IndexFunc(all(), func(a adapters.Adapter) bool { return a.Manifest().AdapterID == id })]
			}
			adaptertest.Follows(t, again, root, manifests())
		})
	}
}

// manifests are the files that people edit.
func manifests() []string {
	return []string{
		"go.mod", "go.work", "Cargo.toml", "pyproject.toml", "requirements.txt", "Gemfile", "*.gemspec", "composer.json", "pom.xml",
		"*.gradle", "*.gradle.kts", "deno.json", "deno.jsonc", "package.json", "pnpm-workspace.yaml", ".yarnrc.yml",
	}
}
