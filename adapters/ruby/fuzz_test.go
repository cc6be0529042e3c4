package ruby

import (
	"path/filepath"
	"testing"

	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// FuzzInstalledTo reads the settings of Bundler: what they name is removed before an
// install from scratch, so it may be nowhere but in the project.
func FuzzInstalledTo(f *testing.F) {
	for _, seed := range []string{"---\nBUNDLE_PATH: \"vendor/bundle\"\n", "BUNDLE_DEPLOYMENT: \"true\"\r\n", "BUNDLE_PATH: ../x", "BUNDLE_PATH: /x\nBUNDLE_PATH:", "BUNDLE_PATH: ''"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		adaptertest.Write(t, filepath.Join(dir, ".bundle", "config"), string(data))
		if made := installedTo(snapshot.NewFiles(dir), dir); made != "" && !filepath.IsLocal(made) {
			t.Fatalf("%q is not in the project", made)
		}
	})
}
