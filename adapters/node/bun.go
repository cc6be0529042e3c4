package node

import (
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/snapshot"
	"github.com/bentobuild/bento/internal/pattern"
)

func bunDialect() dialect {
	return dialect{
		manager:  project.Bun,
		id:       "bun",
		locks:    []string{"bun.lock", "bun.lockb"},
		settings: []string{"bunfig.toml", ".npmrc", "patches"},
		// bun leaves no sign of a finished install, so package modules writes a record.
		traces: func(*snapshot.Files, string) (traces, error) {
			return traces{made: []string{"node_modules"}}, nil
		},
		run:     runBy("bun"),
		install: frozen("bun install --frozen-lockfile", "bun install --no-save"),
		add: func(_ *project.Project, dev bool) []string {
			if dev {
				return []string{"bun", "add", "--dev"}
			}
			return []string{"bun", "add"}
		},
		fresh: lockfiles("bun.lock", `{
  "lockfileVersion": 1,
  "workspaces": {
    "": {
      "name": "NAME",
    },
  },
  "packages": {
  }
}
`),
		eslint:  "bunx --no-install eslint --format=json .",
		hint:    adapters.Packages{Brew: "oven-sh/bun/bun", Else: `install it with "npm install -g bun"`},
		passEnv: []string{"BUN_*", "DO_NOT_TRACK"},
		// Without node_modules bun fetches the newest version of whatever a module imports.
		stayEnv: map[string]string{"BUN_OPTIONS": "--no-install"},
	}
}

// bunTest returns the recipe of tests that bun finds itself.
func (r *recipes) bunTest() adapters.Task {
	t := adapters.Task{Name: "test", Run: "bun test", Path: r.path()}
	t.ExtraInputs = r.shared.inputs(t.Name, r.ts.Above)
	if r.Script("build").Line > 0 {
		t.DependsOn = []string{"build"}
	}
	return t
}

// maxTestDirs is how many directories are searched for tests.
const maxTestDirs = 500

// testFile matches the names of tests (https://bun.com/docs/test#run-tests).
var testFile = pattern.New(`[._](test|spec)\.(js|jsx|ts|tsx|mjs|cjs|mts|cts)$`)

// hasTests reports whether "bun test" would find tests outside of other packages.
func hasTests(f *snapshot.Files) bool {
	queue := []string{f.Dir()}
	for i := 0; i < len(queue) && i < maxTestDirs; i++ {
		entries := f.List(queue[i])
		if i > 0 && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == project.File }) {
			continue
		}
		for _, e := range entries {
			if e.Type().IsRegular() && testFile.MatchString(e.Name()) {
				return true
			}
			if e.IsDir() && e.Name() != "node_modules" && e.Name()[0] != '.' {
				queue = append(queue, filepath.Join(queue[i], e.Name()))
			}
		}
	}
	return false
}
