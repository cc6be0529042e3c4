package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/adaptertest"
	"github.com/bentobuild/bento/adapters/node/pins"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/diagnostics"
)

func TestRequiredToolchain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		want  *adapters.Toolchain
	}{
		{"none", nil, nil},
		{"nvmrc above", []string{".nvmrc", "\n# ours\n v20.11.1 # x\r\n", "a/.node-version", "18"},
			&adapters.Toolchain{Tool: "node", Version: "v20.11.1", File: ".nvmrc", Line: 3}},
		{"codename", []string{"a/.nvmrc", "lts/Iron"}, &adapters.Toolchain{Tool: "node", Version: "20", File: "a/.nvmrc", Line: 1}},
		{"any lts", []string{"a/.nvmrc", "lts/*"}, &adapters.Toolchain{Tool: "node", Version: "lts/*", File: "a/.nvmrc", Line: 1}},
		{"newest is no pin", []string{"a/.nvmrc", "node\n", "a/.node-version", "\xef\xbb\xbf18.1\n"},
			&adapters.Toolchain{Tool: "node", Version: "18.1", File: "a/.node-version", Line: 1}},
		{"unknown codename, empty file", []string{"a/.nvmrc", "lts/zirconium", ".node-version", "", ".tool-versions", "python 3\nnodejs 21.0.0\n"},
			&adapters.Toolchain{Tool: "node", Version: "21.0.0", File: ".tool-versions", Line: 2}},
		{"volta", []string{"a/package.json", "{\"engines\": {\"node\": \">=18\"},\n\"volta\": {\"node\": \"20.1.0\"}}"},
			&adapters.Toolchain{Tool: "node", Version: "20.1.0", File: "a/package.json", Line: 2}},
		{"engines", []string{"a/package.json", `{"engines": {"node": ">= 18.1 < 21 || 22.x"}, "devDependencies": {"@types/node": "^16"}}`},
			&adapters.Toolchain{Tool: "node", Version: ">= 18.1 < 21 || 22.x", File: "a/package.json", Line: 1}},
		{"engines that npm enforces", []string{"a/package.json", `{"engines": {"node": "18"}}`, "a/.npmrc", "a=b\nengine-strict = true"},
			&adapters.Toolchain{Tool: "node", Version: "18", File: "a/package.json", Line: 1, Strict: true}},
		{"of the workspace", []string{"package.json", `{"workspaces": ["a"], "engines": {"node": ">=18"}}`},
			&adapters.Toolchain{Tool: "node", Version: ">=18", File: "package.json", Line: 1}},
		{"no member", []string{"package.json", `{"workspaces": ["b"], "engines": {"node": ">=18"}}`}, nil},
		{"any", []string{"a/package.json", `{"engines": {"node": "*", "npm": ">=9"}}`},
			&adapters.Toolchain{Tool: "npm", Version: ">=9", File: "a/package.json", Line: 1}},
		{"types", []string{"a/package.json", `{"devDependencies": {"@types/node": "~20.4.5"}}`},
			&adapters.Toolchain{Tool: "node", Version: "^20", File: "a/package.json", Line: 1}},
		{"types without a number", []string{"a/package.json", `{"devDependencies": {"@types/node": "latest"}}`}, nil},
		{"packageManager", []string{"a/package.json", `{"packageManager": "npm@10.2.0+sha512.ab"}`},
			&adapters.Toolchain{Tool: "npm", Version: "10.2.0", File: "a/package.json", Line: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := adaptertest.Tree(t, append([]string{"a/package.json", "{}"}, tt.files...)...)
			got, err := newNPM().RequiredToolchain(t.Context(), filepath.Join(root, "a"))
			if err != nil {
				t.Fatal(err)
			}
			if tt.want != nil {
				tt.want.File = filepath.Join(root, tt.want.File)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Yarn 1 and its successor refuse the lockfile of each other. A version in package.json
// wins.
func TestYarnOfTheLockfile(t *testing.T) {
	const classic, berry = "# yarn lockfile v1\n", "__metadata:\n  version: 8\n"
	for _, tt := range []struct {
		name, lock, manifest string
		want                 string
		strict               bool
	}{
		{"classic", classic, "{}", "^1", true},
		{"berry", berry, "{}", ">=2", true},
		{"neither", "", "{}", "", false},
		{"packageManager", classic, `{"packageManager": "yarn@1.22.22"}`, "1.22.22", false},
	} {
		root := adaptertest.Tree(t, "a/package.json", tt.manifest, "a/yarn.lock", tt.lock)
		got, err := NewYarn(snapshot.Options{Env: adapters.NewEnviron(os.Environ())}).RequiredToolchain(t.Context(), filepath.Join(root, "a"))
		if err != nil || (got == nil) != (tt.want == "") {
			t.Fatalf("%s: %+v, %v", tt.name, got, err)
		}
		if got != nil && (got.Tool != "yarn" || got.Version != tt.want || got.Strict != tt.strict || got.Line == 0) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
	if v := pins.Check(adapters.Toolchain{Tool: "yarn", Version: "^1"}, "node=v20.1.0 yarn=4.18.1"); v.OK || !strings.Contains(v.Hint, "npm install -g yarn@^1") {
		t.Errorf("%+v", v)
	}
	if v := pins.Check(adapters.Toolchain{Tool: "yarn", Version: ">=2"}, "node=v20.1.0 yarn=1.22.22"); v.OK || !strings.Contains(v.Hint, "yarn set version 2") {
		t.Errorf("%+v", v)
	}
}

func TestMalformedPins(t *testing.T) {
	for _, files := range [][]string{
		{"a/.nvmrc", "\ntwenty one"},
		{".node-version", strings.Repeat("9", 10_000)},
		{"a/.node-version", "\x00\x01"},
		{".tool-versions", "\nnode >>3"},
		{"a/package.json", "{\n\"engines\": {\"node\": \"twelve\"}}"},
		{"a/package.json", "{\n\"packageManager\": \"npm@x.y\"}"},
	} {
		root := adaptertest.Tree(t, append([]string{"a/package.json", "{}"}, files...)...)
		_, err := newNPM().RequiredToolchain(t.Context(), filepath.Join(root, "a"))
		var problems diagnostics.Problems
		if !errors.As(err, &problems) || problems[0].File != filepath.Join(root, files[0]) || problems[0].Line == 0 || problems[0].Rule != "invalid_pin" {
			t.Errorf("%s gave %v", files[0], err)
		}
	}
}

func TestCheckPin(t *testing.T) {
	a := newNPM()
	const found = "node=v20.11.1 npm=10.2.4"
	for want, ok := range map[string]bool{
		"20": true, "v20.11.1": true, "20.11": true, "20.11.0": false, "18": false, "": true, "lts/*": true, "lts/iron": true,
		"lts/jod": false, ">=18 <21": true, ">= 18, < 20": false, "^18 || ^20": true, "18.x || >=21": false, "~20.11": true,
		"16 - 20": true, "node": true, "*": true, ">20": false, "<=20": true, "nonsense": false,
	} {
		v := a.CheckPin(adapters.Toolchain{Tool: "node", Version: want}, found)
		if v.OK != ok || v.Found != "20.11.1" || (v.Hint == "") != ok {
			t.Errorf("%q: %+v, want %v", want, v, ok)
		}
	}
	if v := a.CheckPin(adapters.Toolchain{Tool: "npm", Version: "9"}, found); v.OK || v.Hint != `install it with "npm install -g npm@9", or change the pin` {
		t.Errorf("npm 9: %+v", v)
	}
	if v := a.CheckPin(adapters.Toolchain{Tool: "node", Version: ">=22.1"}, found); v.Hint != `install it with a version manager, such as "nvm install 22.1", or change the pin` {
		t.Errorf("node 22: %+v", v)
	}
	if v := a.CheckPin(adapters.Toolchain{Tool: "node", Version: "lts/*"}, "node=v21.7.0"); v.OK {
		t.Error("21 never had long-term support")
	}
	if v := a.CheckPin(adapters.Toolchain{Tool: "node", Version: ">=22"}, "node=v22.0.0-nightly2024"); !v.OK {
		t.Errorf("a pre-release of 22 is no 22: %+v", v)
	}
	if v := a.CheckPin(adapters.Toolchain{Tool: "deno", Version: "1"}, found); !v.OK {
		t.Errorf("a tool of another program: %+v", v)
	}
}

// TestNoSilentDownload: what pnpm would fetch is refused where it stands.
func TestNoSilentDownload(t *testing.T) {
	for files, want := range map[string]string{
		"-- package.json --\n{\"devEngines\": {\"runtime\":\n {\"name\": \"node\", \"version\": \"^22\", \"onFail\": \"download\"}}}": "package.json:2: node ^22: devEngines.runtime: pnpm would download it",
		"-- package.json --\n{\"workspaces\": [\"a\"]}\n-- pnpm-workspace.yaml --\npackages: [a]\nuseNodeVersion: 22.1.0\n":           "pnpm-workspace.yaml:2: node 22.1.0: useNodeVersion: pnpm would download it",
	} {
		root := adaptertest.Project(t, files+"\n-- pnpm-lock.yaml --\n")
		a := all()["node-pnpm"]
		pin, err := a.RequiredToolchain(t.Context(), root)
		if err != nil || pin == nil {
			t.Fatalf("%q: %v, %v", files, pin, err)
		}
		got := fmt.Sprintf("%s:%d: %s %s: %s", adaptertest.Relative(root, pin.File), pin.Line, pin.Tool, pin.Version, pin.Refused)
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
		for _, p := range pin.More {
			if p.Tool == "node" {
				t.Errorf("%q: node is required twice: %v", files, pin)
			}
		}
		if _, err := a.Tasks(t.Context(), root); err != nil {
			t.Error(err)
		}
		allowed := NewPNPM(snapshot.Options{Env: adaptertest.Env(), AllowDownload: true})
		if pin, err := allowed.RequiredToolchain(t.Context(), root); err != nil || pin != nil && pin.Refused != "" {
			t.Error(pin, err)
		}
	}
	for id, a := range all() {
		if a.Manifest().SetEnv["COREPACK_ENABLE_NETWORK"] != "0" {
			t.Errorf("%s lets corepack fetch", id)
		}
	}
	for _, a := range All(snapshot.Options{AllowDownload: true}) {
		if env := a.Manifest().SetEnv; env["COREPACK_ENABLE_NETWORK"] != "" || env["pnpm_config_manage_package_manager_versions"] != "" {
			t.Errorf("%s is held back", a.Manifest().AdapterID)
		}
	}
}
