package node

import (
	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
)

// pnpmDialect stops pnpm from switching to another version of itself, and from installing
// before it runs a script: two scripts could install at once. Up to version 10 it reads
// variables of npm.
func pnpmDialect() dialect {
	return dialect{
		manager:  project.PNPM,
		id:       "node-pnpm",
		locks:    []string{"pnpm-lock.yaml"},
		settings: []string{"pnpm-workspace.yaml", ".npmrc", ".pnpmfile.cjs", ".pnpmfile.mjs", "patches"},
		traces:   marked("node_modules/.modules.yaml"),
		run:      runBy("pnpm", "test"),
		install:  frozen("pnpm install --frozen-lockfile", "pnpm install --no-lockfile"),
		add: func(p *project.Project, dev bool) []string {
			argv := []string{"pnpm", "add"}
			if dev {
				argv = append(argv, "--save-dev")
			}
			if p.Aggregate() != nil {
				argv = append(argv, "--workspace-root")
			}
			return argv
		},
		fresh: lockfiles("pnpm-lock.yaml", `lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .: {}
`),
		eslint: "pnpm exec eslint --format=json .",
		finder: &adapters.Finder{
			Programs:  []string{"pnpm", "pnpx", "pnpm.cjs", "pnpm.mjs"},
			Elsewhere: []string{"-r", "--recursive", "recursive", "multi", "m", "-F", "--filter*", "-C", "--dir", "-w", "--workspace-root"},
		},
		hint:    adapters.Packages{Pacman: "pnpm", Apk: "pnpm", Brew: "pnpm", Else: `install it with "npm install -g pnpm"`},
		passEnv: []string{"pnpm_config_*", "PNPM_CONFIG_*", "PNPM_HOME"},
		setEnv: map[string]string{
			"npm_config_confirm_modules_purge":  "false",
			"npm_config_update_notifier":        "false",
			"npm_config_verify_deps_before_run": "false",
			"pnpm_config_confirm_modules_purge": "false",
			"pnpm_config_update_notifier":       "false",
		},
		stayEnv: map[string]string{
			"npm_config_manage_package_manager_versions":  "false",
			"pnpm_config_manage_package_manager_versions": "false",
			"pnpm_config_pm_on_fail":                      "ignore",
		},
	}
}
