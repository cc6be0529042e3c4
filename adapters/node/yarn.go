package node

import (
	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
)

// yarnDialect is that of two programs of one name: yarn 1, and its successor, which
// may keep packages in archives and have no node_modules at all.
func yarnDialect(s *project.Shelf) dialect {
	y := yarns{s}
	return dialect{
		manager:  project.Yarn,
		id:       "node-yarn",
		locks:    []string{"yarn.lock"},
		settings: []string{".yarnrc.yml", ".yarnrc", ".npmrc", "patches", ".yarn/patches", ".yarn/plugins"},
		traces:   y.traces,
		run:      runBy("yarn", "build", "test", "lint"),
		install:  y.install,
		add: func(p *project.Project, dev bool) []string {
			argv := []string{"yarn", "add"}
			if dev {
				argv = append(argv, "--dev")
			}
			if gen, _ := s.Generation(adapters.NewFiles(p.Dir), p.Scope()); gen == project.Classic && p.Aggregate() != nil {
				argv = append(argv, "--ignore-workspace-root-check")
			}
			return argv
		},
		eslint:  "yarn eslint --format=json .",
		hint:    adapters.Packages{Pacman: "yarn", Apk: "yarn", Brew: "yarn", Else: `install it with "npm install -g yarn", or "npm install -g @yarnpkg/cli-dist" for yarn 2 and later`},
		passEnv: []string{"YARN_*"},
		setEnv: map[string]string{
			// yarn refuses names that it does not know.
			"YARN_ENABLE_COLORS":        "0",
			"YARN_ENABLE_PROGRESS_BARS": "0",
			"YARN_ENABLE_TELEMETRY":     "0",
		},
	}
}

// yarns tells the two programs apart.
type yarns struct{ shelf *project.Shelf }

func (y yarns) traces(f *adapters.Files, dir string) (traces, error) {
	gen, err := y.shelf.Generation(f, dir)
	switch {
	case err != nil || gen == project.UnknownGeneration:
		return traces{}, err
	case gen == project.Classic:
		return marked("node_modules/.yarn-integrity")(f, dir)
	}
	config, err := y.shelf.YarnSettings(f, dir)
	switch {
	case err != nil:
		return traces{}, err
	case config.Linker == "node-modules":
		const state = "node_modules/.yarn-state.yml"
		return traces{made: []string{state}, mark: state, always: true}, nil
	case config.Linker == "pnpm":
		return traces{made: []string{"node_modules"}, always: true}, nil
	}
	return traces{made: []string{".pnp.cjs"}, plain: true, always: true}, nil
}

func (y yarns) install(f *adapters.Files, dir string, locked bool) ([]string, error) {
	gen, err := y.shelf.Generation(f, dir)
	switch {
	case err != nil:
		return nil, err
	case gen == project.Classic && locked:
		return []string{"yarn", "install", "--frozen-lockfile", "--non-interactive"}, nil
	case gen == project.Classic:
		return []string{"yarn", "install", "--no-lockfile", "--non-interactive"}, nil
	case gen == project.Berry && locked:
		return []string{"yarn", "install", "--immutable"}, nil
	case gen == project.Berry:
		// It runs no script without a lockfile, and so has to write one.
		return []string{"yarn", "install", "--no-immutable"}, nil
	}
	return []string{"yarn", "install"}, nil
}
