package node

import (
	"strings"

	"github.com/bentobuild/bento/adapters"
	"github.com/bentobuild/bento/adapters/node/project"
)

// dialect is what a package manager does in its own way.
type dialect struct {
	manager project.Manager
	id      string
	locks   []string // names of its lockfile; the first that is there counts
	// settings are files and directories beside the root's package.json that decide an
	// install with it: a directory stands for the files in it.
	settings []string
	traces   func(f *adapters.Files, dir string) (traces, error)
	// run gives the shell command of a script.
	run func(script string) string
	// install gives the command of an install in dir. With a lockfile there it changes
	// none.
	install func(f *adapters.Files, dir string, locked bool) ([]string, error)
	// add gives the command that adds packages, up to their names.
	add    func(p *project.Project, dev bool) []string
	eslint string // the command that runs eslint for its findings
	// fresh gives the files of a new project, with NAME for its name, that say whose
	// it is.
	fresh func(env adapters.Environ) []adapters.ScaffoldFile
	hint  adapters.Packages

	passEnv []string
	setEnv  map[string]string
	stayEnv map[string]string // set unless [toolchain] allow_download says otherwise
}

// traces are what an install leaves in its scope, by paths relative to it.
type traces struct {
	made []string // what is gone when the install is
	mark string   // of them, what the tool writes at its end; "" for none
	// plain tells that there is no node_modules to look after.
	plain bool
	// always tells that an install is needed even if nothing is to be fetched.
	always bool
}

func marked(path string) func(*adapters.Files, string) (traces, error) {
	return func(*adapters.Files, string) (traces, error) {
		return traces{made: []string{path}, mark: path}, nil
	}
}

// runBy gives the shell command that has a manager run a script; those in short need
// no "run".
func runBy(command string, short ...string) func(script string) string {
	return func(script string) string {
		for _, s := range short {
			if s == script {
				return command + " " + script
			}
		}
		if strings.HasPrefix(script, "-") {
			return command + " run -- " + quote(script)
		}
		return command + " run " + quote(script)
	}
}

// frozen gives a command that depends on whether there is a lockfile.
func frozen(with, without string) func(*adapters.Files, string, bool) ([]string, error) {
	return func(_ *adapters.Files, _ string, locked bool) ([]string, error) {
		if locked {
			return strings.Fields(with), nil
		}
		return strings.Fields(without), nil
	}
}
