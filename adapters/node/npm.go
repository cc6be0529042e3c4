package node

import (
	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/node/tools"
)

// npmDialect writes no lockfile where none exists, as an install adds nothing to the
// sources.
func npmDialect() dialect {
	return dialect{
		manager:  project.NPM,
		id:       "node-npm",
		locks:    []string{"npm-shrinkwrap.json", "package-lock.json"},
		settings: []string{".npmrc", "patches"},
		traces:   marked("node_modules/.package-lock.json"),
		run:      runBy("npm", "test"),
		install:  frozen("npm ci", "npm install --no-package-lock"),
		add: func(_ *project.Project, dev bool) []string {
			if dev {
				return []string{"npm", "install", "--save-dev"}
			}
			return []string{"npm", "install", "--save-prod"}
		},
		fresh: lockfiles("package-lock.json", `{
  "name": "NAME",
  "version": "0.1.0",
  "lockfileVersion": 3,
  "requires": true,
  "packages": {
    "": {
      "name": "NAME",
      "version": "0.1.0"
    }
  }
}
`),
		eslint: "npx --no-install eslint --format=json .",
		finder: &adapters.Finder{
			Programs:  []string{"npm", "npx", "npm-cli.js", "npx-cli.js"},
			Elsewhere: []string{"-w", "--workspace", "-ws", "--workspaces", "--include-workspace-root", "-iwr", "-C", "--prefix"},
		},
		hint:   tools.Node(),
		setEnv: npmEnv(),
	}
}

// npmEnv turns off npm's notices and questions.
func npmEnv() map[string]string {
	return map[string]string{
		"npm_config_audit":           "false",
		"npm_config_fund":            "false",
		"npm_config_loglevel":        "error",
		"npm_config_progress":        "false",
		"npm_config_update_notifier": "false",
	}
}
