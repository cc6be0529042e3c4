package ruby

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bentobuild/bento/adapters"
)

const bundleConfig = ".bundle/config"

// private returns the first setting that may be a credential, "" for none. Bundler keeps those of a server under its address.
func private(config []byte) string {
	harmless := []string{"", "---", "BUNDLE_PATH", "BUNDLE_DEPLOYMENT", "BUNDLE_FROZEN", "BUNDLE_JOBS", "BUNDLE_WITH", "BUNDLE_WITHOUT"}
	for line := range bytes.Lines(config) {
		key, _, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		if !slices.Contains(harmless, key) {
			return key
		}
	}
	return ""
}

// Portable implements adapters.Porter: the directory of gems, if it is the project's own, and the settings that name it.
func (a *Adapter) Portable(dir string, scope adapters.Scope) (adapters.Portable, error) {
	if scope.Nothing {
		return adapters.Portable{}, nil
	}
	gems := installedTo(a.Now().Files(dir), scope.Dir)
	if gems == "" {
		return adapters.Portable{Stays: `its gems are in a directory that projects of this machine share; "bundle config set --local path vendor/bundle" moves them into the project`}, nil
	}
	data, err := a.Now().Files(dir).ReadIfExists(filepath.Join(scope.Dir, bundleConfig))
	if err != nil {
		return adapters.Portable{}, err
	}
	if key := private(data); key != "" {
		return adapters.Portable{Stays: key + " in .bundle/config may be a credential, which is not sent; an environment variable holds it as well"}, nil
	}
	return adapters.Portable{Trees: []adapters.PortableTree{
		{Dir: filepath.Join(scope.Dir, gems)},
		{Dir: filepath.Join(scope.Dir, ".bundle"), Only: []string{"config"}},
	}}, nil
}
