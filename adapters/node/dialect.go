package node

import (
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
	"github.com/bentobuild/bento/adapters/snapshot"
)

// dialect describes how one package manager differs from the others.
type dialect struct {
	manager project.Manager
	id      string
	locks   []string // names of its lockfile; the first that exists is used
	// settings are files and directories beside the root's package.json that decide an
	// install: a directory stands for the files in it.
	settings []string
	traces   func(f *snapshot.Files, dir string) (traces, error)
	// run returns the shell command of a script.
	run func(script string) string
	// install returns the command of an install in dir. If locked, the command does not
	// change the lockfile.
	install func(f *snapshot.Files, dir string, locked bool) ([]string, error)
	// again returns the command of an install that replaces copies of packages, and runs the scripts of
	// the project, although nothing seems to have changed. It is nil where every install does.
	again func(argv []string) []string
	// add returns the command that adds packages, without their names.
	add    func(p *project.Project, dev bool) []string
	eslint string // the command that runs eslint for diagnostics
	// fresh returns the files that assign a new project to this manager. NAME stands for
	// its name.
	fresh func(env adapters.Environ) []adapters.ScaffoldFile
	hint  adapters.Packages
	// finder are the programs that read the manifests of all members.
	finder *adapters.Finder

	passEnv []string
	setEnv  map[string]string
	stayEnv map[string]string // set unless [toolchain] allow_download is true
}

// traces are the paths that an install leaves in its scope, relative to it.
type traces struct {
	made []string // if one is missing, the install is gone
	mark string   // of made, the one that the tool writes last, or ""
	// plain reports whether the install writes no node_modules.
	plain bool
	// always reports whether an install is needed even if it fetches no package.
	always bool
}

func marked(path string) func(*snapshot.Files, string) (traces, error) {
	return func(*snapshot.Files, string) (traces, error) {
		return traces{made: []string{path}, mark: path}, nil
	}
}

// runBy returns the shell command by which a manager runs a script; scripts in short need
// no "run".
func runBy(command string, short ...string) func(script string) string {
	return func(script string) string {
		for _, s := range short {
			if s == script {
				return command + " " + script
			}
		}
		if strings.HasPrefix(script, "-") {
			return command + " run -- " + adapters.Quote(script)
		}
		return command + " run " + adapters.Quote(script)
	}
}

// frozen returns a command that depends on whether a lockfile exists.
func frozen(with, without string) func(*snapshot.Files, string, bool) ([]string, error) {
	return func(_ *snapshot.Files, _ string, locked bool) ([]string, error) {
		if locked {
			return strings.Fields(with), nil
		}
		return strings.Fields(without), nil
	}
}
