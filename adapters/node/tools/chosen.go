package tools

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/node/settings"
	"github.com/bentobuild/bento/internal/jsonfile"
	"github.com/bentobuild/bento/internal/pattern"
	"github.com/bentobuild/bento/internal/probe"
)

// corepackEnv holds variables for corepack, among them the directory of its packages.
const corepackEnv = ".corepack.env"

// chosen returns the version of a tool that the files of at.Dir choose, where the tool
// itself would read more files of the repository; "" where bento can start the tool.
func (t *Tools) chosen(at probe.At, tool string) (version string, err error) {
	if tool == string(project.Yarn) {
		if err := t.ownYarn(at.Dir); err != nil {
			return "", err
		}
	}
	behind, err := t.Asker.Resolve(at.Path, at.Dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(behind.Path)
	switch {
	case err != nil:
		return "", err
	case filepath.Base(real) == "volta-shim":
		return t.byVolta(at.Dir, tool)
	case tool != "node" && isCorepack(behind.Path):
		return t.byCorepack(at.Dir, tool)
	}
	return "", nil
}

// becomes returns an error if pnpm would switch to another version of itself.
func (t *Tools) becomes(dir, tool, version string) error {
	if !t.Follows || tool != string(project.PNPM) {
		return nil
	}
	p, err := t.Shelf.Open(t.Shelf.Files(dir))
	if err != nil {
		return nil // another call reports it
	}
	for _, m := range p.Manifests() {
		if name, wanted := m.Manager(); name == tool && wanted != version {
			return &adapters.KnownAtRun{Why: fmt.Sprintf("%s requires %s %.40q, to which it switches", m.Path, name, wanted)}
		}
	}
	return nil
}

// ownYarn returns an error if the project has its own yarn, which the one on PATH would start.
func (t *Tools) ownYarn(dir string) error {
	if ignore := t.Env.Get("YARN_IGNORE_PATH"); ignore == "1" || ignore == "true" {
		return nil
	}
	for _, name := range []string{"YARN_YARN_PATH", "YARN_RC_FILENAME"} {
		if v := t.Env.Get(name); v != "" {
			return &adapters.KnownAtRun{Why: name + " is " + v}
		}
	}
	for at := dir; ; at = filepath.Dir(at) {
		for name, key := range map[string]string{settings.YarnFile: "yarnPath", ".yarnrc": "yarn-path"} {
			path := filepath.Join(at, name)
			data, err := t.Shelf.Files(at).Beyond().ReadChoice(path)
			if err != nil {
				return err
			}
			// The user's own file applies in every directory.
			if strings.Contains(string(data), key) && at != t.Env.Get("HOME") {
				return &adapters.KnownAtRun{Why: path + " names the project's own yarn"}
			}
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

var exactManager = pattern.New(`^([a-z]+)@(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)(?:\+[0-9A-Za-z.]+)?$`)

// byCorepack returns the version that corepack chooses, if corepack has it: the nearest
// packageManager, up to the root of the file system.
func (t *Tools) byCorepack(dir, tool string) (string, error) {
	if t.Env.Get("COREPACK_ENABLE_PROJECT_SPEC") == "0" {
		return "", nil
	}
	for at := dir; ; at = filepath.Dir(at) {
		text, err := t.packageManager(at)
		if err != nil {
			return "", err
		}
		if text != "" {
			return t.ofCorepack(dir, tool, text)
		}
		if at == filepath.Dir(at) {
			return "", nil
		}
	}
}

// packageManager reads the field in one directory.
func (t *Tools) packageManager(dir string) (string, error) {
	root, err := t.readPackage(dir)
	if root == nil || err != nil {
		return "", err
	}
	env := filepath.Join(dir, cmp.Or(t.Env.Get("COREPACK_ENV_FILE"), corepackEnv))
	if _, err := os.Lstat(env); err == nil {
		return "", &adapters.KnownAtRun{Why: env + " sets more than a version for corepack"}
	}
	text := root.Get("packageManager").Text()
	if text == "" && root.Get("devEngines").Get("packageManager") != nil {
		return "", &adapters.KnownAtRun{Why: filepath.Join(dir, project.File) + " has devEngines.packageManager"}
	}
	return text, nil
}

// readPackage reads the package.json in a directory and returns nil when it is missing.
func (t *Tools) readPackage(dir string) (*jsonfile.Value, error) {
	path := filepath.Join(dir, project.File)
	data, err := t.Shelf.Files(dir).Beyond().ReadChoice(path)
	if data == nil && err == nil {
		return nil, nil
	}
	var root *jsonfile.Value
	if err == nil {
		root, err = jsonfile.Parse(path, data)
	}
	if err != nil {
		return nil, &adapters.KnownAtRun{Why: path + " cannot be read"}
	}
	return root, nil
}

// ofCorepack returns the version of text, such as "pnpm@9.1.0+sha512.…", if corepack has
// it.
func (t *Tools) ofCorepack(dir, tool, text string) (string, error) {
	m := exactManager.FindStringSubmatch(text)
	switch {
	case m == nil:
		return "", &adapters.KnownAtRun{Why: fmt.Sprintf("packageManager is %.100q, expected name@version", text)}
	case m[1] != tool && t.Env.Get("COREPACK_ENABLE_STRICT") == "0":
		return "", nil
	case m[1] != tool:
		return "", t.missingVersion(dir, tool)
	}
	for _, place := range corepackPlaces() {
		if _, err := os.Stat(filepath.Join(t.corepackHome(), place, tool, m[2])); err == nil {
			return m[2], nil
		}
	}
	if t.Follows {
		return "", &adapters.KnownAtRun{Why: text + " is not fetched by corepack yet"}
	}
	return "", t.missingVersion(dir, tool)
}

// corepackPlaces returns the directories below its home in which corepack has packages: the second up to corepack 0.24,
// which Debian 13 has.
func corepackPlaces() []string { return []string{"v1", ""} }

func (t *Tools) corepackHome() string {
	cache := cmp.Or(t.Env.Get("XDG_CACHE_HOME"), filepath.Join(t.Env.Get("HOME"), ".cache"))
	return cmp.Or(t.Env.Get("COREPACK_HOME"), filepath.Join(cache, "node", "corepack"))
}

func (t *Tools) voltaHome() string {
	return cmp.Or(t.Env.Get("VOLTA_HOME"), filepath.Join(t.Env.Get("HOME"), ".volta"))
}

// byVolta returns the version that volta chooses: that of the nearest package.json, else ""
// for volta's default, which bento can start. volta would fetch a missing version.
func (t *Tools) byVolta(dir, tool string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		root, err := t.readPackage(at)
		if err != nil {
			return "", err
		}
		if root != nil {
			return t.ofVolta(filepath.Join(at, project.File), root.Get("volta"), tool)
		}
		if at == filepath.Dir(at) {
			return "", nil
		}
	}
}

func (t *Tools) ofVolta(path string, pins *jsonfile.Value, tool string) (string, error) {
	if pins == nil {
		return "", nil
	}
	version, image := pins.Get(tool).Text(), filepath.Join(t.voltaHome(), "tools", "image", tool)
	bundled := tool == "npm" && version == "" // part of Node.js
	if bundled {
		version, image = pins.Get("node").Text(), filepath.Join(t.voltaHome(), "tools", "image", "node")
	}
	at := filepath.Join(image, version)
	_, err := os.Stat(at)
	if pins.Get("extends") != nil || version != "" && (!exactManager.MatchString(tool+"@"+version) || err != nil) {
		return "", &adapters.KnownAtRun{Why: path + " requires a version that volta has not found yet"}
	}
	switch {
	case version == "":
		return "", nil
	case tool == "node":
		return "v" + version, nil
	case !bundled:
		return version, nil
	}
	npm, err := t.readPackage(filepath.Join(at, "lib", "node_modules", "npm"))
	if npm == nil || err != nil {
		return "", &adapters.KnownAtRun{Why: path + " requires a version that volta has not found yet"}
	}
	return npm.Get("version").Text(), nil
}
